//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// A record is an outcome as a line of a file.
type record struct {
	Row, Fault   string
	Acked, Lost  int
	Struck, Hung bool
	Stood        time.Duration
}

// keep adds an outcome to a file at once: what has been run counts, also if the rest has not.
func keep(path, row, fault string, o outcome) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	line, err := json.Marshal(record{row, fault, o.acked, o.lost, o.struck, o.hung, o.stood})
	if err == nil {
		_, err = file.Write(append(line, '\n'))
	}
	return errors.Join(err, file.Close())
}

// kept are the tallies of a file, in the order of the rows. One that is not there is empty.
func kept(path string, cables bool) (all []*tally, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	byName := map[string]*tally{}
	for in := json.NewDecoder(file); ; {
		var one record
		if err := in.Decode(&one); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if byName[one.Row] == nil {
			byName[one.Row] = &tally{outcomes: map[string][]outcome{}, cables: cables}
		}
		o := outcome{acked: one.Acked, lost: one.Lost, hung: one.Hung, struck: one.Struck, stood: one.Stood}
		byName[one.Row].outcomes[one.Fault] = append(byName[one.Row].outcomes[one.Fault], o)
	}
	for _, r := range rows() {
		if t := byName[r.name]; t != nil {
			t.row = r
			all = append(all, t)
		}
	}
	return all, nil
}
