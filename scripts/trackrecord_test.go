package scripts

import "testing"

// The record of the faults that were found is told in docs/dev/proof/track-record.md as it is kept; the tests
// that it names are there, and so are its commits, where there is the history.
func TestTheTrackRecordIsKept(t *testing.T) {
	t.Parallel()
	output(t, "..", "go", "run", "./scripts/trackrecord", "check")
}
