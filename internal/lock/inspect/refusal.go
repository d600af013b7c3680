package inspect

import (
	"errors"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
)

// errStrange says that an answer is none of ours.
var errStrange = errors.New("read reply: redlockrun does not know it")

// refusal says for users why a command was refused.
func refusal(r jobsReply) string { return explainRefusal(r.command, r.why) }

// explainRefusal says for users what a server's refusal of a command means.
func explainRefusal(command, why string) string {
	switch refused := link.ReadRefusal(why).Refusal; refused.Code {
	case "NOPERM", "DENIED":
		return "the user may not use " + lock.Escaped(command)
	case lock.NOCOMMAND:
		return "the server does not know " + lock.Escaped(command)
	default:
		return lock.Escaped(refused.Text)
	}
}
