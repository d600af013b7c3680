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

// What the handlers use: the end of a pipe that they write to, and the runtime's
// handler of faults.
var (
	pipe           uintptr //lint:ignore U1000 read by a handler
	runtimeHandler uintptr //lint:ignore U1000 read by a handler
)

// handlers are where the kernel finds the handler that relays a signal, the one
// that leaves the faults of this process to the runtime, and the one that does nothing.
func handlers() (relay, relayFault, disregard uintptr)

// A Treatment is what is done with a signal.
type Treatment int

const (
	Untouched Treatment = iota // job control, and what is the kernel's or the runtime's
	Relayed                    // its number goes through the pipe
	Absorbed                   // nothing
)

// TreatmentOf is what TakeSignals does with a signal. Package runner says why.
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

// What TakeSignals has done.
var (
	taken  [lastSignal + 1]bool
	before [lastSignal + 1]Action
	ends   [2]int32
	piped  bool
)

// TakeSignals treats every signal at once as the program will: what comes from now on waits
// in the pipe until package relay reads it. The runtime, until then, does nothing for most
// signals and prints what its threads are at for one. What is ignored stays ignored.
func TakeSignals() {
	const closeOnExec, nonBlocking = 0x80000, 0x800
	_, _, e := rawSyscall6(sysPipe, uintptr(unsafe.Pointer(&ends)), closeOnExec|nonBlocking, 0, 0, 0, 0)
	if e != 0 {
		return
	}
	piped, early = true, true
	RelayTo(int(ends[1]))
	for _, sig := range [...]int{3, 10, 12, 14} { // QUIT, USR1, USR2, ALRM: the likely ones that are lost till now
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

// ReturnSignals undoes what TakeSignals has done, for a process that is to be something else.
func ReturnSignals() {
	for sig := range taken {
		if taken[sig] {
			taken[sig] = false
			SetAction(sig, &before[sig], nil)
		}
	}
}

// Pipe is the pipe of TakeSignals, if there is one.
func Pipe() (read, write int, ok bool) { return int(ends[0]), int(ends[1]), piped }

// RelayTo makes signals that are relayed go to a pipe.
func RelayTo(write int) {
	pipe = uintptr(write)
	runtimeHandler = runtimesAction().Handler // it has the same for every signal
}

// Relay has a signal relayed, unless it is ignored, which it reports. A fault of this process,
// which has the same number as a signal that is sent, stays the runtime's.
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

// mayBeIgnored reports whether the runtime leaves a signal ignored that was ignored when this
// process was started: HUP, INT, and what nobody has a handler for. For all others it has
// installed its own by now, or somebody has ignored them since.
func mayBeIgnored(sig int) bool { return !early || sig <= 2 || sig == 32 || sig == 34 }

// early is true while TakeSignals runs: each system call less is a signal more.
var early bool

func ignored(sig int) bool {
	var now Action
	SetAction(sig, nil, &now)
	return now.Handler == Ignore
}

// runtimesAction is how the runtime handles a signal that it has no use for:
// on the signal stack, restarting system calls, every other signal blocked.
func runtimesAction() Action {
	const realTime = 63
	if usual.Handler == 0 {
		SetAction(realTime, nil, &usual)
	}
	return usual
}

var usual Action

// SetAction sets the action of sig, unless set is nil, and gets the one before, unless get is nil.
func SetAction(sig int, set, get *Action) {
	const sigsetSize = 8
	rawSyscall6(sysSigaction, uintptr(sig),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), sigsetSize, 0, 0)
}
