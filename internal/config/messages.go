package config

// Messages says how to write messages.
type Messages struct {
	Level string // the lowest level that is written: debug, info, warn or error
	JSON  bool   // else text
}

// Messages reads the settings of the messages. The result is usable even if there is an error, a
// *UsageError.
func (s *Sources) Messages() (Messages, error) {
	r := parser{sources: s}
	m := Messages{Level: r.level(), JSON: r.choice("log-format", KindLogFormat, "text") == "json"}
	return m, r.err
}

func (r *parser) level() string {
	const usual = "warn"
	g := r.effective("quiet", "verbose", "log-level")
	switch {
	case !g.isSet():
		return usual // they contradict each other
	case g.name == "quiet" && r.isSwitch(g):
		return "error"
	case g.name == "verbose":
		return r.verbosity(g)
	}
	return r.choice("log-level", KindLogLevel, usual)
}

// verbosity returns info for one -v and debug for more; a variable says 1 or 2.
func (r *parser) verbosity(g setValue) string {
	if len(g.values) > 1 || g.last() == "2" {
		return "debug"
	}
	r.isSwitch(g)
	return "info"
}
