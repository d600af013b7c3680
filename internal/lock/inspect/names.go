package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// mostNames bounds how many names are read.
const mostNames = 100_000

// Names implements lock.Inspector.
func (s *Server) Names(ctx context.Context, scan bool) ([]string, error) {
	names := nameSet{}
	if err := s.listed(ctx, names); err != nil {
		return nil, err
	}
	if scan {
		if err := s.scanned(ctx, names); err != nil {
			return nil, err
		}
	}
	return names.sorted(), nil
}

// A nameSet is the names that have been found.
type nameSet map[string]bool

func (n nameSet) add(lockName string) {
	if name, _ := lock.SplitPart(lockName); name != "" && len(name) <= wire.MaxName {
		n[lockName] = true
	}
}

func (n nameSet) sorted() []string {
	names := make([]string, 0, len(n))
	for name := range n {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// listed adds the names in the ledger's list.
func (s *Server) listed(ctx context.Context, names nameSet) error {
	key := wire.KeysOf(s.prefix, "", "").Jobs
	v := s.visit(ctx, key)
	defer v.link.Close()
	return v.pieces(ctx, key, namesStep, []string{key}, nil, func(texts []string) {
		for _, name := range texts {
			names.add(name)
		}
	}, names)
}

// scanned adds the names of the locks in the keyspace, of each master of a Cluster.
func (s *Server) scanned(ctx context.Context, names nameSet) error {
	limited, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	links, err := s.source.Fresh(ctx).Masters(limited, s.Draw)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	for _, l := range links {
		v := &visit{Server: s, link: l}
		if err == nil {
			err = v.pieces(ctx, "the keyspace", scanStep, nil, []any{pattern(s.prefix)}, func(texts []string) {
				for _, key := range texts {
					names.add(wire.NameOf(s.prefix, key))
				}
			}, names)
		}
		l.Close()
	}
	return err
}

// pieces reads something piece by piece.
func (v *visit) pieces(ctx context.Context, key string, step link.Script[namesReply], keys []string, args []any,
	add func([]string), names nameSet) error {
	for cursor := "0"; ; {
		reply, err := ask(ctx, v, step, keys, append([]any{cursor}, args...)...)
		if err != nil {
			return err
		}
		if reply.wrong {
			return &lock.NotLockError{Key: key, What: "of another type", Wanted: "the set of the jobs' names"}
		}
		if add(reply.texts); len(names) > mostNames {
			return &lock.NotLockError{Key: key, What: fmt.Sprintf("a set of more than %d names", mostNames),
				Wanted: "one of jobs"}
		}
		if cursor = reply.cursor; cursor == "0" {
			return nil
		}
	}
}

// pattern returns SCAN's pattern for the keys of all locks.
func pattern(prefix string) string {
	var b strings.Builder
	for i := range len(prefix) {
		if strings.IndexByte(`*?[]\^-`, prefix[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(prefix[i])
	}
	return b.String() + "{*}*"
}
