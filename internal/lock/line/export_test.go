package line

// What the tests of single steps send to a server.
var (
	AcquireStep = acquireStep.Text
	ConfirmStep = confirmStep.Text
	ReleaseStep = releaseStep.Text
)

// LookEvery is the least time between two looks of a parked waiter.
const LookEvery = lookEvery
