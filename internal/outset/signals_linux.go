package outset

import "unsafe"

// An Action is struct sigaction as rt_sigaction(2) takes it, with room for the longest.
type Action struct {
	Handler uintptr
	Rest    [4]uint64
}

// Ignore is the handler of a signal that is ignored (SIG_IGN).
const Ignore = 1

const lastSignal = 64

// Data of the handlers: the end of a pipe that they write to, and the runtime's handler of faults.
var (
	pipe           uintptr //lint:ignore U1000 read by a handler
	runtimeHandler uintptr //lint:ignore U1000 read by a handler
)

// handlers returns the addresses of three handlers. One relays a signal, one leaves the faults of
// this process to the runtime, and one does nothing.
func handlers() (relay, relayFault, disregard uintptr)

// A Treatment says how a signal is handled.
type Treatment int

const (
	Untouched Treatment = iota // job control, and signals of the kernel or the runtime
	Relayed                    // its number goes through the pipe
	Absorbed                   // nothing
)

// TreatmentOf returns how TakeSignals handles a signal. Package runner explains why.
func TreatmentOf(sig int) Treatment {
	switch sig {
	case 18, 20, 21, 22, 28: // CONT, TSTP, TTIN, TTOU, WINCH
		return Untouched
	case 9, 17, 19, 23, 27, 33: // KILL, CHLD, STOP, URG, PROF, SETXID
		return Untouched
	case 13, 25: // PIPE, XFSZ
		return Absorbed
	}
	return Relayed
}

// The changes that TakeSignals has made.
var (
	taken  [lastSignal + 1]bool
	before [lastSignal + 1]Action
	ends   [2]int32
	piped  bool
)

// TakeSignals takes over every signal at once: from now on they wait in the pipe until package
// relay reads it. Until then the runtime ignores most signals, and prints the stacks of its
// threads for one. Ignored signals stay ignored.
func TakeSignals() {
	const closeOnExec, nonBlocking = 0x80000, 0x800
	_, _, e := rawSyscall6(sysPipe, uintptr(unsafe.Pointer(&ends)), closeOnExec|nonBlocking, 0, 0, 0, 0)
	if e != 0 {
		return
	}
	piped, early = true, true
	RelayTo(int(ends[1]))
	// QUIT, USR1, USR2 and ALRM come first: they are the likely ones, and would be lost before.
	for _, sig := range [...]int{3, 10, 12, 14} {
		taken[sig] = Relay(sig)
	}
	for sig := 1; sig <= lastSignal; sig++ {
		switch TreatmentOf(sig) {
		case Relayed:
			taken[sig] = Relay(sig)
		case Absorbed:
			taken[sig] = Absorb(sig)
		}
	}
	early = false
}

// ReturnSignals undoes TakeSignals, for a process that becomes a guard or supervisor.
func ReturnSignals() {
	for sig := range taken {
		if taken[sig] {
			taken[sig] = false
			SetAction(sig, &before[sig], nil)
		}
	}
}

// Pipe returns the pipe of TakeSignals, if there is one.
func Pipe() (read, write int, ok bool) { return int(ends[0]), int(ends[1]), piped }

// RelayTo makes relayed signals go to a pipe.
func RelayTo(write int) {
	pipe = uintptr(write)
	runtimeHandler = runtimesAction().Handler // it is the same for every signal
}

// Relay makes a signal relayed, and reports that. It leaves an ignored signal alone. The runtime
// still handles a fault of this process, which has the same number as a signal that another
// process sends.
func Relay(sig int) bool {
	relay, relayFault, _ := handlers()
	switch sig {
	case 4, 5, 6, 7, 8, 11, 31: // ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS
		return handle(sig, relayFault)
	}
	return handle(sig, relay)
}

// Absorb makes a signal have no effect, unless it is ignored, which it reports.
func Absorb(sig int) bool {
	_, _, disregard := handlers()
	return handle(sig, disregard)
}

func handle(sig int, handler uintptr) bool {
	if taken[sig] {
		return true
	}
	action := runtimesAction()
	action.Handler = handler
	if mayBeIgnored(sig) && ignored(sig) {
		return false
	}
	SetAction(sig, &action, &before[sig])
	return true
}

// mayBeIgnored reports whether the runtime still ignores a signal that was ignored when this
// process was started: HUP, INT, and signals without a handler. For all others the runtime has
// installed its own handler by now, or other code has ignored them since.
func mayBeIgnored(sig int) bool { return !early || sig <= 2 || sig == 32 || sig == 34 }

// early is true while TakeSignals runs: each saved system call catches a signal sooner.
var early bool

func ignored(sig int) bool {
	var now Action
	SetAction(sig, nil, &now)
	return now.Handler == Ignore
}

// runtimesAction returns the runtime's action for a signal without a use in it: on the signal
// stack, restarting system calls, every other signal blocked.
func runtimesAction() Action {
	const realTime = 63
	if usual.Handler == 0 {
		SetAction(realTime, nil, &usual)
	}
	return usual
}

var usual Action

// SetAction sets the action of sig, unless set is nil, and stores the previous one in get, unless
// get is nil.
func SetAction(sig int, set, get *Action) {
	const sigsetSize = 8
	rawSyscall6(sysSigaction, uintptr(sig),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), sigsetSize, 0, 0)
}
