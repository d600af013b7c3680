//go:build linux

package nemesis

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A start is one start of a job: what its process wrote of itself.
type start struct {
	number  int // of the run
	run     string
	fence   int64
	attempt int
	pid     int
	slot    string
	began   instant
	alive   instant // when it last said that it lived
	ended   bool    // by itself, with code
	code    int
	beside  int // the number of a run whose job lived when this one began; 0: none
}

// A gap is a time in which the machine let nobody run.
type gap struct {
	end  instant
	long time.Duration
}

// A journal is what all jobs and the watcher write, read while they do.
type journal struct {
	path string
	file *os.File
	rest []byte // a line that is not complete yet

	mu     sync.Mutex
	starts map[int][]*start // by the number of the run, in their order
	latest []*start         // in the order in which they came
	gaps   []gap
	wrong  []string // lines that nobody can read
}

func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	return &journal{path: path, file: file, starts: map[int][]*start{}}, err
}

// read takes in what has been written since the last time.
func (j *journal) read() error {
	text, err := io.ReadAll(j.file)
	j.rest = append(j.rest, text...)
	for {
		line, rest, whole := bytes.Cut(j.rest, []byte("\n"))
		if !whole {
			return err
		}
		j.take(string(line))
		j.rest = rest
	}
}

func (j *journal) take(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.enter(line); err != nil {
		j.wrong = append(j.wrong, fmt.Sprintf("%q: %v", line, err))
	}
}

func (j *journal) enter(line string) error {
	what, words, _ := strings.Cut(line, " ")
	switch what {
	case "begin":
		s := new(start)
		_, err := fmt.Sscanf(words, "%d %d %s %d %d %d %d %q", &s.number, &s.began, &s.run, &s.fence, &s.attempt,
			&s.pid, &s.beside, &s.slot)
		s.alive = s.began
		j.starts[s.number], j.latest = append(j.starts[s.number], s), append(j.latest, s)
		return err
	case "late":
		var g gap
		_, err := fmt.Sscan(words, &g.end, &g.long)
		j.gaps = append(j.gaps, g)
		return err
	}
	var number, code int
	var at instant
	if n, err := fmt.Sscan(words, &number, &at, &code); n < 2 {
		return err
	}
	all := j.starts[number]
	if len(all) == 0 {
		return fmt.Errorf("it never began")
	}
	last := all[len(all)-1]
	last.alive = max(last.alive, at)
	if what == "end" {
		last.ended, last.code = true, code
	}
	return nil
}

// running are the jobs that have begun and not said that they ended.
func (j *journal) running() (some []start) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range slices.Backward(j.latest) {
		if len(some) == 20 || now().sub(s.began) > time.Minute {
			break
		}
		if !s.ended && now().sub(s.alive) < 5*beat {
			some = append(some, *s)
		}
	}
	return some
}

// last is the latest start of a run's job; nil: it has not begun.
func (j *journal) last(number int) *start {
	j.mu.Lock()
	defer j.mu.Unlock()
	if all := j.starts[number]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// follow reads until over is closed, and then what is left.
func (j *journal) follow(over <-chan struct{}) error {
	for {
		if err := j.read(); err != nil {
			return err
		}
		select {
		case <-over:
			return j.read()
		case <-time.After(beat):
		}
	}
}
