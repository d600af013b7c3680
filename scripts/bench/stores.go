//go:build linux

package main

import (
	"os"

	"redlockrun/internal/proof/redistest"
)

// stores is what a run of true costs over each kind of store. Sentinel and
// Cluster have three servers that are asked for the way.
func stores(b *bench) error {
	dir, err := os.MkdirTemp(b.dir, "tls")
	if err != nil {
		return err
	}
	secure, err := redistest.New(dir, redistest.Options{TLS: true})
	if err != nil {
		return err
	}
	defer secure.Close()
	sentinel, err := redistest.NewSentinel(b.dir, redistest.SentinelOptions{Replicas: 1})
	if err != nil {
		return err
	}
	defer sentinel.Close()
	cluster, err := redistest.NewCluster(b.dir, redistest.ClusterOptions{})
	if err != nil {
		return err
	}
	defer cluster.Close()
	r, err := b.contest(b.programs, func(program string) []contender {
		over := func(name, url string, flags ...string) contender {
			argv := append([]string{program, "--key", "bench", "--redis", url}, flags...)
			return contender{name: name, argv: append(argv, "--", "true")}
		}
		return []contender{
			over("redis://", b.server.URL()),
			over("unix://", "unix://"+b.server.Socket()),
			over("rediss://", secure.URL(), "--redis-ca", secure.CA()),
			over("redis+sentinel://", sentinel.URL()),
			over("redis+cluster://", cluster.URL()),
		}
	})
	if err != nil {
		return err
	}
	b.printTimes("redlockrun -- true over each kind of store", r)
	b.atMost("wall time with Sentinel", "x redis://", times(r[3], r[0], wall), 1.5)
	b.atMost("wall time with Cluster", "x redis://", times(r[4], r[0], wall), 1.5)
	return nil
}
