package password

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"redlockrun/internal/lock"
)

const (
	// mostPrinted is what Redis takes of a client that has not said its password yet, in bytes.
	mostPrinted = 16 << 10

	// mostHeard is what is read of the end of stderr, and mostShown what is shown of it.
	mostHeard = 4 << 10
	mostShown = 200
)

// What a shell has said until its end.
type said struct {
	printed, heard []byte             // on stdout, and at the end of stderr
	status         syscall.WaitStatus // how it has ended
	missing        error              // why there was no shell; nil if there was one
	late           bool               // it was killed
}

// password is what was printed, as it stands in a password file. The error is a
// *lock.PasswordError, which repeats neither that nor text, the command.
func (s *said) password(text string) (string, error) {
	problem, final := s.problem()
	line := strings.TrimSuffix(strings.TrimSuffix(string(s.printed), "\n"), "\r")
	switch {
	case problem != "":
	case line == "":
		problem = "has printed nothing"
	case strings.ContainsAny(line, "\r\n"):
		problem = "has printed more than one line"
	default:
		return line, nil
	}
	if heard := s.shown(text); heard != "" {
		problem += ", and said: " + heard
	}
	return "", &lock.PasswordError{Problem: "the password command " + problem, Final: final}
}

// problem is what the end of the shell says; "" if it is well. What is not found or may not
// be executed will not be at the next try.
func (s *said) problem() (problem string, final bool) {
	status := s.status.ExitStatus()
	switch {
	case len(s.printed) > mostPrinted:
		return fmt.Sprintf("has printed more than %d KiB", mostPrinted>>10), false
	case s.late:
		return fmt.Sprintf("has not ended within %s", limit), false
	case s.missing != nil:
		return "needs " + shellName + ": " + s.missing.Error(), true
	case s.status.Signaled():
		return fmt.Sprintf("was ended by signal %d (%v)", int(s.status.Signal()), s.status.Signal()), false
	case status == 126 || status == 127:
		return fmt.Sprintf("cannot be run (status %d)", status), true
	case status != 0:
		return fmt.Sprintf("has ended with status %d", status), false
	}
	return "", false
}

// shellName is how the shell begins what it has to say itself.
const shellName = "/bin/sh"

// shown is the end of stderr in one line: without what was printed, and without the words of
// the command where the shell itself repeats them. A password may have been given in the place
// of a command.
func (s *said) shown(text string) string {
	printed := strings.Fields(string(s.printed))
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n;|&()<>'\"`$", r) })
	words = append(words, strings.Fields(text)...)
	var lines []string
	for line := range strings.Lines(string(s.heard)) {
		line = hide(strings.TrimSpace(line), printed)
		if rest, its := strings.CutPrefix(line, shellName+":"); its {
			line = shellName + ":" + hide(rest, words)
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	all := strings.Join(lines, "; ")
	if len(all) > mostShown {
		all = "..." + all[len(all)-mostShown:]
	}
	return all
}

// hide puts *** in the place of each secret, the longest first: one may be a part of another.
func hide(text string, secrets []string) string {
	secrets = slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	for _, secret := range secrets {
		if len(secret) > 2 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
