package wire

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
)

var oddOutput = lock.Output{
	Run: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Host: "we b/1%\n", Ended: time.UnixMilli(1763790000003), End: lock.EndFailed,
	Status: 1, Attempt: 3,
	Total: 70_000, Tail: []byte("a b\n\x00\xff%\n"),
}

func TestAnOutputIsReadAsItWasWritten(t *testing.T) {
	unknown := oddOutput
	unknown.Host, unknown.End, unknown.Status, unknown.Tail, unknown.Total = "", lock.EndLost, -1, []byte{}, 0
	largest := oddOutput
	largest.Tail = []byte(strings.Repeat("\n", lock.MaxOutput))
	for _, o := range []lock.Output{oddOutput, unknown, largest} {
		if got, ok := ReadOutput(OutputText(o)); !ok || !reflect.DeepEqual(got, o) {
			t.Errorf("%+v\nis written as %.90q and read as\n%+v", o, OutputText(o), got)
		}
	}
}

// A newer release may say more, behind what this one knows.
func TestAnOutputsFurtherWordsAreIgnored(t *testing.T) {
	text := strings.Replace(OutputText(oddOutput), "\n", " colour=red blue\n", 1)
	if got, ok := ReadOutput(text); !ok || !reflect.DeepEqual(got, oddOutput) {
		t.Errorf("%v, %+v", ok, got)
	}
}

func TestWhatIsNoOutputIsNotTakenForOne(t *testing.T) {
	const run = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	for _, text := range []string{
		"", "\n", "garbage", "garbage\nmore",
		run + " web 5 failed 1 1 2",                 // no bytes behind it
		run + " web 5 failed 1 1\nab",               // too few words
		run[1:] + " web 5 failed 1 1 2\nab",         // no run
		run + " web 0 failed 1 1 2\nab",             // no time
		run + " web 999999999999999 failed 1 1 2\n", // no date
		run + " web 5 - 1 1 2\nab",                  // no end
		run + " web 5 failed 1 1 1\nab",             // fewer bytes in all than are there
		run + " web 5 failed 1 1 x\nab",
		run + " web 5 failed 1 1 70000\n" + strings.Repeat("x", lock.MaxOutput+1),
		run + " " + strings.Repeat("x", MaxOutputEntry) + " 5 failed 1 1 2\nab",
	} {
		if o, ok := ReadOutput(text); ok {
			t.Errorf("%.60q is read as %+v", text, o)
		}
	}
}

func TestOfEachRunTheLatestOutputIsRead(t *testing.T) {
	older, other := oddOutput, oddOutput
	older.Tail = []byte("older")
	other.Run = "01BRZ3NDEKTSV4RRFFQ69G5FAV"
	got, strange := ReadOutputs([]string{OutputText(oddOutput), "garbage", OutputText(other), OutputText(older)})
	if want := []lock.Output{oddOutput, other}; strange != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d strange, %+v", strange, got)
	}
}

func TestATailIsReadAsItWasWritten(t *testing.T) {
	for _, text := range []string{"", "-", "one\ntwo = 2 %\x1b[31m", strings.Repeat("ä", lock.MaxTail/2)} {
		tail := lock.Tail{Run: oddOutput.Run, Text: text}
		if got, ok := readTail(TailText(tail)); !ok || got != tail {
			t.Errorf("%q is written as %q and read as %+v", text, TailText(tail), got)
		}
	}
	for _, forged := range []string{
		"", "x", "x y", oddOutput.Run, oddOutput.Run + " ", oddOutput.Run + " %FF", oddOutput.Run + " \xff",
		oddOutput.Run + " " + strings.Repeat("x", lock.MaxTail+1),
	} {
		if got, ok := readTail(forged); ok {
			t.Errorf("%q is read as %+v", forged, got)
		}
	}
}

// Any client of the server can put anything in the place of an output.
func FuzzAnythingIsReadAsAnOutput(f *testing.F) {
	f.Add(OutputText(oddOutput))
	f.Add(TailText(lock.Tail{Run: oddOutput.Run, Text: "a\nb"}))
	f.Fuzz(func(t *testing.T, text string) {
		if o, ok := ReadOutput(text); ok {
			if again, ok := ReadOutput(OutputText(o)); !ok || !reflect.DeepEqual(again, o) {
				t.Errorf("%q is read as %+v, that as %+v", text, o, again)
			}
		}
		if tail, ok := readTail(text); ok {
			if again, ok := readTail(TailText(tail)); !ok || again != tail {
				t.Errorf("%q is read as %+v, that as %+v", text, tail, again)
			}
		}
	})
}
