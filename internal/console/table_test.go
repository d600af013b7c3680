package console

import (
	"slices"
	"testing"
)

func table() Table {
	return Table{
		FixedColumns: 2,
		Columns:      []Column{{Name: "NAME"}, {Name: "STATE"}, {Name: "ROOM"}, {Name: "NOTE", Shrinkable: true}},
		Rows: [][]Cell{
			{{Text: "first"}, {Text: "on", Style: StyleGood}, {Text: "-", Style: StyleFaint},
				{Text: "what else there is"}},
			{{Text: "日本"}, {Text: "off"}, {Text: "12"}, {}},
		},
	}
}

func TestColumnsThatDoNotFitAreHiddenFromTheRight(t *testing.T) {
	for width, want := range map[int][]string{
		0:  {"NAME   STATE  ROOM  NOTE", "first  on     -     what else there is", "日本   off    12"},
		38: {"NAME   STATE  ROOM  NOTE", "first  on     -     what else there is", "日本   off    12"},
		30: {"NAME   STATE  ROOM  NOTE", "first  on     -     what else…", "日本   off    12"},
		27: {"NAME   STATE  ROOM", "first  on     -", "日本   off    12"},
		14: {"NAME   STATE", "first  on", "日本   off"},
		11: {"NAME  STATE", "fir…  on", "日本  off"},
		10: {"NA…  STATE", "fi…  on", "日…  off"},
		1:  {"…  STATE", "…  on", "…  off"},
	} {
		if got := table().Lines(Display{Width: width}); !slices.Equal(got, want) {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
}

// What is only drawn goes before what is said.
func TestADropFirstColumnIsHiddenFirst(t *testing.T) {
	t1 := table()
	t1.Columns[2].DropFirst = true
	for width, want := range map[int][]string{
		38: {"NAME   STATE  ROOM  NOTE", "first  on     -     what else there is", "日本   off    12"},
		37: {"NAME   STATE  NOTE", "first  on     what else there is", "日本   off"},
		24: {"NAME   STATE  NOTE", "first  on     what else…", "日本   off"},
		20: {"NAME   STATE", "first  on", "日本   off"},
	} {
		if got := t1.Lines(Display{Width: width}); !slices.Equal(got, want) {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
}

func TestATableWithoutNamesHasNoHead(t *testing.T) {
	plain := Table{Columns: []Column{{MinWidth: 4}, {}},
		Rows: [][]Cell{{{Text: "a"}, {Text: "b", Style: StyleBad}}, {{}, {Text: "c"}}}}
	got, want := plain.Lines(Display{Color: true}), []string{"a     \x1b[31mb\x1b[0m", "      c"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLaterRowsAlignWithEarlierOnes(t *testing.T) {
	t1 := table()
	t1.KeepWidths()
	t1.Rows = [][]Cell{{{Text: "x"}, {Text: "on"}, {Text: "7"}, {Text: "y"}}}
	if got := t1.Lines(Display{})[1]; got != "x      on     7     y" {
		t.Errorf("%q", got)
	}
}
