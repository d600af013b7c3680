package runner

import (
	"fmt"
	"os"
)

// withDescriptors calls f with the descriptors of files. While f runs each number stays with its
// file, even if a file is closed meanwhile. nil stands for this process's own descriptor of its
// index. The error says that a file was closed before, and f was not called.
//
// file.Fd promises none of that, and could turn the open file, which the caller's other processes
// share, into a blocking one.
func withDescriptors(files []*os.File, f func(descriptors []uintptr)) error {
	return pinDescriptors(files, nil, f)
}

// pinDescriptors adds to descriptors, one file inside the other.
func pinDescriptors(files []*os.File, descriptors []uintptr, f func([]uintptr)) error {
	if len(descriptors) == len(files) {
		f(descriptors)
		return nil
	}
	file := files[len(descriptors)]
	if file == nil {
		return pinDescriptors(files, append(descriptors, uintptr(len(descriptors))), f)
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return fmt.Errorf("use %s: %w", file.Name(), err)
	}
	var inner error
	err = raw.Control(func(descriptor uintptr) { inner = pinDescriptors(files, append(descriptors, descriptor), f) })
	if err != nil {
		return fmt.Errorf("use %s: %w", file.Name(), err)
	}
	return inner
}
