package runner

import (
	"slices"
	"syscall"
	"testing"

	"redlockrun/internal/outset"
)

// Two packages know what a signal means: one of them is initialized before everything else.
func TestSignalsAreTreatedFromTheOutsetAsLater(t *testing.T) {
	ending, absorbing := signalsWith(ends), signalsWith(absorbed)
	for sig := 1; sig <= lastSignal; sig++ {
		want := outset.Untouched
		switch {
		case slices.Contains(ending, syscall.Signal(sig)):
			want = outset.Relayed
		case slices.Contains(absorbing, syscall.Signal(sig)):
			want = outset.Absorbed
		}
		if got := outset.TreatmentOf(sig); got != want {
			t.Errorf("signal %d: %d at the outset, %d later", sig, got, want)
		}
	}
}
