package quorum

import (
	"bytes"
	"slices"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

// masterOutputs are what one master has of the outputs of a job.
type masterOutputs struct {
	address string
	lock.JobOutputs
}

// mergedOutputs are the outputs of several masters, newest first: one of each run. A run writes the same to each, so of
// different ones that of the most masters is believed.
func mergedOutputs(name string, seen []masterOutputs) lock.JobOutputs {
	merged := lock.JobOutputs{Name: name}
	versions := map[string][]lock.Output{}
	var runs []string
	failed := 0
	for _, s := range seen {
		for _, o := range s.Outputs {
			if versions[o.Run] == nil {
				runs = append(runs, o.Run)
			}
			versions[o.Run] = append(versions[o.Run], o)
		}
		if s.Err != nil {
			failed++
			merged.Err = s.Err
		}
	}
	if failed < len(seen) {
		merged.Err = nil
	}
	for _, run := range runs {
		merged.Outputs = append(merged.Outputs, commonest(versions[run]))
	}
	slices.SortStableFunc(merged.Outputs, func(a, b lock.Output) int { return b.Ended.Compare(a.Ended) })
	merged.Outputs = merged.Outputs[:min(len(merged.Outputs), wire.MostOutputs)]
	merged.Unread = unreadOf(seen, func(s masterOutputs) (string, []string) { return s.address, s.Unread })
	return merged
}

// commonest is what the most masters have; of as many the first.
func commonest(versions []lock.Output) (best lock.Output) {
	most := 0
	for _, v := range versions {
		n := 0
		for _, other := range versions {
			if sameOutput(v, other) {
				n++
			}
		}
		if n > most {
			best, most = v, n
		}
	}
	return best
}

// sameOutput reports whether two masters have the same of one run, but for their clocks.
func sameOutput(a, b lock.Output) bool {
	return a.Host == b.Host && a.End == b.End && a.Status == b.Status && a.Attempt == b.Attempt && a.Total == b.Total &&
		bytes.Equal(a.Tail, b.Tail)
}
