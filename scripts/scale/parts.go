//go:build linux

package main

import (
	"fmt"
	"strings"
	"time"

	"redlockrun/internal/proof/redistest"
)

// sizes are how many hold; two waiters come on five holders.
var sizes = []int{100, 300, 1000, 3000, 5000}

func waitersOf(holders int) int { return holders * 2 / 5 }

// growth is on one server as it is installed, of which 10,000 connections can be had.
func growth(s *scale) error {
	r, err := s.rig()
	if err != nil {
		return err
	}
	defer r.close()
	s.figures.Date, s.figures.Server, s.figures.Growth = time.Now().UTC().Format(time.DateOnly), version(r.servers[0]),
		nil
	return s.measure(r, sizes...)
}

// version is the server's.
func version(s *redistest.Server) string {
	reply, _ := s.Do("INFO", "server")
	text, _ := reply.(string)
	_, rest, _ := strings.Cut(text, "redis_version:")
	number, _, _ := strings.Cut(rest, "\r")
	return number
}

// more is on one that lets more connect.
func more(s *scale) error {
	r, err := s.rig("--maxclients", "19000")
	if err != nil {
		return err
	}
	defer r.close()
	s.figures.Growth = s.figures.Growth[:min(len(s.figures.Growth), len(sizes))]
	return s.measure(r, 10000)
}

func (s *scale) measure(r *rig, sizes ...int) error {
	for _, n := range sizes {
		n /= s.divisor
		st, err := r.stage(n, waitersOf(n))
		if err != nil {
			return fmt.Errorf("with %d holders: %w", n, err)
		}
		st.Processes = len(r.processes)
		s.figures.Growth = append(s.figures.Growth, st)
	}
	return nil
}
