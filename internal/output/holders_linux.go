package output

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// holders looks through the descriptors of all other processes.
func holders(ctx context.Context, pipes []*pipe) (pids []int) {
	var names []string
	for _, p := range pipes {
		if p.left {
			names = append(names, fmt.Sprintf("pipe:[%d]", p.inode))
		}
	}
	if len(names) == 0 {
		return nil
	}
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, process := range processes {
		pid, err := strconv.Atoi(process.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		if hasOpen(filepath.Join("/proc", process.Name(), "fd"), names) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// hasOpen reports whether a directory of descriptors has one of names.
func hasOpen(dir string, names []string) bool {
	open, err := os.ReadDir(dir)
	if err != nil {
		return false // it is another user's, or it has ended
	}
	return slices.ContainsFunc(open, func(descriptor os.DirEntry) bool {
		name, err := os.Readlink(filepath.Join(dir, descriptor.Name()))
		return err == nil && slices.Contains(names, name)
	})
}
