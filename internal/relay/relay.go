// Package relay takes every signal that the kernel delivers to this process to one
// channel: none is merged with another, none is dropped.
//
// signal.Notify would do neither: it keeps one of each number while the program is
// busy, real-time signals too, which the kernel queues; and it leaves 32 and 34 to a C
// library. Nor can Go code do better without a handler of its own: to leave
// signals in the kernel's queue, as signalfd(2) wants it, every thread would have
// to block them, and the runtime unblocks 32 to 34 in each thread that it starts. So
// there is a handler in assembly for each architecture.
//
// It is also cheaper. The runtime takes 17 us to subscribe to a signal, which
// for all of them is more than a guard costs.
package relay
