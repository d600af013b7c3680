package doctor

import (
	"context"

	"redlockrun/internal/lock"
)

// checkReplicas checks WAIT, which only --replicas needs.
func checkReplicas(ctx context.Context, v *visit) []Finding {
	wanted := v.Servers.Replicas
	patience := v.Servers.ReplicasTimeout
	if patience <= 0 {
		patience = lock.DefaultReplicasTimeout
	}
	reply, err := v.ask(ctx, "WAIT", wanted, lock.Milliseconds(min(patience, v.Limit)))
	n, _ := reply.(int64)
	switch {
	case wanted == 0 && barred(err):
		return []Finding{v.is("replicas", Ok, "the server has no WAIT; only --replicas needs it")}
	case barred(err) && refusedBy(err).Code == lock.NOCOMMAND:
		return []Finding{v.is("replicas", Fail, "--replicas needs WAIT, which the server does not know").
			to("leave --replicas out, or connect to the server directly")}
	case barred(err):
		return []Finding{v.is("replicas", Fail, "--replicas needs WAIT, which user %s may not use", v.user()).
			to("%s", v.grant("+wait"))}
	case err != nil:
		return []Finding{v.is("replicas", Fail, "%s", v.Say(err)).to("check that the server is alive")}
	case n < int64(wanted):
		return []Finding{v.is("replicas", Fail, "%d of %d replicas answer in time", n, wanted).
			to("check the replicas: redis-cli INFO replication; or a longer --replicas-timeout")}
	case wanted > 0:
		return []Finding{v.is("replicas", Ok, "%d replicas answer, %d are needed", n, wanted)}
	}
	return []Finding{v.is("replicas", Ok, "the server has WAIT, which --replicas needs")}
}
