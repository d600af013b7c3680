// Package guard is the tiny process that outlives redlockrun for an instant:
// it sends SIGKILL to the command's process group when the process that
// started it is gone, or stands still beyond its deadline.
//
// It is this program executed again. A program that imports the package and is
// started with [Name] as argv[0] and a pipe on descriptor 3 becomes a guard
// while its packages are initialized, and never reaches main. That order is
// the point of the package: it imports only what everything needs, so the linker initializes
// it before nearly everything else, and a guard needs neither the time nor the
// memory of the rest.
package guard

// Name is the argv[0] of a guard, and its name in ps(1). It is none that a pattern
// for redlockrun finds: "pkill -9 redlockrun" leaves the guard its work.
const Name = "lease-guard"

// SupervisorName is the argv[0] of a supervisor, the other thing that this program can become
// in that way: the parent of one shell command that its starter wants to hear of, and that
// does not outlive the starter. See [Pipes.Supervise].
const SupervisorName = "lease-password"

// Powerless is the exit status of a guard that may send no signal, not even to itself: a filter
// of system calls forbids kill(2).
const Powerless = 71

// Descriptors of a guard. From FirstKept on come those that it only holds open.
const (
	Orders    = 3 // messages are read from it; its end of file is the death of the starter
	Ready     = 4 // one byte is written to it when the guard is on watch; its end of file is the guard's death
	FirstKept = 5
)
