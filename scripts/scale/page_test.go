//go:build linux

package main

import (
	"os"
	"strings"
	"testing"
)

func published(t *testing.T) *figures {
	t.Helper()
	f, err := readFigures("../../docs/dev/proof/scale.json")
	if err != nil || len(f.Growth) == 0 {
		t.Fatalf("%v, %d sizes", err, len(f.Growth))
	}
	return f
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestThePictureIsOfTheFigures(t *testing.T) {
	t.Parallel()
	if got := draw(published(t).Growth); got != text(t, "../../docs/dev/proof/scale.svg") {
		t.Error("docs/dev/proof/scale.svg is of other figures than docs/proof/scale.json has")
	}
}

func TestThePageHasTheFigures(t *testing.T) {
	t.Parallel()
	page := text(t, "../../docs/dev/proof/scale.md")
	for table := range strings.SplitSeq(published(t).tables(), "\n\n") {
		if !strings.Contains(page, strings.TrimSpace(table)) {
			t.Errorf("docs/dev/proof/scale.md lacks this table:\n%s", table)
		}
	}
}

func TestAPercentileIsOneOfWhatWasMeasured(t *testing.T) {
	t.Parallel()
	some := []float64{5, 1, 4, 2, 3}
	for p, want := range map[int]float64{1: 1, 20: 1, 50: 3, 99: 5, 100: 5} {
		if got := percentile(some, p); got != want {
			t.Errorf("p%d is %v, want %v", p, got, want)
		}
	}
	if got := percentile(nil, 99); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestAnAxisReachesFromPowerToPower(t *testing.T) {
	t.Parallel()
	holders := []curve{{"", func(s stage) float64 { return float64(s.Holders) }}}
	a := newAxis([]stage{{Holders: 100}, {Holders: 10000}}, holders, 200)
	if a.at(100) != 0 || a.at(1000) != 100 || a.at(10000) != 200 || len(a.marks()) != 3 {
		t.Errorf("%+v", a)
	}
}
