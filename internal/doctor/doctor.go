// Package doctor finds what is wrong between this host and the store before it hurts. A check
// is one idea in a file of its own: what it asks is an interface beside it, or a question to a
// Peer; what it concludes is a Finding. What it writes into the store it removes again.
package doctor

import "fmt"

// A Finding is the result of a check.
type Finding struct {
	Check   string `json:"check"`            // one word, which stays as it is
	Server  string `json:"server,omitempty"` // host:port; "" if it is about this host, or all servers together
	Result  Result `json:"result"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"` // what to do, in the words of the command line or of Redis
}

// A Result is how bad that is.
type Result string

// The results.
const (
	Ok     Result = "ok"
	Unseen Result = "unseen" // the user may not look; that is no fault
	Warn   Result = "warn"
	Fail   Result = "fail"
)

// Status is the exit status of all the findings: 0, 1 if anything warns, 2 if anything fails.
func Status(findings []Finding) (status int) {
	for _, f := range findings {
		switch f.Result {
		case Fail:
			return 2
		case Warn:
			status = 1
		}
	}
	return status
}

// to is a finding with what to do about it.
func (f Finding) to(format string, args ...any) Finding {
	f.Remedy = fmt.Sprintf(format, args...)
	return f
}

// about is a finding of a check about this host, or about all servers together.
func about(check string, r Result, format string, args ...any) Finding {
	return Finding{Check: check, Result: r, Message: fmt.Sprintf(format, args...)}
}
