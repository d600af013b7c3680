package footprint

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Shrink releases the pages of the program's own file, most of which only the start has needed. A
// page fault brings back those that are needed again. An error says that they stay, which costs
// only memory.
//
// It releases only pages that equal the file: those of a mapping that cannot be written, and in
// which no page ever was written. (A position-independent program has other mappings, which the
// loader writes and then protects.) See madvise(2), MADV_DONTNEED, and proc_pid_smaps(5).
func Shrink() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("find program: %w", err)
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("read mappings: %w", err)
	}
	for _, m := range mappings(string(smaps)) {
		if m.file != program || m.writable || m.written {
			continue
		}
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("let go of pages: %w", errno)
		}
	}
	return nil
}

// A mapping holds what smaps says of one mapping.
type mapping struct {
	start, end uintptr
	file       string // "" if there is none
	writable   bool
	written    bool // pages of it differ from the file, or may differ
	resident   int  // KiB
}

// mappings reads the text of smaps. Each mapping begins with a line of addresses, rights, offset,
// device, inode and file, and goes on with lines of a name and a size.
func mappings(smaps string) []mapping {
	var all []mapping
	var clean int // lines of the last mapping that report no written pages
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		if m, ok := begin(fields, line); ok {
			all, clean = append(all, m), 0
			continue
		}
		if len(all) == 0 || len(fields) < 2 {
			continue
		}
		last := &all[len(all)-1]
		switch fields[0] {
		case "Rss:":
			last.resident, _ = strconv.Atoi(fields[1])
		case "Anonymous:", "Swap:":
			if fields[1] == "0" {
				clean++
			}
			last.written = clean < 2
		}
	}
	return all
}

func begin(fields []string, line string) (m mapping, ok bool) {
	if len(fields) < 5 || len(fields[1]) != 4 {
		return m, false
	}
	from, to, ok := strings.Cut(fields[0], "-")
	start, err1 := strconv.ParseUint(from, 16, strconv.IntSize)
	end, err2 := strconv.ParseUint(to, 16, strconv.IntSize)
	if !ok || err1 != nil || err2 != nil {
		return m, false
	}
	m = mapping{start: uintptr(start), end: uintptr(end), writable: fields[1][1] != '-', written: true}
	if at := strings.IndexByte(line, '/'); at >= 0 {
		m.file = strings.TrimSuffix(line[at:], "\n")
	}
	return m, true
}
