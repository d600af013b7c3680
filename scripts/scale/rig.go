//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"redlockrun/internal/proof/redistest"
)

// A rig is some servers, and the load on them.
type rig struct {
	*scale
	url       string
	servers   []*redistest.Server // masters of a Cluster, or one
	loads     []*loader
	processes []*exec.Cmd // real redlockruns

	holders, waiters int // how many there are
	lines            int // of ten
	running          int // of the holders: real redlockruns
	parked           int // of the waiters: real redlockruns
}

// A loader is a process that makes load.
type loader struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	to    *json.Encoder
	from  *json.Decoder
	lines int
}

// loaders is how many processes share the load: none has more descriptors than one may have.
const loaders = 2

// rig starts a server with these arguments, and who makes the load.
func (s *scale) rig(args ...string) (*rig, error) {
	dir, err := os.MkdirTemp(s.dir, "server")
	if err != nil {
		return nil, err
	}
	server, err := redistest.New(dir, redistest.Options{Args: args})
	if err != nil {
		return nil, err
	}
	return s.rigOn(server.URL(), server)
}

func (s *scale) rigOn(url string, servers ...*redistest.Server) (*rig, error) {
	r := &rig{scale: s, url: url, servers: servers}
	for range loaders {
		l, err := newLoader(url)
		if err != nil {
			r.close()
			return nil, err
		}
		r.loads = append(r.loads, l)
	}
	return r, nil
}

func newLoader(url string) (*loader, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	l := &loader{cmd: bound(self, "-load", url)}
	l.cmd.Stderr = os.Stderr
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	l.to, l.from = json.NewEncoder(l.in), json.NewDecoder(out)
	return l, l.cmd.Start()
}

// bound is a command that dies with this process.
func bound(argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return cmd
}

// order tells one what to do, and returns when that is done.
func (l *loader) order(o order) (a answer, err error) {
	if err := l.to.Encode(o); err != nil {
		return a, err
	}
	if err := l.from.Decode(&a); err != nil {
		return a, fmt.Errorf("a process that makes load has ended: %w", err)
	}
	if a.Err != "" {
		return a, errors.New(a.Err)
	}
	return a, nil
}

// all tells each what to do, at once, and adds up what they answer.
func (r *rig) all(orders ...order) (sum answer, err error) {
	answers, errs := make([]answer, len(r.loads)), make([]error, len(r.loads))
	done := make(chan struct{})
	for i, l := range r.loads {
		go func() {
			answers[i], errs[i] = l.order(orders[i%len(orders)])
			done <- struct{}{}
		}()
	}
	for range r.loads {
		<-done
	}
	for _, a := range answers {
		sum.add(a)
	}
	return sum, errors.Join(errs...)
}

func (a *answer) add(b answer) {
	a.Renewals, a.Failed, a.Lost, a.Held = a.Renewals+b.Renewals, a.Failed+b.Failed, a.Lost+b.Lost, a.Held+b.Held
	a.Took, a.Renewing, a.Acquiring = append(a.Took, b.Took...), append(a.Renewing, b.Renewing...),
		append(a.Acquiring, b.Acquiring...)
}

func (r *rig) tell() (answer, error) { return r.all(order{Do: "tell"}) }

// close ends the load and then the servers.
func (r *rig) close() {
	for _, l := range r.loads {
		l.in.Close()
		l.cmd.Process.Kill()
		l.cmd.Wait()
	}
	for _, cmd := range r.processes {
		cmd.Process.Signal(syscall.SIGTERM)
	}
	for _, cmd := range r.processes {
		cmd.Wait()
	}
	for _, server := range r.servers {
		server.Close()
	}
}

const (
	minute    = time.Minute // the default ttl
	lineDepth = 10          // of the lines that are not the long one
	processes = 400         // at most, of the holders; and of the waiters a quarter of that
)

// grow makes so many hold and wait: of those who wait, half in one line, the others in lines of ten.
func (r *rig) grow(holders, waiters int) (err error) {
	if r.lines == 0 {
		if _, err = r.loads[0].order(order{Do: "line", Count: 1, TTL: minute}); err != nil {
			return err
		}
		r.lines, r.loads[0].lines = 1, 1
	}
	return errors.Join(r.run(min(holders/5, processes), min(waiters/4, processes/4)), r.form(waiters),
		r.lengthen(waiters), r.hold(holders))
}

// hold adds holders of free locks.
func (r *rig) hold(holders int) error {
	more := holders - r.running - r.lines - r.holders
	each := more / len(r.loads)
	_, err := r.all(
		order{Do: "hold", First: r.holders, Count: each, TTL: minute},
		order{Do: "hold", First: r.holders + each, Count: more - each, TTL: minute})
	r.holders += more
	return err
}

// form adds lines of ten, and lengthen makes the one that is long longer.
func (r *rig) form(waiters int) error {
	more := waiters/2/lineDepth + 1 - r.lines
	each := more / len(r.loads)
	first, second := order{Do: "line", First: r.lines, Count: each, Depth: lineDepth, TTL: minute},
		order{Do: "line", First: r.lines + each, Count: more - each, Depth: lineDepth, TTL: minute}
	_, err := r.all(first, second)
	r.lines += more
	r.loads[0].lines += first.Count
	r.loads[1].lines += second.Count
	r.waiters += more * lineDepth
	return err
}

func (r *rig) lengthen(waiters int) error {
	more := waiters - r.parked - r.waiters
	_, err := r.loads[0].order(order{Do: "lengthen", Depth: more})
	r.waiters += more
	return err
}

// run adds real redlockruns that hold, and some that wait.
func (r *rig) run(holders, waiters int) error {
	for ; r.running < holders; r.running++ {
		if err := r.start(fmt.Sprintf("process-%03d", r.running), "--", "sleep", "100000"); err != nil {
			return err
		}
	}
	for ; r.parked < waiters; r.parked++ {
		if err := r.start("process-000", "--wait", "forever", "--", "true"); err != nil {
			return err
		}
	}
	return r.begun()
}

// start starts one, a few at a time.
func (r *rig) start(key string, rest ...string) error {
	cmd := bound(append([]string{r.program, "--key", key, "--redis", r.url}, rest...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	r.processes = append(r.processes, cmd)
	if len(r.processes)%8 == 0 {
		return r.begun()
	}
	return nil
}

// begun waits until all that were started hold or wait.
func (r *rig) begun() error {
	want := len(r.processes)
	return redistest.Eventually(func() error {
		held, waiting := 0, int64(0)
		for _, s := range r.servers {
			names, err := s.Do("EVAL", "return redis.call('KEYS', ARGV[1])", 0, "redlockrun:{process-*}")
			if err != nil {
				return err
			}
			list, _ := names.([]any)
			held += len(list)
			n, _ := s.Do("ZCARD", "redlockrun:{process-000}:queue")
			count, _ := n.(int64)
			waiting += count
		}
		if held+int(waiting) < want {
			return fmt.Errorf("%d hold and %d wait of %d redlockruns", held, waiting, want)
		}
		return nil
	})
}

// connections are the clients of all servers.
func (r *rig) connections() (n int) {
	for _, s := range r.servers {
		n += int(info(s, "clients", "connected_clients:"))
	}
	return n
}

// info is a number of INFO.
func info(s *redistest.Server, section, field string) float64 {
	reply, _ := s.Do("INFO", section)
	text, _ := reply.(string)
	return numberIn(text, field)
}
