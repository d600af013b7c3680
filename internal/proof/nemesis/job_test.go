//go:build linux

package nemesis

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// roleVar makes of the test's own program a job, or the watcher.
const roleVar = "REDLOCKRUN_NEMESIS_ROLE"

const (
	jobRole   = "job"
	watchRole = "watch"
)

func play(args []string) {
	if os.Getenv(roleVar) == watchRole {
		watch(args[0])
	}
	work(args)
}

// beat is how often a job says that it lives.
const beat = 10 * time.Millisecond

// A task is what a job is told by its command line.
type task struct {
	log         string // which all jobs append to, a line in one write
	witness     string // a file of its lock, which the kernel lets one job alone have
	number      int    // of its run
	length      time.Duration
	codes       string // the status of each start, with commas between; the last is that of all later ones
	ignoresTERM bool   // to SIGTERM
}

func (k task) words() []string {
	return []string{k.log, k.witness, strconv.Itoa(k.number), k.length.String(), k.codes,
		strconv.FormatBool(k.ignoresTERM)}
}

func taskOf(words []string) (k task, err error) {
	if len(words) != 6 {
		return k, fmt.Errorf("%d words", len(words))
	}
	k = task{log: words[0], witness: words[1], codes: words[4]}
	var errs [3]error
	k.number, errs[0] = strconv.Atoi(words[2])
	k.length, errs[1] = time.ParseDuration(words[3])
	k.ignoresTERM, errs[2] = strconv.ParseBool(words[5])
	return k, errors.Join(errs[:]...)
}

// work is a job: it says when it began, that it lives, and when it ended. The kernel's lock on
// the witness is given up only when the process is no more: whoever does not get it runs beside
// another.
func work(words []string) {
	began := now()
	k, err := taskOf(words)
	if err != nil {
		fail(err)
	}
	if k.ignoresTERM {
		signal.Ignore(syscall.SIGTERM)
	}
	log := appending(k.log)
	beside := k.clash()
	attempt, _ := strconv.Atoi(os.Getenv("REDLOCKRUN_ATTEMPT"))
	say(log, "begin %d %d %s %s %d %d %d %q", k.number, began, os.Getenv("REDLOCKRUN_RUN_ID"),
		os.Getenv("REDLOCKRUN_FENCE"),
		attempt, os.Getpid(), beside, os.Getenv("REDLOCKRUN_SLOT"))
	for end := began.plus(k.length); now() < end; {
		<-time.After(min(beat, end.sub(now())))
		say(log, "beat %d %d", k.number, now())
	}
	codes := strings.Split(k.codes, ",")
	code, _ := strconv.Atoi(codes[min(max(attempt, 1), len(codes))-1])
	say(log, "end %d %d %d", k.number, now(), code)
	os.Exit(code)
}

// clash is the number of the run whose job lives beside this one; 0: none does.
func (k task) clash() int {
	file, err := os.OpenFile(k.witness, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		fail(err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		text := make([]byte, 12)
		n, _ := file.ReadAt(text, 0)
		other, _ := strconv.Atoi(strings.TrimSpace(string(text[:n])))
		return max(other, 1)
	}
	witnesses = append(witnesses, file)
	if _, err := file.WriteAt(fmt.Appendf(nil, "%-12d", k.number), 0); err != nil {
		fail(err)
	}
	return 0
}

// witnesses are open for as long as the process lives.
var witnesses []*os.File

func appending(path string) *os.File {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		fail(err)
	}
	return file
}

func say(log *os.File, format string, args ...any) {
	if _, err := log.Write(fmt.Appendf(nil, format+"\n", args...)); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "nemesis job:", err)
	os.Exit(99)
}

// watch measures how late this machine lets a process be that wants to run each few
// milliseconds: what it does to one it does to all.
func watch(path string) {
	const nap = 5 * time.Millisecond
	log := appending(path)
	for before := now(); ; {
		ts := unix.NsecToTimespec(int64(nap))
		_ = unix.Nanosleep(&ts, nil)
		after := now()
		if late := after.sub(before) - nap; late > 20*time.Millisecond {
			say(log, "late %d %d", after, late)
		}
		before = after
	}
}
