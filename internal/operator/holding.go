package operator

import (
	"time"

	"redlockrun/internal/lock"
)

// heldBy returns held by web-3:4121 since 13:58:02 CET, for a lock that a run holds; otherwise "".
func heldBy(c lock.ChangeResult) string {
	switch {
	case c.Holder.Foreign != "":
		return "held by " + c.Holder.Process() + ", which redlockrun did not create"
	case c.Holder.Run == "":
		return ""
	case c.At.IsZero():
		return "held by " + c.Holder.Process()
	}
	return "held by " + c.Holder.Process() + " since " + lock.LocalTime(c.At)
}

// unrenewed returns the time since the holder's last renewal, and whether that is too long.
func unrenewed(c lock.ChangeResult) (d time.Duration, late bool) {
	return c.Holder.Unrenewed(c.Left, c.At, c.Now)
}

// learnsBy returns when a living holder has renewed its lease, and so knows of the change.
func learnsBy(c lock.ChangeResult) time.Time {
	d, late := unrenewed(c)
	if late || c.Holder.Every <= 0 || c.Holder.TTL <= 0 {
		return c.Now.Add(max(0, c.Left))
	}
	return c.Now.Add(c.Holder.RenewsWithin() - d)
}
