package operator

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/runner"
)

// A counter counts its readings, of which some fail and one hangs.
type counter struct {
	n       int
	fails   []int
	hangs   int
	reading bool
}

var errAway = errors.New("away")

func (c *counter) read(ctx context.Context) (int, error) {
	c.reading = true
	defer func() { c.reading = false }()
	c.n++
	if c.n == c.hangs {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	if slices.Contains(c.fails, c.n) {
		return 0, errAway
	}
	return c.n, nil
}

func TestRepeatedReadingsAreShownUntilASignal(t *testing.T) {
	for name, end := range map[string]struct {
		key  byte
		sig  os.Signal
		want error
	}{
		"q": {key: 'q'}, "interrupt": {sig: syscall.SIGINT}, "terminate": {sig: syscall.SIGTERM},
		"hangup": {sig: syscall.SIGHUP, want: &runner.SignalError{Signal: syscall.SIGHUP}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &counter{fails: []int{2, 3}, hangs: 5}
				keys, signals := make(chan byte), make(chan os.Signal)
				var shown []int
				var away []bool
				show := func(n int, err error) error {
					shown, away = append(shown, n), append(away, err != nil)
					return nil
				}
				go func() {
					time.Sleep(time.Minute)
					if end.key != 0 {
						keys <- 'x'
						keys <- end.key
					} else {
						signals <- end.sig
					}
				}()
				err := repetition[int]{every: time.Second, read: c.read, show: show, keys: keys}.run(signals, 0)
				if want := end.want; (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
					t.Errorf("%v, want %v", err, want)
				}
				if end.key != 0 {
					shown, away = shown[:len(shown)-1], away[:len(away)-1] // once more for the x
				}
				if !slices.Equal(shown, []int{0, 1, 1, 1, 4}) ||
					!slices.Equal(away, []bool{false, false, true, true, false}) {
					t.Errorf("shown %v, away %v", shown, away)
				}
				if c.reading {
					t.Error("the last reading goes on")
				}
			})
		})
	}
}

func TestAFailedOutputEndsTheReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(counter)
		full := errors.New("no space")
		err := repetition[int]{every: time.Second, read: c.read, show: func(n int, _ error) error {
			if n == 3 {
				return full
			}
			return nil
		}}.run(nil, 0)
		if err != full || c.reading {
			t.Errorf("%v, reading %v", err, c.reading)
		}
	})
}
