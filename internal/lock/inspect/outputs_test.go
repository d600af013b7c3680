package inspect_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/inspect"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// output is the output of a failed run.
func output(run, tail string) lock.Output {
	return lock.Output{
		Run: run, Host: "web-3", Ended: time.UnixMilli(1763790000003), End: lock.EndFailed, Status: 3, Attempt: 1,
		Total: int64(len(tail)), Tail: []byte(tail),
	}
}

// printed writes outputs of a job, the newest first.
func printed(t *testing.T, srv *redistest.Server, name string, entries ...string) {
	t.Helper()
	for _, entry := range entries {
		do(t, srv, "RPUSH", keys(name).Output, entry)
	}
}

// outputs reads the outputs of one job.
func outputs(t *testing.T, s *inspect.Server, most int, name string) lock.JobOutputs {
	t.Helper()
	all, err := s.Outputs(t.Context(), []string{name}, most)
	locktest.Must(t, err)
	if len(all) != 1 || all[0].Name != name {
		t.Fatalf("%+v", all)
	}
	return all[0]
}

func TestAnOutputIsReadToTheByte(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	var every []byte
	for i := range 256 {
		every = append(every, byte(i))
	}
	all := output(runA, string(bytes.Repeat(every, lock.MaxOutput/256)))
	all.Total = 10 << 20
	none := output(runB, "")
	printed(t, srv, "job", wire.OutputText(all), wire.OutputText(none))
	got := outputs(t, s, lock.MaxOutput, "job")
	if want := []lock.Output{all, none}; !reflect.DeepEqual(got.Outputs, want) || got.Unread != nil {
		t.Errorf("%.200q", fmt.Sprint(got))
	}
	if got := outputs(t, s, 4, "job"); string(got.Outputs[0].Tail) != "\xfc\xfd\xfe\xff" ||
		got.Outputs[0].Total != 10<<20 {
		t.Errorf("%+v", got)
	}
	if got := outputs(t, s, 4, "other"); got.Outputs != nil || got.Unread != nil {
		t.Errorf("%+v", got)
	}
}

func TestForgedOutputsHideNoOther(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	large := wire.OutputText(output(runC, strings.Repeat("x", lock.MaxOutput)))
	printed(t, srv, "job", "garbage", strings.Repeat("x", 10<<20), large+strings.Repeat("x", 1<<10),
		wire.OutputText(output(runA, "newer\n")),
		wire.OutputText(output(runA, "older\n")), wire.OutputText(output(runB, "b")))
	for range 20 {
		printed(t, srv, "job", "too many")
	}
	got := outputs(t, s, 3, "job")
	if len(got.Outputs) != 2 || string(got.Outputs[0].Tail) != "er\n" || string(got.Outputs[1].Tail) != "b" {
		t.Errorf("%+v", got.Outputs)
	}
	if fmt.Sprint(got.Unread) != "[the output: redlockrun did not write 7 of the entries]" {
		t.Errorf("%q", got.Unread)
	}
	do(t, srv, "DEL", keys("job").Output)
	do(t, srv, "SET", keys("job").Output, "x")
	if got = outputs(t, s, 3, "job"); fmt.Sprint(got.Unread) != "[the output: the key is of another type]" ||
		got.Outputs != nil {
		t.Errorf("%+v", got)
	}
}

func TestWithoutTheRightToReadOutputsThatIsSaid(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	printed(t, srv, "job", wire.OutputText(output(runA, "a")))
	s := permitted(t, srv, strings.Fields(lock.ReaderACL)...)
	if got := outputs(t, s, 3, "job"); len(got.Outputs) != 1 || got.Unread != nil {
		t.Errorf("%+v", got)
	}
	s = permitted(t, srv, strings.Fields(strings.ReplaceAll(lock.ReaderACL, "+lrange", ""))...)
	all, err := s.Outputs(t.Context(), []string{"a", "b", "job"}, 3)
	locktest.Must(t, err)
	for _, got := range all {
		if fmt.Sprint(got.Unread) != "[the output: the user may not use LRANGE]" || got.Outputs != nil {
			t.Errorf("%+v", got)
		}
	}
	if n := refusals(t, srv); n != 1 {
		t.Errorf("%d refusals are logged", n)
	}
}

func TestTheOutputsOfAClusterAreReadFromAllItsNodes(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	names := fillCluster(t, c, 30)
	for _, name := range names {
		printed(t, c.Masters[c.Owner(keys(name).Output)], name, wire.OutputText(output(runA, name)))
	}
	s := inspecting(t, c.URL())
	all, err := s.Outputs(t.Context(), names, 100)
	locktest.Must(t, err)
	for i, name := range names {
		if all[i].Name != name || all[i].Unread != nil || len(all[i].Outputs) != 1 ||
			string(all[i].Outputs[0].Tail) != name {
			t.Errorf("%+v", all[i])
		}
	}
	outputs(t, s, 100, names[7])
	var silent []string
	s.Timeout, s.OnSilent = time.Second, func(e *lock.UnavailableError) { silent = append(silent, e.Error()) }
	c.Masters[2].Kill()
	all, err = s.Outputs(t.Context(), names, 100)
	locktest.Must(t, err)
	for i, name := range names {
		down := c.Owner(keys(name).Output) == 2
		if all[i].Name != name || down != (all[i].Outputs == nil) || down != (len(all[i].Unread) > 0) {
			t.Errorf("%+v", all[i])
		}
	}
	if len(silent) != 1 || !strings.Contains(silent[0], c.Masters[2].Addr()) {
		t.Errorf("silent: %q", silent)
	}
}
