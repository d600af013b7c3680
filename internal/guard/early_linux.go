package guard

import (
	"runtime"
	"syscall"
)

// An Early guard has been executed before anybody asked for it.
type Early struct {
	PID   int
	Pipes Pipes
}

var early *Early

// startEarly executes a guard before the other packages are initialized, if
// this process looks as if it would want one: it then gets ready beside its
// starter. Measured, that takes half a millisecond off each run. A failure is left to
// the one who asks for a guard later.
//
// Until a command is started such a process does one thing after another, so
// one thread at a time is to run Go code: with two, each goroutine that becomes ready
// wakes a thread that looks for work and finds none (docs/start-up.md says what that
// costs). Whoever forks the command lets a second one run.
func startEarly() {
	if !wantsGuard(readFile(0, "/cmdline", make([]byte, 4096))) {
		return
	}
	runtime.GOMAXPROCS(1)
	if syscall.Getpid() == 1 {
		return
	}
	pipes, err := NewPipes()
	if err != nil {
		return
	}
	pid, err := pipes.Execute(nil)
	if err != nil {
		pipes.CloseStarters()
		return
	}
	early = &Early{PID: pid, Pipes: pipes}
}

// wantsGuard reports whether a command line names a key, and not a kind of lock
// whose guard has something to hold. It only has to be right most of the time, but for
// an operator command, which must not start a guard: that is a word as the very first
// argument. One that is a command to be run instead gets its guard later.
func wantsGuard(cmdline []byte) bool {
	_, args := cut(cmdline, 0)
	if !begins(args, "-") {
		return false
	}
	key := false
	for len(args) > 0 {
		var word []byte
		word, args = cut(args, 0)
		switch {
		case string(word) == "--":
			return key
		case begins(word, "--local"):
			return false
		case begins(word, "-k"), begins(word, "--key"):
			key = true
		}
	}
	return key
}

// TakeEarly hands over the guard that was executed early, once; nil if there is none.
func TakeEarly() *Early {
	e := early
	early = nil
	return e
}
