package runner

import (
	"os"
	"syscall"
)

// A meaning says what a signal to this process does.
type meaning struct {
	alone effect    // while there is no command: the wait for the lock, its start
	to    recipient // while there is one
}

// An effect says what a signal does to this process while there is no command. It is the same as
// for any program (signal(7)).
type effect int

const (
	ends     effect = iota // the process, with 128+n. Delivered from Subscribe on.
	suspends               // the process until SIGCONT. Left to the kernel until a command is started.
	resumes                // a suspended process; has no other effect. Left to the kernel as well.
	nothing                // by default. Left to the kernel as well.
	absorbed               // nothing, though by default it would end the process. Never delivered.
	reserved               // for the kernel, or for the Go runtime. Never delivered.
)

// A recipient gets a signal while there is a command.
type recipient int

const (
	toCommand recipient = iota // the command alone
	toGroup                    // its whole process group, as from a terminal or a supervisor
	toNobody
)

const lastSignal = 64 // SIGRTMAX

// meanings says what each signal means, in this one place. It does not name USR1, USR2, ALRM,
// real-time signals and so on: these end this process if there is no command, and otherwise go to
// the command alone.
//
// Signals ignored on entry stay ignored.
var meanings = [lastSignal + 1]meaning{
	0: {reserved, toNobody}, // no signal

	syscall.SIGTERM: {ends, toGroup},
	syscall.SIGINT:  {ends, toGroup},
	syscall.SIGHUP:  {ends, toGroup},
	syscall.SIGQUIT: {ends, toGroup},

	// Job control. This process stops after its command, and with it. TTIN and TTOU from another
	// process mean the same as TSTP.
	syscall.SIGTSTP:  {suspends, toGroup},
	syscall.SIGTTIN:  {suspends, toGroup},
	syscall.SIGTTOU:  {suspends, toGroup},
	syscall.SIGCONT:  {resumes, toGroup},
	syscall.SIGWINCH: {nothing, toGroup},

	// From this process's own writes: a failed write returns an error and does not end the
	// program.
	syscall.SIGPIPE: {absorbed, toNobody},
	syscall.SIGXFSZ: {absorbed, toNobody},

	syscall.SIGKILL: {reserved, toNobody},
	syscall.SIGSTOP: {reserved, toNobody},
	syscall.SIGCHLD: {reserved, toNobody},
	syscall.SIGURG:  {reserved, toNobody}, // the runtime interrupts its threads with it
	syscall.SIGPROF: {reserved, toNobody},
	33:              {reserved, toNobody}, // SIGSETXID: the runtime ignores it
}

// Signals is a set of signals.
type Signals uint64

// Has reports whether one of sigs is in the set.
func (s Signals) Has(sigs ...syscall.Signal) bool {
	for _, sig := range sigs {
		if sig > 0 && sig <= lastSignal && s&(1<<(sig-1)) != 0 {
			return true
		}
	}
	return false
}

func (s *Signals) add(sig syscall.Signal) { *s |= 1 << (sig - 1) }

func meaningOf(sig os.Signal) meaning {
	if s, ok := sig.(syscall.Signal); ok && s > 0 && s <= lastSignal {
		return meanings[s]
	}
	return meanings[0]
}

// signalsWith returns the signals that have one of effects.
func signalsWith(effects ...effect) (sigs []syscall.Signal) {
	for sig, m := range meanings {
		for _, e := range effects {
			if m.alone == e {
				sigs = append(sigs, syscall.Signal(sig))
			}
		}
	}
	return sigs
}

// Interrupted returns the *SignalError with which sig ends a wait for the lock; nil if sig does
// not end it.
func Interrupted(sig os.Signal) error {
	if meaningOf(sig).alone != ends {
		return nil
	}
	return &SignalError{Signal: sig.(syscall.Signal)}
}
