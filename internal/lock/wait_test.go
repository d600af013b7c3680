package lock_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/lock"
)

// A store that has refused while a busy lock is waited for says what is wrong, also if it
// falls silent then. Once it has answered, what it refused before does not matter.
func TestSilenceDoesNotHideARefusalDuringAWait(t *testing.T) {
	busy := &lock.HeldError{Name: "job"}
	refused := &lock.UnavailableError{Err: &lock.Refusal{Text: "READONLY no"}}
	silent := &lock.UnavailableError{Err: context.DeadlineExceeded}
	for _, c := range []struct {
		answers []error
		want    error
		told    []error // of outages, as they come
	}{
		{[]error{busy, refused, silent}, refused, []error{refused}},
		{[]error{busy, silent, refused}, refused, []error{silent}},
		{[]error{busy, refused, silent, silent}, refused, []error{refused, silent}},
		{[]error{busy, refused, busy, silent}, silent, []error{refused}},
		{[]error{busy, refused, busy}, busy, []error{refused}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var told []error
			req := lock.Request{Timeout: time.Second, Wait: lock.Wait{Retries: len(c.answers) - 1}}
			req.OnOutage = func(err error) { told = append(told, err) }
			asked := 0
			_, err := lock.Await(t.Context(), req, func(context.Context, time.Duration) (lock.Lease, error) {
				asked++
				return nil, c.answers[asked-1]
			})
			if err != c.want || !slices.Equal(told, c.told) {
				t.Errorf("%v ended with %v, and %v was told", c.answers, err, told)
			}
		})
	}
}
