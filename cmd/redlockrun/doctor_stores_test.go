package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/doctor"
	"redlockrun/internal/proof/redistest"
)

// A doctorTarget is a store that doctor looks at.
type doctorTarget struct {
	env     []string
	servers []*redistest.Server // that keep data
}

func newDoctorTarget(servers []*redistest.Server, urls ...string) doctorTarget {
	return doctorTarget{[]string{"REDLOCKRUN_REDIS=" + strings.Join(urls, " ")}, servers}
}

// examined returns doctor's findings, and its status.
func (c doctorTarget) examined(t *testing.T, args ...string) (found []doctor.Finding, status int) {
	t.Helper()
	cmd := exec.Command(binary(t), append([]string{"doctor", "--json"}, args...)...)
	cmd.Env = slices.Concat(os.Environ(), []string{config.FileVar + "=/dev/null"}, c.env)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) == 0 {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("%v: %+v", err, exit)
	}
	for line := range strings.Lines(string(out)) {
		var f doctor.Finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		found = append(found, f)
	}
	return found, status
}

// healthy are stores of each kind with nothing wrong.
var healthy = map[string]func(*testing.T) doctorTarget{
	"one server": func(t *testing.T) doctorTarget {
		s := redistest.Start(t, redistest.Options{Persist: true, Password: "pw"})
		return newDoctorTarget([]*redistest.Server{s}, s.URL())
	},
	"TLS": func(t *testing.T) doctorTarget {
		s := redistest.Start(t, lasting(t, redistest.Options{Persist: true, TLS: true, Mutual: true}))
		c := newDoctorTarget([]*redistest.Server{s}, s.URL())
		for name, value := range certificates(s) {
			c.env = append(c.env, name+"="+value)
		}
		return c
	},
	"Sentinel": func(t *testing.T) doctorTarget {
		s := redistest.StartSentinel(t, redistest.SentinelOptions{
			Data: redistest.Options{Persist: true, Password: "a"}, Replicas: 1, SentinelPassword: "b"})
		return newDoctorTarget(s.Data, s.URL())
	},
	"Cluster": func(t *testing.T) doctorTarget {
		c := redistest.StartCluster(t, redistest.ClusterOptions{Data: redistest.Options{Persist: true}, Replicas: 1})
		return newDoctorTarget(slices.Concat(c.Masters, c.Replicas), c.URL())
	},
	"quorum of 3": func(t *testing.T) doctorTarget { return healthyQuorum(t, 3) },
	"quorum of 5": func(t *testing.T) doctorTarget { return healthyQuorum(t, 5) },
}

// lasting is a server with a certificate that lasts for some time.
func lasting(t *testing.T, opts redistest.Options) redistest.Options {
	t.Helper()
	var err error
	if opts.CA, err = redistest.NewCA(t.TempDir()); err == nil {
		opts.Pair, err = opts.CA.Issue("server", time.Now().Add(90*24*time.Hour), "127.0.0.1")
	}
	if err != nil {
		t.Fatal(err)
	}
	return opts
}

func healthyQuorum(t *testing.T, n int) doctorTarget {
	m := redistest.StartMasters(t, n, redistest.Options{Persist: true})
	c := newDoctorTarget(m.Servers, m.URLs()...)
	c.env = append(c.env, "REDLOCKRUN_DURABLE=true") // else they do not vote in their first minute
	return c
}

func TestDoctorFindsAHealthyStoreOkAndLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, start := range healthy {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t)
			before := c.traces(t)
			var found []doctor.Finding
			until(t, "all is well", func() bool { // doctor reports a machine that is busy for a moment
				var status int
				found, status = c.examined(t)
				wrong := slices.DeleteFunc(slices.Clone(found), isHealthy)
				if len(wrong) > 0 || status != doctor.Status(found) {
					t.Logf("status %d: %+v", status, wrong)
				}
				return len(wrong) == 0 && status == doctor.Status(found)
			})
			if len(found) < 3 {
				t.Errorf("only %d findings", len(found))
			}
			until(t, "nothing is left", func() bool { return c.traces(t) == before })
		})
	}
}

// isHealthy reports whether nothing is wrong, except that this machine's clock is not
// synchronized.
func isHealthy(f doctor.Finding) bool {
	return f.Result == doctor.Ok || f.Check == "host-clock" && f.Message == "this host's clock is not synchronized"
}

// traces are the keys and channels of all servers.
func (c doctorTarget) traces(t *testing.T) string {
	t.Helper()
	var all []string
	for _, s := range c.servers {
		for _, question := range [][]any{{"INFO", "keyspace"}, {"KEYS", "*"}, {"PUBSUB", "CHANNELS"},
			{"PUBSUB", "NUMPAT"}} {
			reply, err := s.Do(question...)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprintf("%s: %v: %v", s.Addr(), question, reply))
		}
	}
	return strings.Join(all, "\n")
}

func TestClocksOfAQuorumThatDifferAreFound(t *testing.T) {
	t.Parallel()
	clock := redistest.NewClock(t)
	m := redistest.StartMasters(t, 2, redistest.Options{})
	fast := redistest.Start(t, redistest.Options{Clock: clock})
	if err := clock.Push(time.Hour); err != nil {
		t.Fatal(err)
	}
	c := newDoctorTarget(nil, append(m.URLs(), fast.URL())...)
	found, _ := c.examined(t)
	if !slices.ContainsFunc(found, func(f doctor.Finding) bool {
		return f.Check == "quorum" && f.Result == doctor.Warn &&
			strings.HasPrefix(f.Message, "the clock of "+fast.Addr()+" is ")
	}) {
		t.Errorf("%+v", found)
	}
}
