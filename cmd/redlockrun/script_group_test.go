package main

import (
	"fmt"
	"os"
	"strings"

	"redlockrun/internal/proof/redistest"

	"github.com/rogpeppe/go-internal/testscript"
)

// groupCommand is
//
//	group sentinel|cluster [ARG...]
//
// which starts the servers of a store, and makes it the one that redlockrun asks: $GROUP is its
// URL. Other commands know the servers by name: with sentinel MASTER, REPLICA and S1 to S3, with
// cluster N1 to N3, which have $N1_ID and so on, and their replicas R1 to R3. ARGs are the data
// servers', which keep what they are told. Nobody is taken for down, and no other made the master.
func groupCommand(ts *testscript.TestScript, neg bool, args []string) {
	data := redistest.Options{Args: args[1:], Persist: true}
	switch args[0] {
	case "sentinel":
		s, err := redistest.NewSentinel(groupDir(ts), redistest.SentinelOptions{Data: data, Replicas: 1})
		ts.Check(err)
		ts.Defer(s.Close)
		enlist(ts, s.URL(), map[string][]*redistest.Server{"S": s.Sentinels})
		name(ts, "MASTER", s.Data[0])
		name(ts, "REPLICA", s.Data[1])
	case "cluster":
		c, err := redistest.NewCluster(groupDir(ts), redistest.ClusterOptions{Data: data, Replicas: 1})
		ts.Check(err)
		ts.Defer(c.Close)
		enlist(ts, c.URL(), map[string][]*redistest.Server{"N": c.Masters, "R": c.Replicas})
		for i, n := range c.Masters {
			id, err := n.Do("CLUSTER", "MYID")
			ts.Check(err)
			ts.Setenv(fmt.Sprintf("N%d_ID", i+1), fmt.Sprint(id))
		}
	default:
		ts.Fatalf("group: what is %s?", args[0])
	}
}

func groupDir(ts *testscript.TestScript) string {
	dir, err := os.MkdirTemp(ts.Getenv("WORK"), "group")
	ts.Check(err)
	return dir
}

// enlist names servers by a letter and a number from 1.
func enlist(ts *testscript.TestScript, url string, lists map[string][]*redistest.Server) {
	ts.Setenv("GROUP", url)
	ts.Setenv("REDLOCKRUN_REDIS", url)
	for letter, list := range lists {
		for i, s := range list {
			name(ts, fmt.Sprint(letter, i+1), s)
		}
	}
}

func name(ts *testscript.TestScript, called string, s *redistest.Server) {
	ts.Value(serversKey{}).(servers)[called] = s
	ts.Setenv(called+"_ADDR", s.Addr())
	ts.Setenv(called+"_PORT", s.Addr()[strings.LastIndexByte(s.Addr(), ':')+1:])
}
