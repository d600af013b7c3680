package password

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"redlockrun/internal/lock"
)

const (
	// mostPrinted is the longest input in bytes that Redis accepts from a client without
	// authentication.
	mostPrinted = 16 << 10

	// mostHeard is how much of the end of stderr is read, and mostShown how much of it is shown.
	mostHeard = 4 << 10
	mostShown = 200
)

// said holds the output of a shell, and how it ended.
type said struct {
	printed, heard []byte             // on stdout, and at the end of stderr
	status         syscall.WaitStatus // how it ended
	missing        error              // why there was no shell; nil if there was one
	late           bool               // it was killed
}

// password returns the printed password, in the format of a password file. The error is a
// *lock.PasswordError, which repeats neither the password nor text, the command.
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

// problem describes a failed end of the shell; "" if it succeeded. A command that is not found or
// may not be executed will fail at the next try, too.
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

// shellName is the beginning of the shell's own messages.
const shellName = "/bin/sh"

// shown returns the end of stderr in one line. It leaves out the printed password, and the words
// of the command where the shell itself repeats them: a password may stand in the place of a
// command.
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

// hide replaces each secret by ***, the longest first: one may be a part of another.
func hide(text string, secrets []string) string {
	secrets = slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	for _, secret := range secrets {
		if len(secret) > 2 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
