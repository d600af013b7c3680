//go:build linux

package nemesis

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/proof/locktest"
)

// seededFaults are wrong in ways that a nemesis is to find, each by what it says then.
var seededFaults = []struct {
	seededFault
	finding string // a regular expression
}{
	{seededFault{"take a busy lock", "internal/lock/line/acquire.lua",
		"if left == -2 then\n  local answer = take()", "if left ~= 0 then\n  local answer = take()"}, "two at once"},
	{seededFault{"release another's lock", "internal/lock/line/release.lua",
		"  if held and mine(held) then\n", "  if held ~= '' then\n"}, "two at once"},
	{seededFault{"let a guard ignore its deadline", "internal/guard/life_linux.go",
		"\tif next != 0 && now >= next {\n", "\tif next != 0 && now < 0 {\n"}, "two at once|lived"},
	{seededFault{"let a guard kill nobody", "internal/guard/kill_linux.go",
		"syscall.Kill(-group, syscall.SIGKILL) == nil; pause", "syscall.Kill(-group, 0) == nil; pause"}, "two at once"},
	{seededFault{"give a fence twice", "internal/lock/step/prelude.lua",
		"math.max(last + 1, clock)", "math.max(last, 1)"}, "is not that of a lock"},
	{seededFault{"start under a pause", "internal/lock/step/pauses.lua",
		"  if fault or wanted == '' then return nil", "  if fault or wanted ~= 'x' then return nil"},
		"is not that of a lock"},
	{seededFault{"run what is done", "internal/lock/ledger/slots.lua",
		"  if closed then return 6, value end\n", ""}, "is not that of a lock"},
}

// What a nemesis does not find it does not show either.
func TestANemesisFindsWhatIsWrong(t *testing.T) {
	length(t)
	seed := locktest.Seed(t)
	t.Logf("seed %d", seed)
	for _, fault := range seededFaults {
		t.Run(strings.ReplaceAll(fault.name, " ", "-"), func(t *testing.T) {
			program := build(t, fault.seededFault)
			began := time.Now()
			for round := range uint64(6) {
				n := newNemesis(t, newPlace(t, "OneServer"), program, seed+round)
				must(t, n.contend(20*time.Second))
				v := n.judge()
				if i := slices.IndexFunc(v.findings, regexp.MustCompile(fault.finding).MatchString); i >= 0 {
					t.Logf("found after %s: %.200s", time.Since(began).Round(time.Second), v.findings[i])
					return
				}
				t.Logf("round %d: %d runs, findings %.2000q", round, v.runs, v.findings)
			}
			t.Error("it was not found")
		})
	}
}
