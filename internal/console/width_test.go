package console

import "testing"

func FuzzCut(f *testing.F) {
	f.Add("日本語 e\u0301", 3)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 1 + max(0, width%100)
		if got := Cut(text, width); Width(got) > width {
			t.Errorf("%q: %d columns, not %d", got, Width(got), width)
		}
	})
}
