package operator

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/doctor"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/runner"
	"redlockrun/internal/store"

	"github.com/spf13/cobra"
)

var doctorTexts = Texts{
	Does:  "finds problems between this host and Redis before they hurt",
	More:  ".",
	Calls: "  redlockrun doctor [flags]",
	Notes: `Each line begins with the result of a check: ok, warn, FAIL, or ? if the user lacks the rights for
the check, which is no fault. The line below a problem says what to do. The last line
counts the results, and says what to do next.`,
	Examples: `  redlockrun doctor
  redlockrun doctor --redis file:/run/redis --json | jq -r 'select(.result == "fail").message'`,
	Status: `0 no problem, 1 warnings, 2 failures, also if a server does not answer;
64 usage.`,
}

func defineDoctor(c *Command, o *Operation) {
	c.Texts = doctorTexts
	var json bool
	c.toggle(&json, "json", "print JSON, one object per line")
	c.RunE = func(_ *cobra.Command, operands []string) error {
		switch {
		case len(operands) > 0:
			return config.Usagef("doctor checks the store and takes no NAME").Hint("redlockrun doctor")
		case o.Config.Address.Local:
			return config.Usagef("doctor does not work with --local: it checks Redis").
				Hint("redlockrun status shows who has the lock")
		}
		// Two servers, or one of them twice, are refused here as a run refuses them.
		if _, err := o.inspector(); err != nil {
			return err
		}
		found, err := interrupt.Run(o.Signals, o.examine)
		if err != nil {
			return err
		}
		o.exitStatus = doctor.Status(found)
		lines := findings(found, json, o.display())
		if !json {
			lines = append(lines, "", summaryLine(found, o.display()))
		}
		return o.print(lines...)
	}
}

// examine finds the servers, and checks them.
func (o *Operation) examine(ctx context.Context) ([]doctor.Finding, error) {
	e, err := doctor.Open(ctx, o.Config.Servers, o.Config.UsualTimes(), o.Config.Timeout)
	if err != nil {
		return nil, err
	}
	if e.Store, err = store.Open(o.Config.Servers); err != nil {
		return nil, err
	}
	e.Host = thisHost{o}
	found := e.Examine(ctx)
	return found, ctx.Err()
}

// thisHost answers doctor's questions about this machine.
type thisHost struct{ *Operation }

// Exposed implements doctor.Host.
func (h thisHost) Exposed() []string { return h.Config.WorldReadable() }

// Guard implements doctor.Host.
func (h thisHost) Guard() error {
	guard := runner.StartGuard()
	defer guard.Close()
	return guard.Started()
}

// findings formats the findings for the output.
func findings(found []doctor.Finding, json bool, d console.Display) (lines []string) {
	for _, f := range found {
		if json {
			lines = append(lines, string(console.Object(f)))
			continue
		}
		lines = append(lines, findingLines(f, d)...)
	}
	return lines
}

// resultWord returns the word for a result, in four columns, and its style.
func resultWord(r doctor.Result) (string, console.Style) {
	switch r {
	case doctor.Ok:
		return "ok  ", console.StyleGood
	case doctor.Warn:
		return "warn", console.StyleWarning
	case doctor.Fail:
		return "FAIL", console.StyleBad
	}
	return "?   ", console.StyleFaint
}

// summaryLine counts the results, and says what to do next.
func summaryLine(found []doctor.Finding, d console.Display) string {
	counts := map[doctor.Result]int{}
	for _, f := range found {
		counts[f.Result]++
	}
	text := fmt.Sprintf("%d ok, %s, %s", counts[doctor.Ok], counted(counts[doctor.Warn], "warning"),
		counted(counts[doctor.Fail], "failure"))
	if n := counts[doctor.Unseen]; n > 0 {
		text += fmt.Sprintf(", %d not checked", n)
	}
	switch doctor.Status(found) {
	case 0:
		return d.Paint(text+": nothing to do", console.StyleGood)
	case 1:
		return d.Paint(text+": jobs run; follow up each warning when you can", console.StyleWarning)
	}
	return d.Paint(text+": fix each FAIL, then run redlockrun doctor again", console.StyleBad)
}

// counted returns 1 warning, 2 warnings.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// findingIndent is the indentation of a finding's text: behind the result and the check.
const findingIndent = 4 + 2 + 12 + 2

// findingLines returns the line of a finding, and the remedy below.
func findingLines(f doctor.Finding, d console.Display) (lines []string) {
	word, tone := resultWord(f.Result)
	text := f.Message
	if f.Server != "" {
		text = f.Server + ": " + text
	}
	begin := d.Paint(word, tone) + "  " + f.Check + strings.Repeat(" ", max(0, 12-len(f.Check))) + "  "
	for _, part := range console.Fold(text, roomOf(d)) {
		lines = append(lines, begin+part)
		begin = strings.Repeat(" ", findingIndent)
	}
	for _, part := range console.Fold(f.Remedy, roomOf(d)) {
		lines = append(lines, begin+part)
	}
	return lines
}

// roomOf returns the width for a finding's text; 0 is no limit.
func roomOf(d console.Display) int {
	if d.Width <= findingIndent {
		return d.Width
	}
	return d.Width - findingIndent
}
