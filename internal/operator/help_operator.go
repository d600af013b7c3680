package operator

import (
	"cmp"
	"strings"

	"redlockrun/internal/config"
)

// statusHelp is what is said of the command status.
const statusHelp = `redlockrun status tells which job runs where, how the last run ended, and when.

usage:
  redlockrun status [flags]               a line for each job that is listed
  redlockrun status [flags] NAME          a page about one job
  redlockrun status [flags] NAME NAME...  a line for each of them

A job is listed when it has run (but with --history 0). One of which nothing is known is
said to be never seen.

flags:
      --running                what runs
      --paused                 what is paused
      --bad                    what has ended badly, has vanished, is silent or stuck
      --host HOST              what runs on HOST, or has vanished there
      --watch                  draw it anew until q or Ctrl-C; not on a terminal: print it
      --every D                with --watch: so often (2s)
      --json                   one object a line
      --scan                   list the locks in the keyspace, too: Redis looks at every key

states: running; starting (the lock is being handed over); ended (its --min-hold is not
over); idle; paused; silent (it should have renewed its lease, which still lasts);
vanished (it has no lock any more, and has not said how it ended); stuck (the lock never
expires by itself); foreign (the key is somebody else's).

examples:
  redlockrun status --bad
  redlockrun status --watch --every 5
`

// historyHelp is what is said of the command history.
const historyHelp = `redlockrun history tells of the last runs of a job, the newest first: when, where, how
long each waited and ran, and how it ended.

usage:
  redlockrun history [flags] NAME

flags:
  -n, --number N               at most N of them
      --since D                those that ended in the last D
      --bad                    those that did not end well, which are remembered for longer
      --host HOST              those of HOST
      --follow                 the oldest first, and then what comes, until Ctrl-C
      --json                   one object a line

examples:
  redlockrun history backup -n 5
  redlockrun history backup --since 168h --bad --json
`

// lookStatus is what an exit status means of who only looks.
const lookStatus = `
exit status: 0 done, 64 usage, 65 a key is none of ours, 69 no answer from Redis.
`

// checkHelp is what is said of the command check.
const checkHelp = `redlockrun check tells a monitoring system whether all is well with jobs: by its exit status,
and in one line with performance data, as plugins of Nagios and Icinga do. A shell's && and a
timer that mails can use it, too.

usage:
  redlockrun check [flags] NAME...

flags:
      --max-age D              CRITICAL if the last success ended more than D ago, or none
                               is remembered: the alarm for a job that does not run
      --warn-age D             the same, WARNING
      --max-runtime D          CRITICAL if it has been running for more than D
      --max-failures N         CRITICAL from N bad ends in a row, in place of the first one
      --json                   an object for each NAME: key, status, message, age_seconds

Without flags: CRITICAL if the last run did not end well or has vanished, or if no run can
start, as a key of the lock is none of ours (65); WARNING if a run is silent, the lock is stuck
or is somebody else's; UNKNOWN if the job was never seen, or Redis does not answer; else OK.
That a job is paused is said, and changes nothing. Of several findings, and of several jobs,
the worst counts: CRITICAL, UNKNOWN, WARNING, OK.

examples:
  redlockrun check --max-age 26h nightly-report
  redlockrun check -q --max-failures 3 orders invoices && deploy
`

// checkStatus is what an exit status of check means.
const checkStatus = `
exit status: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN, which is also a mistake in the
command line or the configuration, and no answer from Redis.
`

// metricsHelp is what is said of the command metrics.
const metricsHelp = `redlockrun metrics prints all listed jobs as Prometheus reads them. One host does it for the
whole fleet. What never happened is absent.

usage:
  redlockrun metrics [flags]

flags:
      --textfile PATH          write them into PATH, by rename and with mode 0644, for the
                               textfile collector of node_exporter; its name ends in .prom

The label key is the job's NAME. If Redis does not answer, redlockrun_up is 0 and stands alone,
in PATH too. redlockrun_runs_total counts all ends from the first one on, by how they ended;
there is none of a quorum.

examples:
  redlockrun metrics | grep last_success
  redlockrun metrics --textfile /var/lib/prometheus/node-exporter/redlockrun.prom
`

// metricsStatus is what an exit status of metrics means.
const metricsStatus = `
exit status: 0 done, 64 usage, 65 a key is none of ours, 69 no answer from Redis,
71 PATH could not be written.
`

// reportHelp is what is said of the command report.
const reportHelp = `redlockrun report writes a page for a browser: who ran when and on which host, coloured by
how it ended, and the table of status. It is one file that needs no other, and no script.

usage:
  redlockrun report [flags]              of all jobs that are listed
  redlockrun report [flags] NAME...      of these

flags:
      --since D                how far the page goes back (24h); from 1m on
      --output FILE            write it to FILE, at once and for all to read; if the store
                               does not answer, FILE stays as it is
      --refresh D              let browsers read it again after D

What is hatched is not remembered any more: --history says how much is.

examples:
  redlockrun report --since 168h > jobs.html
  * * * * * redlockrun report --output /var/www/html/jobs.html --refresh 1m
`

// reportStatus is what an exit status of report means.
const reportStatus = `
exit status: 0 done, 64 usage, 65 a key is none of ours, 69 no answer from Redis,
71 FILE could not be written.
`

// pauseHelp is what is said of the command pause.
const pauseHelp = `redlockrun pause keeps jobs from starting, anywhere. What runs runs on, and who waits for
the lock keeps the place in the line. A run that asks meanwhile ends with 75 (-E), or waits
(--wait), or passes over it (--ignore-pause).

usage:
  redlockrun pause [flags] NAME...
  redlockrun pause [flags] --match 'PATTERN'
  redlockrun pause [flags] --all

flags:
      --match 'PATTERN'        the listed jobs whose names match (*, ?, [a-z]); none: 75
      --all                    all that are listed: a job is when it has run, or was paused
      --for D                  for so long (24h); forever: until resume
      --why TEXT               the reason, which whoever is refused is told
      --wait D                 wait so long (or forever) until what runs has ended; else 75
      --json                   one object a line

A pause that is there already is left as it is.

examples:
  redlockrun pause backup --for 2h --why 'the disk is being replaced'
  redlockrun pause --match 'report-*' --for forever

a deploy during which no job starts, as a script that also resumes after Ctrl-C:
  trap 'redlockrun resume --all --why deploy' EXIT
  trap 'exit 130' HUP INT TERM
  redlockrun pause --all --for 1h --wait 10m --why deploy && deploy
`

// resumeHelp is what is said of the command resume.
const resumeHelp = `redlockrun resume ends the pause of jobs: who waits has its turn, in the order of the line.

usage:
  redlockrun resume [flags] NAME...
  redlockrun resume [flags] --match 'PATTERN'
  redlockrun resume [flags] --all

flags:
      --match 'PATTERN'        the listed jobs whose names match (*, ?, [a-z]); none: 75
      --all                    all that are listed
      --why TEXT               the reason; with --match and --all: only of the pauses that
                               were made with --why TEXT
      --json                   one object a line

examples:
  redlockrun resume backup
  redlockrun resume --all --why deploy
`

// stopHelp is what is said of the command stop.
const stopHelp = `redlockrun stop asks the run of a job to end, wherever it runs: its redlockrun learns of it
when it renews the lock, sends SIGTERM, and SIGKILL after its --grace.

usage:
  redlockrun stop [flags] NAME

flags:
      --run ID                 only this run; if another has the lock: 75
      --why TEXT               the reason, for the history
      --pause D                and pause the job for so long (or forever)
      --wait D                 wait so long (or forever) until it has ended; else 75
      --json                   one object

examples:
  redlockrun stop import --wait 1m
  redlockrun stop import --pause forever --why 'it deletes too much'
`

// unlockHelp is what is said of the command unlock.
const unlockHelp = `redlockrun unlock takes the lock from a run that is dead, and hands it to the first in line.

usage:
  redlockrun unlock [flags] NAME --run ID
  redlockrun unlock [flags] NAME --force --foreign

flags:
      --run ID                 the run; redlockrun status NAME says its id
      --force                  also if it may be alive: until it finds out, two can run
      --foreign                what stands there is no run's
      --why TEXT               the reason, for the history
      --json                   one object

Without --force only a run is taken for dead that has said that it ended, or that ran on
this very host (and in this container) where it and its command are gone.

examples:
  redlockrun unlock backup --run 01ARZ3NDEKTSV4RRFFQ69G5FAV
  redlockrun unlock backup --force --foreign
`

// forgetHelp is what is said of the command forget.
const forgetHelp = `redlockrun forget removes what is remembered of jobs: the runs, the slots (what was done
may be done again), and that they are listed. It is refused while they run or are paused.

usage:
  redlockrun forget [flags] NAME...

flags:
      --json                   one object a line

examples:
  redlockrun forget old-report
  redlockrun forget test-1 test-2 --json
`

// doctorHelp is what is said of the command doctor.
const doctorHelp = `redlockrun doctor finds what is wrong between this host and Redis before it hurts.

usage:
  redlockrun doctor [flags]

flags:
      --json                   one object a line

Each line begins with what came of a check: ok; warn; FAIL; or ? where the user's rights do
not let it look, which is no fault. Below what is wrong stands what to do.

examples:
  redlockrun doctor
  redlockrun doctor --redis file:/run/redis --json | jq -r 'select(.result == "fail").message'
`

// doctorStatus is what its exit status means.
const doctorStatus = `
exit status: 0 all is well, 1 something warns, 2 something fails, as a server that does not
answer; 64 usage.
`

// Text is what the command's --help prints.
func (c *Command) Text() string {
	return c.Help + `
D is a duration: seconds (60, 0.5) or 90s, 2m30s.

where the jobs are:
` + flagNames(config.GroupStore) + `
messages, on stderr only:
` + flagNames(config.GroupMessages) + `
These have variables and lines in /etc/default/redlockrun, as for a run (redlockrun --help tells
what they mean). Times are the server's, in this host's time zone; in JSON in UTC.

  -h, --help                   print this
` + cmp.Or(c.status, operatorStatus)
}

// operatorStatus is what an exit status means, unless a command has its own.
const operatorStatus = `
exit status: 0 done, 64 usage, 65 a key is none of ours, 69 no answer from Redis,
75 refused, or the time of --wait is over.
`

// flagNames are the flags of a group that all commands have, as lines.
func flagNames(group config.Group) string {
	var lines strings.Builder
	line := "     "
	for _, s := range config.OperatorSettings() {
		if s.Group != group {
			continue
		}
		name := s.Flag()
		if s.Short != "" {
			name = "-" + s.Short + ", " + name
		}
		if len(line)+len(name) > 94 {
			lines.WriteString(line + "\n")
			line = "     "
		}
		line += " " + name + ","
	}
	return lines.String() + strings.TrimSuffix(line, ",") + "\n"
}

// Summary is the first sentence of the help, but for the name.
func (c *Command) Summary() string {
	text := strings.Join(strings.Fields(strings.TrimPrefix(c.Help, "redlockrun "+c.Name)), " ")
	if end := strings.IndexAny(text, ".:;"); end >= 0 {
		text = text[:end]
	}
	return text
}
