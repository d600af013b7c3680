package doctor

import (
	"context"
	"os"
	"strings"
)

// A Host describes this machine.
type Host interface {
	// Exposed returns the files with a password of ours that every user may read.
	Exposed() []string

	// Guard starts a guard, and ends it; without the error it worked.
	Guard() error
}

// checkHost checks this machine.
func checkHost(_ context.Context, e *Examination, _ []*visit) []Finding {
	found := []Finding{checkHostClock(keepsTime())}
	if e.Host == nil {
		return found
	}
	return append(found, checkSecrets(e.Host.Exposed()), checkProc("/proc/self/exe", e.Host.Guard))
}

func checkSecrets(exposed []string) Finding {
	if len(exposed) == 0 {
		return about("files", Ok, "no password file is readable by all users")
	}
	return about("files", Warn, "every user on this host can read the password in %s", strings.Join(exposed, ", ")).
		to("chmod 640 %s, with the group of the jobs", strings.Join(exposed, " "))
}

func checkProc(self string, guard func() error) Finding {
	if _, err := os.Stat(self); err != nil {
		return about("guard", Fail, "/proc is missing: the guard cannot start, and no job runs (71)").
			to("mount it: mount -t proc proc /proc")
	}
	if err := guard(); err != nil {
		return about("guard", Fail, "cannot start the guard: %v", err).
			to("check the limits of processes, files and memory (ulimit -a), and that /dev/null is there")
	}
	return about("guard", Ok, "the guard can start")
}

// checkHostClock checks whether anything keeps this host's clock; known is false if the kernel
// does not say.
func checkHostClock(kept, known bool) Finding {
	switch {
	case !known:
		return about("host-clock", Unseen, "the kernel does not say whether this host's clock is synchronized")
	case !kept:
		return about("host-clock", Warn, "this host's clock is not synchronized").
			to("start chrony or systemd-timesyncd (in a container: on its host): --once-per uses this clock")
	}
	return about("host-clock", Ok, "this host's clock is synchronized")
}
