package main

// statusHelp is what is said of the command status.
const statusHelp = `redlockrun status tells which job runs where, how the last run ended, and when.

usage:
  redlockrun status [flags]              a line for each job that is listed
  redlockrun status [flags] NAME         a page about one job
  redlockrun status [flags] NAME NAME... a line for each of them

A job is listed when it has run (but with --history 0). One of which nothing is known
is idle.

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
`

// operatorHelp is the end of each: what all commands have.
const operatorHelp = `
D is a duration: seconds (60, 0.5) or 90s, 2m30s.

where the jobs are:
      --redis URL, --redis-timeout D, --redis-ca FILE, --redis-cert FILE, --redis-key FILE,
      --redis-password-file FILE, --sentinel-password-file FILE, --replicas N,
      --replicas-timeout D, --durable, --prefix TEXT, --local[=DIR]

messages, on stderr only:
  -q, --quiet, -v, --verbose, --log-level LEVEL, --log-format FORMAT

These have variables and lines in /etc/default/redlockrun, as for a run
(redlockrun --help). Times are the server's, in this host's time zone; in JSON in UTC.

  -h, --help                   print this

exit status: 0 done, 64 usage, 65 a key is none of ours, 69 no answer from Redis.
`

// showHelp prints the help of the program, or of one of its commands.
func showHelp(words []string) error {
	if len(words) > 0 {
		if c := operatorNamed(words[0]); c != nil {
			return show(c.help + operatorHelp)
		}
	}
	return show(help)
}
