package inspect

import (
	"context"
	"fmt"
	"slices"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// Outputs implements lock.Inspector.
func (s *Server) Outputs(ctx context.Context, names []string, most int) (all []lock.JobOutputs, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	v := s.visit(ctx, wire.KeysOf(s.prefix, names[0], "").Output)
	defer v.link.Close()
	if len(names) > 1 && v.source.Address().IsCluster() {
		return v.scatterOutputs(ctx, names, most)
	}
	for some := range slices.Chunk(names, perDeepStep) {
		reply, err := ask(ctx, v, outputsStep, outputKeys(s.prefix, some), most)
		if err == nil && len(reply.jobs) != len(some) {
			err = v.link.Unavailable(errStrange)
		}
		if err != nil {
			return nil, err
		}
		for i, name := range some {
			all = append(all, v.outputs(name, reply.jobs[i]))
		}
	}
	return all, nil
}

// scatterOutputs reads outputs from the nodes of a Cluster.
func (v *visit) scatterOutputs(ctx context.Context, names []string, most int) ([]lock.JobOutputs, error) {
	sets := make([][]string, len(names))
	for i, name := range names {
		sets[i] = outputKeys(v.prefix, []string{name})
	}
	all := make([]lock.JobOutputs, len(names))
	errs := v.persistEach(ctx, len(names), func(ctx context.Context, pending []int, errs []error) (refused bool) {
		replies, failed := outputsStep.EvalEach(ctx, v.source.Fresh(ctx), v.Draw, chosen(sets, pending), most)
		for n, i := range pending {
			errs[i] = failed[n]
			if errs[i] == nil && len(replies[n].jobs) != 1 {
				errs[i] = link.Unavailable(v.source.Address(), errStrange)
			} else if errs[i] == nil {
				all[i] = v.outputs(names[i], replies[n].jobs[0])
			}
		}
		return false
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return all, v.silentNodes(errs, func(i int, why error) {
		all[i] = lock.JobOutputs{Name: names[i], Unread: []string{"the output: " + why.Error()}, Err: errs[i]}
	})
}

func outputKeys(prefix string, names []string) (keys []string) {
	for _, name := range names {
		keys = append(keys, wire.KeysOf(prefix, name, "").Output)
	}
	return keys
}

// outputs are what a reply says of a job.
func (v *visit) outputs(name string, o outputsOfJob) lock.JobOutputs {
	j := lock.JobOutputs{Name: name}
	switch o.code {
	case 0:
		j.Unread = []string{"the output: the key is of another type"}
		j.Err = &lock.NotLockError{Key: wire.KeysOf(v.prefix, name, "").Output, What: "of another type",
			Wanted: "the list of what a job's runs printed"}
	case -1:
		j.Unread = []string{"the output: " + explainRefusal("LRANGE", o.texts[0])}
		j.Err = link.Unavailable(v.source.Address(), link.ReadRefusal(o.texts[0]))
	default:
		var strange int
		if j.Outputs, strange = wire.ReadOutputs(o.texts); strange > 0 {
			j.Unread = []string{fmt.Sprintf("the output: redlockrun did not write %d of the entries", strange)}
		}
	}
	return j
}
