package quorum

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/ability"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/locktest"
	"redlockrun/internal/redistest"
)

// A mutant is a fault sown into the quorum, and the test that must find it. In
// Go the fault stands behind a condition, so that one binary has them all; in a
// script it is put in its place when the binary starts.
type mutant struct {
	name     string
	file     string
	old, new string
	script   string // of a fault in a script: the variable that holds it
	test     string
}

var mutants = []mutant{
	{
		name: "drop the ownership check of the fence", file: "raise.lua", script: "raiseLua",
		old: "if whose ~= 'same' then return {0} end", new: "",
		test: "TestQ9FenceIsRaisedForItsTermAlone",
	}, {
		name: "count the lease from after the reply", file: "lease.go",
		old:  "l.until = l.election.req.Times.End(sent)",
		new:  "if MUTANT { sent = l.election.req.Clock.Now() }; l.until = l.election.req.Times.End(sent)",
		test: "TestV1LeaseCountsFromBeforeTheRound",
	}, {
		name: "SET in the renewal", file: "renew.lua", script: "renewLua",
		old:  "redis.call('PEXPIRE', KEYS[1], ARGV[4])",
		new:  "redis.call('SET', KEYS[1], held, 'PX', ARGV[4])",
		test: "TestL13RenewalWorksOutOfMemory",
	}, {
		name: "DEL without comparing", file: "release.lua", script: "releaseLua",
		old: "if whose == 'same' or whose == 'older' then", new: "if held ~= '' then",
		test: "TestForeignKeysAreLeftAlone",
	}, {
		name: "heal without a majority", file: "lease.go",
		old: "\tanswers <- a\n", new: "\tanswers <- a\n\tif MUTANT && a.standing == nobodys { l.heal(ctx, at, r.term) }\n",
		test: "TestQ4NothingIsHealedWithoutAMajority",
	}, {
		name: "count a healing that comes too late", file: "lease.go",
		old: "if l.election.req.Clock.Now().Before(l.until) {", new: "if l.election.req.Clock.Now().Before(l.until) || MUTANT {",
		test: "TestQ4HealingAfterTheLeaseDoesNotCount",
	}, {
		name: "renew what an older term has", file: "renew.lua", script: "renewLua",
		old: "if whose == 'same' then", new: "if whose == 'same' or whose == 'older' or whose == 'newer' then",
		test: "TestQ4RenewalComparesTheWholeTerm",
	}, {
		name: "let a restarted server vote", file: "grant.lua", script: "grantLua",
		old: "if up < wanted then return {5, wanted - up} end", new: "",
		test: "TestL10RestartedServersGiveNoSecondLock",
	}, {
		name: "undo the round after", file: "release.lua", script: "releaseLua",
		old: "whose == 'older' then", new: "whose == 'older' or whose == 'newer' then",
		test: "TestQ3LateUndoLeavesALaterRoundAlone",
	}, {
		name: "believe one master that a run has vanished", file: "doubt.go",
		old:  "if masters[run]++; masters[run] == majority(len(votes)) {",
		new:  "if masters[run]++; masters[run] == majority(len(votes)) || MUTANT && masters[run] == 1 {",
		test: "TestWhatALostRoundLeavesHasNotVanished",
	}, {
		name: "believe one master that a try has failed", file: "doubt.go",
		old:  "if doubtful[t.Run]++; doubtful[t.Run] == majority(len(said)) {",
		new:  "if doubtful[t.Run]++; doubtful[t.Run] == majority(len(said)) || MUTANT && doubtful[t.Run] == 1 {",
		test: "TestWhatALostRoundLeavesIsNoTry",
	}, {
		name: "forget whom a lost round had replaced", file: "doubt.lua", script: "doubtLua",
		old: "open = (first and not leased or others[1] == open) and table.remove(others, 1) or ''", new: "open = ''",
		test: "TestTheUndoOfALostRoundLeavesNoTrace",
	}, {
		name: "forget the try that a run replaces", file: "doubt.lua", script: "doubtLua",
		old: "failed = and_failed(failed, tried(begun, '-', '-'))", new: "",
		test: "TestARunThatVanishesHasFailedInItsSlot",
	}, {
		name: "give a paused lock", file: "grant.lua", script: "grantLua",
		old: "if pause then whose, held = 'another', pause end", new: "",
		test: "TestWhoIgnoresPausesOfAQuorum",
	}, {
		name: "heal a master without the mark of a stop", file: "heal.lua", script: "healLua",
		old: "whose == 'older' and stop_of(held) or ''", new: "''",
		test: "TestAnyMastersMarkStopsARun",
	}, {
		name: "stop whichever run a master has", file: "stop.lua", script: "stopLua",
		old: "if run ~= ARGV[5] then return said(-10) end", new: "",
		test: "TestAStopReachesItsRunOfAQuorumAlone",
	},
}

// chosen names the mutant that this process is.
const chosen = "REDLOCKRUN_MUTANT"

// TestMutationGate builds this package with all faults in it, and runs for each
// the test that must fail.
func TestMutationGate(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	binary := buildMutants(t)
	run := func(test, name string) (string, error) {
		cmd := exec.Command(binary, "-test.run", "^"+test+"$")
		cmd.Env = append(os.Environ(), chosen+"="+name, "GORACE=atexit_sleep_ms=0") // else each takes a second to end
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if out, err := run(m.test, "none"); err != nil || !strings.Contains(out, "PASS") || strings.Contains(out, "no tests to run") {
				t.Fatalf("without the fault: %v\n%s", err, out)
			}
			if out, err := run(m.test, m.name); err == nil || !strings.Contains(out, "--- FAIL: "+m.test) {
				t.Errorf("%s does not find it: %v\n%s", m.test, err, out)
			}
		})
	}
}

func buildMutants(t *testing.T) (binary string) {
	t.Helper()
	dir, err := os.Getwd()
	locktest.Must(t, err)
	tmp := t.TempDir()
	sources := make(map[string]string)
	var script strings.Builder
	for _, m := range mutants {
		text, known := sources[m.file]
		if !known {
			b, err := os.ReadFile(m.file)
			locktest.Must(t, err)
			text = string(b)
		}
		if strings.Count(text, m.old) != 1 {
			t.Fatalf("%s: %q is %d times in %s", m.name, m.old, strings.Count(text, m.old), m.file)
		}
		if m.script != "" {
			sources[m.file] = text
			changed := "strings.Replace(" + m.script + ", " + quote(m.old) + ", " + quote(m.new) + ", 1)"
			script.WriteString("if isMutant(" + quote(m.name) + ") { " + m.script + " = " + changed + " }\n")
			continue
		}
		sources[m.file] = strings.Replace(text, m.old, strings.ReplaceAll(m.new, "MUTANT", "isMutant("+quote(m.name)+")"), 1)
	}
	sources["mutant.go"] = "package quorum\nimport (\"os\"; \"strings\")\n" +
		"func isMutant(name string) bool { return os.Getenv(" + quote(chosen) + ") == name }\n" +
		"func init() {\n" + script.String() + "}\n"
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	for name, text := range sources {
		overlay.Replace[filepath.Join(dir, name)] = filepath.Join(tmp, name)
		locktest.Must(t, os.WriteFile(filepath.Join(tmp, name), []byte(text), 0o600))
	}
	list, err := json.Marshal(overlay)
	locktest.Must(t, err)
	locktest.Must(t, os.WriteFile(filepath.Join(tmp, "overlay.json"), list, 0o600))
	binary = filepath.Join(tmp, "mutants.test")
	args := append([]string{"test", "-c", "-vet=off", "-overlay", filepath.Join(tmp, "overlay.json"), "-o", binary}, raceFlag()...)
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		t.Fatalf("build mutants: %v\n%s", err, out)
	}
	return binary
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// raceFlag builds as this test was built: what is in the build cache is used.
func raceFlag() []string {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			return []string{"-race"}
		}
	}
	return nil
}

// oneMaster is a master of a quorum over a real server, and its server.
func oneMaster(t *testing.T, req lock.Request) (*redisMaster, *redistest.Server) {
	t.Helper()
	srv := redistest.Start(t, redistest.Options{})
	cfg := lock.Servers{Prefix: lock.DefaultPrefix, Durable: true}
	src, err := link.NewSource(cfg, srv.URL())
	locktest.Must(t, err)
	m := newRedisMaster(context.Background(), src, cfg, 0, req)
	m.steps = stepsOf(t)
	t.Cleanup(m.close)
	return m, srv
}

func mustGrant(t *testing.T, m *redisMaster, b term) vote {
	t.Helper()
	v, err := m.grant(locktest.Limited(t, locktest.Patience), b, time.Now().UnixMilli())
	locktest.Must(t, err)
	if v.verdict != granted {
		t.Fatalf("term %s is answered %+v", b, v)
	}
	return v
}

func TestQ9FenceIsRaisedForItsTermAlone(t *testing.T) {
	t.Parallel()
	m, srv := oneMaster(t, locktest.RequestFor("job"))
	fence := mustGrant(t, m, term{round: 2}).fence
	for _, b := range []term{{round: 1}, {round: 3}, {round: 2, heal: 1}} {
		if done, err := m.raise(locktest.Limited(t, locktest.Patience), b, fence+100); done || err != nil {
			t.Errorf("raised for term %s, %v", b, err)
		}
	}
	if done, err := m.raise(locktest.Limited(t, locktest.Patience), term{round: 2}, fence+5); !done || err != nil {
		t.Errorf("not raised, %v", err)
	}
	locktest.Do(t, srv, "SET", "redlockrun:{job}", "other")
	if done, err := m.raise(locktest.Limited(t, locktest.Patience), term{round: 2}, fence+100); done || err != nil {
		t.Errorf("raised for a lock that is another's, %v", err)
	}
	locktest.Do(t, srv, "DEL", "redlockrun:{job}")
	if done, err := m.raise(locktest.Limited(t, locktest.Patience), term{round: 2}, fence+100); done || err != nil {
		t.Errorf("raised for a lock that has lapsed, %v", err)
	}
	if next := mustGrant(t, m, term{round: 3}).fence; next < fence+6 || next > fence+99 && next < time2000 {
		t.Errorf("the next fence is %d", next)
	}
}

// time2000 is less than any reading of a clock in ms that a fence is made of.
const time2000 = 946684800_000

func TestQ4RenewalComparesTheWholeTerm(t *testing.T) {
	t.Parallel()
	m, _ := oneMaster(t, locktest.RequestFor("job"))
	mustGrant(t, m, term{round: 2})
	for _, test := range []struct {
		b    term
		want standing
	}{{term{round: 2}, ours}, {term{round: 1}, nobodys}, {term{round: 2, heal: 1}, nobodys}, {term{round: 3}, nobodys}} {
		if got, _, err := m.renew(locktest.Limited(t, locktest.Patience), test.b); got != test.want || err != nil {
			t.Errorf("term %s: %d, %v, want %d", test.b, got, err, test.want)
		}
	}
}

func TestQ3LateUndoLeavesALaterRoundAlone(t *testing.T) {
	t.Parallel()
	m, _ := oneMaster(t, locktest.RequestFor("job"))
	mustGrant(t, m, term{round: 2})
	if s, err := m.release(locktest.Limited(t, locktest.Patience), term{round: 1}.last(), parting{}); s == ours || err != nil {
		t.Errorf("round 1 released what round 2 has: %v", err)
	}
	if s, _, err := m.renew(locktest.Limited(t, locktest.Patience), term{round: 2}); s != ours || err != nil {
		t.Errorf("round 2: %d, %v", s, err)
	}
	locktest.Must(t, m.giveUp(locktest.Limited(t, locktest.Patience), term{round: 2}.last(), parting{}))
	if v, err := m.grant(locktest.Limited(t, locktest.Patience), term{round: 2}, time.Now().UnixMilli()); v.verdict != revoked || err != nil {
		t.Errorf("a round that was given up is answered %+v, %v", v, err)
	}
	mustGrant(t, m, term{round: 3})
}

func TestQ4OrderThatArrivesLateIsOlder(t *testing.T) {
	t.Parallel()
	m, _ := oneMaster(t, locktest.RequestFor("job"))
	mustGrant(t, m, term{round: 1})
	for _, test := range []struct {
		b    term
		want standing
	}{{term{round: 1, heal: 2}, ours}, {term{round: 1, heal: 1}, nobodys}} {
		if got, err := m.heal(locktest.Limited(t, locktest.Patience), test.b, 1, 0); got != test.want || err != nil {
			t.Errorf("term %s: %d, %v, want %d", test.b, got, err, test.want)
		}
	}
	if v, err := m.grant(locktest.Limited(t, locktest.Patience), term{round: 1}, time.Now().UnixMilli()); v.verdict != revoked || err != nil {
		t.Errorf("the round that was healed since is answered %+v, %v", v, err)
	}
}
