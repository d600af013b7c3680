// Package guard is the tiny process that outlives redlockrun for an instant. It sends SIGKILL to
// the command's process group when its starter has exited, or stands still beyond its deadline.
//
// It is this program executed again. A program that imports the package becomes a guard if it is
// started with [Name] as argv[0] and a pipe on descriptor 3. It does so while its packages are
// initialized, and never reaches main. The package relies on that order: it imports only packages
// that every program needs, so the linker initializes it before nearly all others. A guard needs
// neither the time nor the memory of the rest.
package guard

// Name is the argv[0] of a guard, and its name in ps(1). No pattern for redlockrun matches it:
// "pkill -9 redlockrun" spares the guard.
const Name = "lease-guard"

// SupervisorName is the argv[0] of a supervisor, the other process that this program can become in
// that way. A supervisor is the parent of one shell command that must report to its starter, and
// must not outlive the starter. See [Pipes.Supervise].
const SupervisorName = "lease-password"

// Powerless is the exit status of a guard that may send no signal, not even to itself: a filter of
// system calls forbids kill(2).
const Powerless = 71

// Descriptors of a guard. From FirstKept on it only holds them open.
const (
	Orders    = 3 // the guard reads messages from it; its end of file means that the starter died
	Ready     = 4 // the guard writes one byte to it when it is ready; its end of file means that the guard died
	FirstKept = 5
)
