//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// ticks is how many there are in a second of /proc/PID/stat: always 100 where Go runs.
const ticks = 100

// processor is how long a process has run, in its user's code and in the kernel: proc_pid_stat(5).
func processor(pid int) time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	words := strings.Fields(rest)
	if len(words) < 13 {
		return 0
	}
	var user, system int64
	fmt.Sscan(words[11], &user)
	fmt.Sscan(words[12], &system)
	return time.Duration(user+system) * time.Second / ticks
}

// resident is how much memory a process has, in MB.
func resident(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			var kb float64
			fmt.Sscan(rest, &kb)
			return kb * 1024 / 1e6
		}
	}
	return 0
}

// A reading is what has been used up to an instant.
type reading struct {
	at               time.Time
	server, load     time.Duration
	steps            float64
	sent, received   float64 // messages between the nodes of a Cluster
	told             answer
	memory, ownBytes float64 // of the servers: MB
}

func (r *rig) read() (x reading, err error) {
	x.at = time.Now()
	for _, s := range r.servers {
		x.server += processor(s.PID())
		x.steps += info(s, "commandstats", "cmdstat_eval:calls=")
		x.memory += resident(s.PID())
		x.sent += clusterInfo(s, "cluster_stats_messages_publish_sent:")
		x.received += clusterInfo(s, "cluster_stats_messages_publish_received:")
	}
	for _, l := range r.loads {
		x.load += processor(l.cmd.Process.Pid)
		x.ownBytes += resident(l.cmd.Process.Pid)
	}
	x.told, err = r.tell()
	return x, err
}
