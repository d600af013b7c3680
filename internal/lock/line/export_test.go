package line

import (
	"redlockrun/internal/lock"
)

// Present is a step of this release, as it is sent; "" if there is none of that name.
func Present(step string) string {
	switch step {
	case "acquire":
		return slotted.acquire.Text()
	case "confirm":
		return slotted.confirm.Text()
	case "renew":
		return slotted.renew.Text()
	case "retake":
		return slotted.retake.Text()
	case "release":
		return slotted.release.Text()
	}
	return ""
}

// Change is an operator's step of this release.
func Change(act lock.Act) string { return changeStep(act).Text() }

// Speak has a store ask text for each step that it sends.
func Speak(s lock.Store, text func(step string) string) {
	for _, steps := range []*steps{&s.(*redisStore).steps, &s.(*redisStore).slot} {
		steps.acquire.Text = func() string { return text("acquire") }
		steps.confirm.Text = func() string { return text("confirm") }
		steps.renew.Text = func() string { return text("renew") }
		steps.retake.Text = func() string { return text("retake") }
		steps.release.Text = func() string { return text("release") }
	}
}

// LookEvery is the least time between two looks of a parked waiter.
const LookEvery = lookEvery
