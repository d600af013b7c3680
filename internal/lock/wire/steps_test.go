package wire

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// The steps are texts of their own. What they call a number is what it is here.
func TestTheStepsHaveTheSameNumbers(t *testing.T) {
	t.Parallel()
	ms := time.Duration.Milliseconds
	for _, c := range []struct {
		files  string
		number string // a pattern; each place that it matches has the number
		want   int64
		places int // at least
	}{
		{"line/line.lua", `local unconfirmed = (\d+)`, ms(Unconfirmed), 1},
		{"line/line.lua", `local untold = (\d+)`, ms(Untold), 1},
		{"line/line.lua", `local fence_life = (\d+)`, ms(Remembered), 1},
		{"quorum/term.lua", `local function setCounter.*'PX', (\d+)\)`, ms(Remembered), 1},
		{"ledger/ledger.lua", `local ledger_life = (\d+)`, ms(Remembered), 1},
		{"ledger/own_slot.lua", `local slots_life, most_slots = (\d+), \d+`, ms(SlotsRemembered), 1},
		{"ledger/own_slot.lua", `local slots_life, most_slots = \d+, (\d+)`, MostSlots, 1},
		{"ledger/opening.lua", `#open >= (\d+)`, maxEntry, 1},
		{"*/*.lua", `local protocol = (\d+)`, Protocol, 2},
		{"*/*.lua", `'PEXPIRE', gone, (\d+)`, ms(Tombstone), 9},
		{"quorum/*.lua", `'PEXPIRE', KEYS\[3\], (\d+)`, ms(Tombstone), 4},
		{"*/*.lua", `'XX', 'PX', (\d+)`, ms(Tombstone), 2},
		{"inspect/runs.lua", `string.sub\(entry, 1, (\d+)\)`, maxEntry + 1, 1},
		{"inspect/jobs.lua", `local entry, ledger_field, slot = (\d+), \d+, \d+`, maxEntry + 1, 1},
		{"inspect/jobs.lua", `local entry, ledger_field, slot = \d+, \d+, (\d+)`, maxSlotState + 1, 1},
	} {
		files, err := filepath.Glob("../" + c.files)
		if err != nil {
			t.Fatal(err)
		}
		places := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range regexp.MustCompile(c.number).FindAllStringSubmatch(string(text), -1) {
				if places++; found[1] != fmt.Sprint(c.want) {
					t.Errorf("%s: %s, not %d", file, found[0], c.want)
				}
			}
		}
		if places < c.places {
			t.Errorf("%s: %d places have %s, not %d", c.files, places, c.number, c.places)
		}
	}
}
