// Package relay sends every signal that the kernel delivers to this process to one channel. It
// merges and drops none.
//
// signal.Notify does both. It keeps one signal of each number while the program is busy, even for
// real-time signals, which the kernel queues. It leaves 32 and 34 to a C library. Go code needs a
// handler of its own for more. With signalfd(2) every thread would have to block the signals, and
// the runtime unblocks 32 to 34 in each thread that it starts. So there is a handler in assembly
// for each architecture.
//
// It is also cheaper. The runtime takes 17 us to subscribe to a signal, which for all of them is
// more than a guard costs.
package relay
