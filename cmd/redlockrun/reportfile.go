package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// reportLimit bounds what a file system that does not answer can cost at the end.
const reportLimit = time.Second

// report writes --report-file, once it is known how this program ends. err is why the status
// is its own.
func (p *program) report(err error, reason string) {
	if p.reportFile == "" {
		return
	}
	a := p.account
	a.Slot, a.Host, a.Status, a.Reason = p.plan.Slot.Name, lock.HostName(), p.ending.status, reason
	if a.From = fromCommand; err != nil {
		a.From = fromRedlockrun
	}
	if err := within(reportLimit, func() error { return a.write(p.reportFile) }); err != nil {
		p.console.Say(console.Message{
			Level: console.Warning, Event: console.EventUnreported, Text: fmt.Sprintf("write report file: %v", err),
		})
	}
}

// within calls do, which is left behind if it takes longer than limit: the process is about
// to end.
func within(limit time.Duration, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return fmt.Errorf("nothing has come of it in %s", limit)
	}
}

// write puts the account into the file at path.
func (a account) write(path string) error {
	text, err := a.line()
	if err != nil {
		return err
	}
	return put(path, text, 0)
}

// line is the account as one line of JSON.
func (a account) line() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(a)
	return b.Bytes(), err
}
