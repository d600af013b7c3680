package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/output"
	"redlockrun/internal/runner"
)

const (
	// keepLimit bounds what it costs to keep the output: it is nice to have.
	keepLimit = time.Second

	// holdersLimit bounds the search for processes that were left behind.
	holdersLimit = 100 * time.Millisecond
)

// An Output is what the command prints, if the end of it is to be kept. The zero value is the command's own
// descriptors.
// One goroutine calls its methods, but for Between.
type Output struct {
	tap  atomic.Pointer[output.Tap]
	left bool // a process that outlives the command still has it open
}

// open puts pipes and the like in the place of stdout and stderr, from which at most size bytes are kept.
func (o *Output) open(size int) error {
	tap, err := output.New(nil, nil, size)
	if err != nil {
		return err
	}
	o.tap.Store(tap)
	return nil
}

// begin has the command use it, right before its start. What was printed before is not kept.
func (o *Output) begin(c *runner.Command) {
	if tap := o.tap.Load(); tap != nil {
		tap.Begin()
		c.Stdout, c.Stderr, c.Copied = tap.Stdout(), tap.Stderr(), tap.Threads()
	}
}

// end reads what the last command has left in it.
func (o *Output) end() {
	if tap := o.tap.Load(); tap != nil {
		o.left = tap.End()
	}
}

// Between calls write, which writes a message to stderr, between two lines of the command.
func (o *Output) Between(write func()) {
	if tap := o.tap.Load(); tap != nil {
		tap.Insert(write)
		return
	}
	write()
}

// Flush writes what is left to the original streams. It waits for their readers as the command would have waited, until
// a signal ends that.
func (o *Output) Flush(signals <-chan os.Signal) {
	tap := o.tap.Load()
	if tap == nil {
		return
	}
	_, _ = interrupt.Run(signals, func(ctx context.Context) (struct{}, error) { return struct{}{}, tap.Flush(ctx) })
}

// holders are the processes that will get SIGPIPE when they next print.
func (o *Output) holders() []int {
	if !o.left {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), holdersLimit)
	defer cancel()
	return o.tap.Load().Holders(ctx)
}

// tapOutput has what the command prints kept, if that is wanted. Without it the run goes on.
func (s *session) tapOutput() {
	if s.config.KeepOutput == 0 {
		return
	}
	if err := s.Output.open(s.config.KeepOutput); err != nil {
		s.Warn(console.EventUnkept, fmt.Sprintf("cannot keep the command's output: %v", err))
	}
}

// keepsOutput reports whether what the command printed is kept of a run that has ended so.
func (s *session) keepsOutput(end lock.EndKind) bool {
	return s.Output.tap.Load() != nil && end != "" && end != lock.EndOk
}

// keepOutput keeps the end of what the command printed. It tries once: there is more to a run than this.
func (s *session) keepOutput(lease lock.Lease, result lock.RunResult) {
	err := within(keepLimit, func() error {
		keeper, ok := lease.(lock.OutputKeeper)
		if !ok {
			return errors.New("the store cannot keep output")
		}
		ctx, cancel := context.WithTimeout(context.Background(), keepLimit)
		defer cancel()
		tail := s.Output.tap.Load().Tail()
		return errors.Join(tail.Err, keeper.KeepOutput(ctx, lock.Output{
			End: result.End, Status: result.Status, Attempt: result.Attempts, Total: tail.Total, Tail: tail.Text,
		}))
	})
	if err != nil {
		text := fmt.Sprintf("cannot keep the command's output: %v (%s)", err, s.about.Where())
		s.Console.Say(console.Message{Level: console.Debug, Event: console.EventUnkept, Text: text})
	}
}

// sayLeft says which processes outlive the command.
func (s *session) sayLeft(processes int) {
	pids := s.Output.holders()
	var texts []string
	fields := []console.Field{}
	if processes > 0 {
		texts, fields = append(texts, leftBehind(processes)),
			append(fields, console.Field{Name: "processes", Value: processes})
	}
	if len(pids) > 0 {
		texts, fields = append(texts, cutOff(pids)), append(fields, console.Field{Name: "pids", Value: pids})
	}
	if len(texts) > 0 {
		s.Warn(console.EventLeft, strings.Join(texts, "; "), fields...)
	}
}

// cutOff says which processes cannot print any more.
func cutOff(pids []int) string {
	if len(pids) == 1 {
		return fmt.Sprintf("process %d gets SIGPIPE when it next prints: redirect its output", pids[0])
	}
	var names []string
	for _, pid := range pids {
		names = append(names, strconv.Itoa(pid))
	}
	return fmt.Sprintf("processes %s get SIGPIPE when they next print: redirect their output",
		strings.Join(names, ", "))
}
