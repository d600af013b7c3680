package inspect

import (
	"fmt"
	"reflect"
	"testing"

	"redlockrun/internal/proof/locktest"
)

// aJob is a job as the step about jobs answers it: each part, and each code that it can have.
const aJob = "*9\r\n*3\r\n:1\r\n:55000\r\n$8\r\nsomebody\r\n" + aPart +
	"*3\r\n:0\r\n:0\r\n$8\r\nGETRANGE\r\n" + "*4\r\n:1\r\n:2\r\n$1\r\na\r\n$1\r\nb\r\n" +
	"*2\r\n:-1\r\n:0\r\n" + "*4\r\n:1\r\n:1\r\n$1\r\ns\r\n$6\r\nopen 1\r\n" + aPart + aPart + aPart

const aPart = "*3\r\n:1\r\n:0\r\n$1\r\n7\r\n"

func FuzzAReplyOfTheStepAboutJobs(f *testing.F) {
	recorded := []string{
		"*3\r\n:1\r\n:1795344187661\r\n*2\r\n" + aJob + aJob,
		"*3\r\n:1\r\n:0\r\n*0\r\n",
		"*3\r\n:-1\r\n$5\r\nHMGET\r\n$6\r\nNOPERM\r\n",
	}
	for _, wire := range recorded {
		if _, err := jobsStep.Read(locktest.Reply(wire)); err != nil {
			f.Fatalf("%q: %v", wire, err)
		}
		f.Add(wire)
	}
	for _, wire := range []string{
		"", "*1\r\n:1\r\n", "*3\r\n:-1\r\n$0\r\n\r\n$1\r\nx\r\n", "*3\r\n:1\r\n:1\r\n*1\r\n*7\r\n",
		"*3\r\n:1\r\n:1\r\n*1\r\n:1\r\n",
		"*4\r\n:1\r\n:1\r\n*0\r\n:1\r\n", "*2\r\n:1\r\n$1\r\n0\r\n",
	} {
		if reply, err := jobsStep.Read(locktest.Reply(wire)); err == nil {
			f.Fatalf("%q is read as %+v", wire, reply)
		}
		f.Add(wire)
	}
	f.Fuzz(func(t *testing.T, wire string) {
		reply, err := jobsStep.Read(locktest.Reply(wire))
		if err != nil {
			return
		}
		again, err := jobsStep.Read(jobsParts(reply))
		if err != nil || !reflect.DeepEqual(again, reply) {
			t.Errorf("%q is read as %+v, and that as %+v, %v", wire, reply, again, err)
		}
		for _, said := range reply.jobs {
			if job := said.job("job", reply.now, map[string]string{}); job.Waiting < 0 || len(job.Unread) > 100 {
				t.Errorf("%+v", job)
			}
		}
		_ = fmt.Sprint(refusal(reply))
	})
}

// jobsParts are the parts of a reply that says the same.
func jobsParts(j jobsReply) []any {
	if j.command != "" {
		return []any{int64(-1), j.command, j.why}
	}
	jobs := []any{}
	for _, said := range j.jobs {
		var parts []any
		for _, p := range []part{said.lock, said.fence, said.pause, said.line, said.who, said.slots, said.ledger,
			said.runs, said.resumed} {
			list := []any{p.code, p.number}
			for _, text := range p.texts {
				list = append(list, text)
			}
			parts = append(parts, list)
		}
		jobs = append(jobs, parts)
	}
	return []any{int64(1), j.now, jobs}
}

func FuzzAReplyOfTheStepsAboutNamesAndRuns(f *testing.F) {
	for _, wire := range []string{
		"*1\r\n:-1\r\n", "*3\r\n:1\r\n$1\r\n0\r\n$1\r\na\r\n", "*2\r\n:1\r\n$1\r\na\r\n", "*1\r\n:1\r\n",
		"*2\r\n:1\r\n:1\r\n",
	} {
		f.Add(wire)
	}
	f.Fuzz(func(t *testing.T, wire string) {
		if names, err := namesStep.Read(locktest.Reply(wire)); err == nil && !names.wrong &&
			len(names.texts) != len(locktest.Reply(wire))-2 {
			t.Errorf("%q is read as %+v", wire, names)
		}
		if runs, err := runsStep.Read(locktest.Reply(wire)); err == nil && !runs.wrong &&
			len(runs.entries) != len(locktest.Reply(wire))-1 {
			t.Errorf("%q is read as %+v", wire, runs)
		}
	})
}
