package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/outfile"
)

// reportLimit bounds the time that a hanging file system can cost at the end.
const reportLimit = time.Second

// Save writes the report to the file at path. err is the reason if the status is redlockrun's own;
// nil if it is the command's.
func (a Report) Save(path string, status int, err error, reason string) error {
	a.Host, a.Status, a.Reason = lock.HostName(), status, reason
	if a.From = fromCommand; err != nil {
		a.From = fromRedlockrun
	}
	return within(reportLimit, func() error { return a.write(path) })
}

// within calls do, and abandons it after limit: the process is about to end.
func within(limit time.Duration, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return fmt.Errorf("no result after %s", limit)
	}
}

// write writes the report to the file at path.
func (a Report) write(path string) error {
	text, err := a.line()
	if err != nil {
		return err
	}
	return outfile.Put(path, text, 0)
}

// line returns the report as one line of JSON.
func (a Report) line() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(a)
	return b.Bytes(), err
}
