package runner

import (
	"os"
	"syscall"
)

// A meaning is what becomes of a signal that is delivered to this process.
type meaning struct {
	alone effect    // while there is no command: the wait for the lock, its start
	to    recipient // while there is one
}

// An effect is what a signal does to this process while there is no command. It is what
// the signal does to any program (signal(7)).
type effect int

const (
	ends     effect = iota // the process, with 128+n. Delivered from Subscribe on.
	suspends               // the process until SIGCONT. Left to the kernel until a command is started.
	resumes                // what has been suspended; nothing else. Left to the kernel as well.
	nothing                // by default. Left to the kernel as well.
	absorbed               // nothing, though by default it would end the process. Never delivered.
	reserved               // for the kernel, or for the Go runtime. Never delivered.
)

// A recipient is who gets a signal while there is a command.
type recipient int

const (
	toCommand recipient = iota // it alone
	toGroup                    // its whole process group, as from a terminal or a supervisor
	toNobody
)

const lastSignal = 64 // SIGRTMAX

// meanings says what each signal means: here and nowhere else. All that it does not
// name (USR1, USR2, ALRM, the real-time ones and so on) end this process if there is no
// command, and go to the command alone if there is one.
//
// What was ignored on entry is ignored before it could mean anything.
var meanings = [lastSignal + 1]meaning{
	0: {reserved, toNobody}, // no signal

	syscall.SIGTERM: {ends, toGroup},
	syscall.SIGINT:  {ends, toGroup},
	syscall.SIGHUP:  {ends, toGroup},
	syscall.SIGQUIT: {ends, toGroup},

	// Job control. This process stops after its command has, and with it; TTIN and TTOU
	// mean the same as TSTP when somebody has sent them.
	syscall.SIGTSTP:  {suspends, toGroup},
	syscall.SIGTTIN:  {suspends, toGroup},
	syscall.SIGTTOU:  {suspends, toGroup},
	syscall.SIGCONT:  {resumes, toGroup},
	syscall.SIGWINCH: {nothing, toGroup},

	// Of this process's own writes: one that fails is to fail, not to end the program.
	syscall.SIGPIPE: {absorbed, toNobody},
	syscall.SIGXFSZ: {absorbed, toNobody},

	syscall.SIGKILL: {reserved, toNobody},
	syscall.SIGSTOP: {reserved, toNobody},
	syscall.SIGCHLD: {reserved, toNobody},
	syscall.SIGURG:  {reserved, toNobody}, // the runtime interrupts its threads with it
	syscall.SIGPROF: {reserved, toNobody},
	33:              {reserved, toNobody}, // SIGSETXID: the runtime ignores it
}

// Signals is a set of them.
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

// signalsWith are the signals that have one of effects.
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

// Interrupted is the *SignalError with which sig ends a wait for the lock; nil if it
// is one that does not.
func Interrupted(sig os.Signal) error {
	if meaningOf(sig).alone != ends {
		return nil
	}
	return &SignalError{Signal: sig.(syscall.Signal)}
}
