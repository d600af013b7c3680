//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"
)

// A record is an outcome in a file.
type record struct {
	Row, Fault   string
	Acked, Lost  int
	Struck, Hung bool
	Stood        time.Duration
}

// together adds the outcomes of a file to the tallies, which come in the order of the rows, and
// puts all of them into the file. No path is no file.
func together(path string, tallies []*tally) ([]*tally, error) {
	if path == "" {
		return tallies, nil
	}
	records, err := recorded(path)
	if err != nil {
		return nil, err
	}
	for _, t := range tallies {
		for fault, outcomes := range t.outcomes {
			for _, o := range outcomes {
				records = append(records, record{t.row.name, fault, o.acked, o.lost, o.struck, o.hung, o.stood})
			}
		}
	}
	text, err := json.MarshalIndent(records, "", " ")
	if err != nil {
		return nil, err
	}
	return tallied(records, tallies), os.WriteFile(path, text, 0o600)
}

func recorded(path string) (records []record, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return records, json.Unmarshal(text, &records)
}

func tallied(records []record, like []*tally) (all []*tally) {
	for _, r := range rows() {
		t := &tally{row: r, outcomes: map[string][]outcome{}, cables: len(like) > 0 && like[0].cables}
		for _, one := range records {
			if one.Row == r.name {
				o := outcome{acked: one.Acked, lost: one.Lost, hung: one.Hung, struck: one.Struck, stood: one.Stood}
				t.outcomes[one.Fault] = append(t.outcomes[one.Fault], o)
			}
		}
		if len(t.outcomes) > 0 {
			all = append(all, t)
		}
	}
	return all
}
