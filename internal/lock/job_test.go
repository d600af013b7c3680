package lock

import "testing"

func TestARunInTheLedgerWithoutItsLockHasVanished(t *testing.T) {
	held := Job{State: StateRunning, Holder: Holder{Run: "b"}, Open: Entry{Run: "b"}}
	for _, c := range []struct {
		job  Job
		want bool
	}{
		{held, false},
		{Job{State: StateVanished, Open: Entry{Run: "a"}}, true},
		{Job{State: StateStarting, Holder: Holder{Run: "b"}, Open: Entry{Run: "a"}}, true},
		{Job{State: StatePaused, Open: Entry{Run: "a"}}, true},
		{Job{Open: Entry{Run: "a"}}, false}, // unknown
		{Job{State: StateIdle}, false},
	} {
		if got := c.job.Vanished(); got != c.want {
			t.Errorf("%v of %+v", got, c.job)
		}
	}
}
