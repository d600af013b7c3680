// Package inspect reads the jobs whose locks are in one Redis, wherever a link finds it. It writes
// nothing. It takes no text for well-formed: any client may have written it.
package inspect

import (
	"context"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

const (
	// perStep is how many jobs are read in one step: others have their turn in between.
	perStep = 50

	// perDeepStep is how many are, if the runs of each are read, too.
	perDeepStep = 10

	// shown is how many of the waiters and of the last runs are read of one job.
	shown = 100
)

// A Server reads jobs. It implements lock.Inspector.
type Server struct {
	source *link.Source
	prefix string
	lock.Inspection
}

// New returns a reader of the jobs of a source. It asks no server yet.
func New(src *link.Source, prefix string, i lock.Inspection) *Server {
	i.Complete()
	return &Server{source: src, prefix: prefix, Inspection: i}
}

// Address names the place for messages, without user and password.
func (s *Server) Address() string { return s.source.Address().String() }

// A visit is one reading. It reads the files of its source again, and has connections of its
// own, so that a master that Sentinel has replaced is not asked.
type visit struct {
	*Server
	link   *link.Link
	barred map[string]string // the commands that the server refuses, and why
}

// visit asks the server that has a key.
func (s *Server) visit(ctx context.Context, key string) *visit {
	return &visit{Server: s, link: s.source.Fresh(ctx).Link(context.Background(), key, nil, s.Draw),
		barred: map[string]string{}}
}

// Jobs implements lock.Inspector.
func (s *Server) Jobs(ctx context.Context, names []string) ([]lock.Job, error) {
	return s.visit(ctx, "").jobs(ctx, names, 0)
}

// JobsWithRuns implements lock.Inspector.
func (s *Server) JobsWithRuns(ctx context.Context, names []string) ([]lock.Job, error) {
	return s.visit(ctx, "").jobs(ctx, names, shown)
}

// Job implements lock.Inspector.
func (s *Server) Job(ctx context.Context, name string) (lock.Job, error) {
	jobs, err := s.visit(ctx, wire.KeysOf(s.prefix, name, "").Lock).jobs(ctx, []string{name}, shown)
	if err != nil {
		return lock.Job{}, err
	}
	return jobs[0], nil
}

// jobs ends the visit.
func (v *visit) jobs(ctx context.Context, names []string, depth int) (jobs []lock.Job, err error) {
	defer v.link.Close()
	if v.source.Address().IsCluster() {
		return v.scatter(ctx, names, depth)
	}
	most := perStep
	if depth > 0 {
		most = perDeepStep
	}
	for len(names) > 0 {
		some := names[:min(most, len(names))]
		names = names[len(some):]
		read, err := v.step(ctx, some, depth)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, read...)
	}
	return jobs, nil
}

// step reads some jobs in one step, once more without each command that is refused.
func (v *visit) step(ctx context.Context, names []string, depth int) ([]lock.Job, error) {
	for {
		reply, err := ask(ctx, v, jobsStep, keysOf(v.prefix, names), jobsArgs(depth, v.barred)...)
		switch _, again := v.barred[reply.command]; {
		case err != nil:
			return nil, err
		case reply.command != "" && !again:
			v.barred[reply.command] = refusal(reply)
		case len(reply.jobs) != len(names):
			return nil, v.link.Unavailable(errStrange)
		default:
			return read(names, reply, v.barred), nil
		}
	}
}

// read returns the jobs of these names from a reply.
func read(names []string, reply jobsReply, barred map[string]string) (jobs []lock.Job) {
	for i, name := range names {
		jobs = append(jobs, reply.jobs[i].job(name, reply.now, barred))
	}
	return jobs
}

// keysOf are the keys of some locks as the step about jobs wants them.
func keysOf(prefix string, names []string) (keys []string) {
	for _, name := range names {
		k := wire.KeysOf(prefix, name, "")
		keys = append(keys, k.Lock, k.Fence, k.Paused, k.Resumed, k.Slots, k.Job, k.Runs, k.Queue, k.Waiters)
	}
	return keys
}

// jobsArgs are the arguments of the step about jobs.
func jobsArgs(depth int, barred map[string]string) []any {
	fields := wire.LedgerFields()
	args := []any{depth, len(fields)}
	for _, field := range fields {
		args = append(args, field)
	}
	for command := range barred {
		args = append(args, command)
	}
	return args
}

// ask has a step made, and tries again within the timeout where there is no answer. Its
// error is a *lock.UnavailableError, or the cause of ctx.
func ask[R any](ctx context.Context, v *visit, step link.Script[R], keys []string, args ...any) (R, error) {
	reply, _, err := step.Persist(ctx, v.link, lock.RetryPolicy{Total: v.Timeout, Draw: v.Draw}, keys, args...)
	return reply, err
}
