package line

import (
	"redlockrun/internal/lock"
)

// Present is a step of this release, as it is sent; "" if there is none of that name.
func Present(step string) string {
	switch step {
	case "acquire":
		return present.acquire.Text()
	case "confirm":
		return present.confirm.Text()
	case "renew":
		return present.renew.Text()
	case "release":
		return present.release.Text()
	}
	return ""
}

// Speak has a store ask text for each step that it sends.
func Speak(s lock.Store, text func(step string) string) {
	steps := &s.(*redisStore).steps
	steps.acquire.Text = func() string { return text("acquire") }
	steps.confirm.Text = func() string { return text("confirm") }
	steps.renew.Text = func() string { return text("renew") }
	steps.release.Text = func() string { return text("release") }
}

// LookEvery is the least time between two looks of a parked waiter.
const LookEvery = lookEvery
