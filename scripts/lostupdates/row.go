//go:build linux

package main

import "path/filepath"

// ttl is of every lock that has one.
const (
	ttlSeconds = "2"
	ttlMillis  = "2000"
)

// A row is one way to let one job run at a time.
type row struct {
	name    string // by which it is asked for
	title   string // in the table
	line    string // its command line, in the table
	store   kind
	build   string               // of redlockrun, of those that build makes; empty for who is not
	check   string               // of the fence, as job.sh has it
	words   func(*lane) []string // before the job's
	brief   bool                 // part of the short form
	loses   bool                 // must lose, or the workload finds nothing
	inside  bool                 // must lose nothing inside the assumptions
	outside bool                 // and nothing outside either
}

// A kind is of stores.
type kind int

const (
	noStore kind = iota
	aRedis
	anEtcd
)

func rows() []row {
	guarded := "`redlockrun -k K --ttl 2 --wait 20 JOB`"
	return []row{
		{name: "none", title: "no lock", line: "`JOB`", words: func(*lane) []string { return nil }, brief: true,
			loses: true},
		{name: "flock", title: "flock(1), on one host", line: "`flock FILE JOB`",
			words: func(l *lane) []string { return []string{"flock", filepath.Join(l.dir, "lock")} }},
		{name: "setnx", title: "SET NX PX by redis-cli",
			line: "[setnx.sh](../scripts/lostupdates/setnx.sh) `K 2000 JOB`", store: aRedis,
			words: func(l *lane) []string { return []string{"sh", l.tools.setnx, "job", ttlMillis} }, brief: true},
		{name: "etcdctl", title: "etcdctl 3.4", line: "`etcdctl lock --ttl 2 K JOB`", store: anEtcd,
			words: func(*lane) []string { return []string{"etcdctl", "lock", "--ttl", ttlSeconds, "job"} }},
		{name: "redsync", title: "redsync 4.18, extended",
			line: "[redsyncrun](../scripts/tools/redsyncrun/main.go) `K 2s JOB`", store: aRedis,
			words: func(l *lane) []string { return []string{l.tools.redsync, "job", ttlSeconds + "s"} }},
		{name: "unguarded", title: "redlockrun built without its guard", line: guarded, store: aRedis, build: unguarded,
			words: redlockrun},
		{name: "guard", title: "**redlockrun**", line: guarded, store: aRedis, build: guard,
			words: redlockrun, brief: true, inside: true},
		{name: "late-fence", title: "and the fence is checked at the write", line: guarded, store: aRedis, build: guard,
			check: "late",
			words: redlockrun, inside: true},
		{name: "fence", title: "**and the fence is checked from the read on**", line: guarded, store: aRedis,
			build: guard, check: "early",
			words: redlockrun, brief: true, inside: true, outside: true},
	}
}

func redlockrun(l *lane) []string {
	return []string{l.tools.redlockrun[l.row.build], "-q", "-k", "job", "--ttl", ttlSeconds, "--wait", "20", "--"}
}
