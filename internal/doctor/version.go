package doctor

import (
	"context"
	"fmt"

	"redlockrun/internal/lock"
)

// oldest is the first release of Redis that can keep our locks.
const oldest = 6

// A greeting is a server's own description, which every user may read.
type greeting struct{ server, version, mode, role string }

// checkVersion finds the kind of server. HELLO needs no right, but some proxies do not know it; 2
// is the protocol that the connection already speaks.
func checkVersion(ctx context.Context, v *visit) []Finding {
	reply, err := v.ask(ctx, "HELLO", "2")
	said := greetingOf(reply)
	if barred(err) { // before 6.0 it was not known
		said = v.greetingOfInfo(ctx)
	}
	switch {
	case err != nil && !barred(err):
		return []Finding{v.is("version", Fail, "%s", v.Say(err)).to("check that the server is Redis and answers")}
	case said.version == "":
		return []Finding{v.is("version", Unseen,
			"the server does not tell its version: it is a proxy, or older than Redis 6.0")}
	case said.tooOld():
		return []Finding{v.is("version", Fail, "%s is too old: redlockrun's scripts do not work there", said).
			to("use Redis 6.0 or later, or Valkey")}
	}
	return append([]Finding{v.is("version", Ok, "%s", said)}, v.checkRole(said)...)
}

func greetingOf(reply any) (g greeting) {
	list, _ := reply.([]any)
	for i := 0; i+1 < len(list); i += 2 {
		value := fmt.Sprint(list[i+1])
		switch list[i] {
		case "server":
			g.server = value
		case "version":
			g.version = value
		case "mode":
			g.mode = value
		case "role":
			g.role = value
		}
	}
	return g
}

// greetingOfInfo returns the description in INFO, of a server that knows no HELLO.
func (v *visit) greetingOfInfo(ctx context.Context) (g greeting) {
	if info, err := v.Info(ctx); err == nil {
		g = greeting{"redis", info["redis_version"], info["redis_mode"], info["role"]}
		if v := info["valkey_version"]; v != "" {
			g.server, g.version, g.mode = "valkey", v, info["server_mode"]
		}
	}
	return g
}

func (g greeting) tooOld() bool {
	major := 0
	fmt.Sscanf(g.version, "%d.", &major)
	return g.server != "valkey" && major < oldest
}

func (g greeting) String() string {
	name := g.server
	switch name {
	case "redis":
		name = "Redis"
	case "valkey":
		name = "Valkey"
	}
	return lock.Escaped(name + " " + g.version + ", " + g.mode)
}

// checkRole compares the server's role with the role that the URL expects.
func (v *visit) checkRole(g greeting) []Finding {
	replica := g.role == "replica" || g.role == "slave"
	switch {
	case v.Role == Sentinel && g.mode != "sentinel":
		return []Finding{v.is("role", Fail, "the URL calls it a sentinel, but it is not one").
			to("sentinels usually use port 26379; use redis:// for a server without sentinels")}
	case v.Role != Sentinel && g.mode == "sentinel":
		return []Finding{v.is("role", Fail, "it is a sentinel, which keeps no locks").
			to("use redis+sentinel://HOST:PORT/MASTER")}
	case v.Role == Keeper && g.mode == "cluster":
		return []Finding{v.is("role", Fail, "it is one node of a Cluster").
			to("use redis+cluster:// instead of redis://")}
	case v.Role == Keeper && replica:
		return []Finding{v.is("role", Fail, "it is a replica, which gives no locks").
			to("use the master's address, or redis+sentinel://, which also finds the master after a failover")}
	case v.Role == Node && replica:
		v.idle = true
		return []Finding{v.is("role", Ok, "a replica, which forwards to its master")}
	}
	return nil
}
