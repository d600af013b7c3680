package line_test

import (
	"testing"

	"redlockrun/internal/proof/locktest"
)

func TestOperatorsRaceWithRuns(t *testing.T) {
	t.Parallel()
	locktest.RaceOperators(t, 1, func(t *testing.T) locktest.Race {
		srv, s := served(t)
		return locktest.Race{Store: s, Desk: operating(t, srv.URL()), InLine: func(name string) int64 { return inLine(t, srv, name) }}
	})
}
