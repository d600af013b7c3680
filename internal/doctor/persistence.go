package doctor

import "context"

// checkPersistence reports what a restart loses.
func checkPersistence(ctx context.Context, v *visit) []Finding {
	info, err := v.Info(ctx)
	if err != nil {
		return v.hidden("persistence", "what a restart loses", err)
	}
	const remedy = "CONFIG SET appendonly yes, CONFIG SET appendfsync always, and the same in its redis.conf"
	switch info["aof_enabled"] {
	case "1":
		f := v.checkSync(v.setting(ctx, "appendfsync"))
		if f.Result != Ok {
			f = f.to(remedy)
		}
		return []Finding{f}
	case "":
		return []Finding{v.is("persistence", Unseen, "the server does not say what a restart loses")}
	}
	if v.Servers.Durable && len(v.Servers.URLs) > 1 {
		return []Finding{v.is("persistence", Fail,
			"appendonly no%s: after a restart it votes without its old locks, "+
				"so two can run", v.durably()).to("%s; or leave out --durable", remedy)}
	}
	if v.setting(ctx, "save") == "" {
		return []Finding{v.is("persistence", Warn,
			"appendonly no: a restart loses held locks, finished ticks and the history").to(
			remedy)}
	}
	return []Finding{v.is("persistence", Warn,
		"appendonly no: a restart loses all changes since the last snapshot, "+
			"such as held locks and finished ticks").to(remedy)}
}

// checkSync reports when the log of writes reaches the disk.
func (v *visit) checkSync(appendfsync string) Finding {
	switch {
	case appendfsync == "always":
		return v.is("persistence", Ok, "appendonly yes, appendfsync always: a restart loses nothing")
	case appendfsync == "no", appendfsync == "everysec" && v.Servers.Durable:
		return v.is("persistence", Warn, "appendfsync %s: a power failure loses the last writes%s", appendfsync,
			v.durably())
	case appendfsync == "everysec":
		return v.is("persistence", Ok, "appendonly yes, appendfsync everysec: "+
			"a power failure may lose one second, any other restart nothing")
	}
	return v.is("persistence", Ok, "appendonly yes; user %s cannot read appendfsync: "+
		"with always a restart loses nothing", v.user())
}

func (v *visit) durably() string {
	if v.Servers.Durable {
		return ", but --durable promises that nothing is lost"
	}
	return ""
}
