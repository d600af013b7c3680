//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// figures are all that is measured.
type figures struct {
	Date    string  `json:"date"`
	Server  string  `json:"server"` // its version
	Growth  []stage `json:"growth"`
	Costs   cost    `json:"costs"`
	Full    fullest `json:"full"`
	Cluster stage   `json:"cluster"` // of three masters, added up
	Masters []node  `json:"masters"`
	Message message `json:"message"`
}

// A stage is so many who hold and wait, and what that costs. Processors are in per cent of
// one, memory in MB, times in ms, all else a second.
type stage struct {
	Holders     int     `json:"holders"`
	Waiters     int     `json:"waiters"`
	Processes   int     `json:"processes"` // real redlockruns among them
	Connections int     `json:"connections"`
	Grown       float64 `json:"grown_s"`
	Renewals    float64 `json:"renewals"`
	Steps       float64 `json:"steps"` // renewals and looks
	Server      float64 `json:"server_cpu"`
	Memory      float64 `json:"server_mb"`
	Load        float64 `json:"load_cpu"`
	LoadMemory  float64 `json:"load_mb"`
	Renewing    float64 `json:"renewal_p99"`
	Acquire     spread  `json:"acquire"`
	LongLine    spread  `json:"hand_over_long_line"`
	HandOver    spread  `json:"hand_over"`
	Status      spread  `json:"status"`
	StatusOfAll float64 `json:"status_of_all"`
	Failed      int     `json:"failed"` // renewals without an answer, since the beginning
	Lost        int     `json:"lost"`   // leases, likewise
	Sent        float64 `json:"sent,omitempty"`
	Received    float64 `json:"received,omitempty"` // messages between the nodes of a Cluster
}

// A spread is of so many times.
type spread struct {
	Median float64 `json:"p50"`
	P99    float64 `json:"p99"`
	Of     int     `json:"of"`
}

// A node is a master of a Cluster.
type node struct {
	Connections int     `json:"connections"`
	Memory      float64 `json:"mb"`
	Server      float64 `json:"cpu"`
}

func readFigures(path string) (*figures, error) {
	f := &figures{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(text, f)
	}
	if err != nil {
		return nil, fmt.Errorf("read figures: %w", err)
	}
	return f, nil
}

func (f *figures) write(path string) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// numberIn is the number behind a field of INFO.
func numberIn(text, field string) (n float64) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			fmt.Sscan(rest, &n)
		}
	}
	return n
}
