package runner

import (
	"fmt"
	"os"
)

// withNumbers calls f with the descriptors of files. While it runs they stay what
// they are: should somebody close a file meanwhile, its number goes to no other one.
// nil is this process's own descriptor of its index. An error says that a file had
// been closed before, and that f was not called.
//
// file.Fd would promise nothing of that, and could turn the open file, which the
// caller's other processes share, into a blocking one.
func withNumbers(files []*os.File, f func(numbers []uintptr)) error { return pin(files, nil, f) }

// pin adds to numbers, one file in the other.
func pin(files []*os.File, numbers []uintptr, f func([]uintptr)) error {
	if len(numbers) == len(files) {
		f(numbers)
		return nil
	}
	file := files[len(numbers)]
	if file == nil {
		return pin(files, append(numbers, uintptr(len(numbers))), f)
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return fmt.Errorf("use %s: %w", file.Name(), err)
	}
	var inner error
	err = raw.Control(func(number uintptr) { inner = pin(files, append(numbers, number), f) })
	if err != nil {
		return fmt.Errorf("use %s: %w", file.Name(), err)
	}
	return inner
}
