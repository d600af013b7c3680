package main

const description = `
redlockrun runs COMMAND while it holds the lock NAME in Redis. Of all runs with the same NAME, on
however many hosts, one at a time has the lock. The others end at once with status 75, or wait for
their turn (--wait). The exit status is that of COMMAND.

COMMAND is run as if it had been called directly: with the caller's streams, environment, directory,
limits and terminal. Signals are forwarded to it. Everything behind COMMAND belongs to COMMAND, with
or without -- before it.

The lock ends by itself after its ttl, and is renewed while COMMAND runs. If it cannot be renewed,
COMMAND is stopped before the lock can pass to another, and the status is 76. If redlockrun is
killed, a guard, a small process of its own, kills COMMAND.

With --once-per the work of each tick of a crontab, which stands on every host, is done once in the
whole fleet: after a success nothing is run any more, after a failure another host runs it.
`

const optionsText = `
D is a duration: a number of seconds (60, 0.5), or one like 90s or 2m30s. Each option but -c, -h and
--version has a variable: REDLOCKRUN_TTL is that of --ttl. The nearest source counts: the option,
the environment, the configuration file, the default.
`

// more is what the manual adds to what the help says of a setting.
var more = map[string]string{
	"key":              "It is valid UTF-8 of 1 to 512 bytes, without control characters.",
	"key-from-command": "The base name of COMMAND, a dash, and 16 digits of a hash of all its words.",
	"ttl": "0.5 s to 7 days. Everything else follows from it: a longer one survives a longer outage of Redis, " +
		"and blocks for longer after a host has died.",
	"wait":               "On one server those who wait have their turn in the order in which they came.",
	"max-waiters":        "Not with --local or a quorum.",
	"conflict-exit-code": "With 0 a skip is said on a terminal alone.",
	"warn-held-after":    "The status is 75 then, whatever --conflict-exit-code says: that job may hang.",
	"warn-failed": "One line with the status, the host and how long it took. A status of redlockrun's own has " +
		"its message anyway.",
	"max-runtime":   "It is for each start of the command.",
	"attempts":      "The lock is kept meanwhile.",
	"attempt-delay": "It grows to 10 minutes at most.",
	"on-lost": "With continue a warning says so, and the status is that of COMMAND. With pause its process group is " +
		"stopped until the lock is held again, and killed if another run has had it.",
	"report-file": "It is written when redlockrun ends, and replaced as a whole; /dev/stdout is written to.",
	"once":        "In Kubernetes the name of a CronJob's Job is a good ID.",
	"replicas":    "Else it is given back, and the status is 69.",
	"durable":     "Without it, one that was restarted does not vote for the ttl, at least a minute.",
	"local":       "The lock is on a file of DIR, or of a directory of the user's in /run/lock.",
	"prefix":      "It has no braces.",
}

var statuses = []term{
	{"the command's own", "It ran and ended; 128+n if signal n ended it."},
	{"0", "Also: the work of its slot is done already (--once-per, --once); nothing was run."},
	{"64", "Usage: a wrong flag, value, configuration or URL, or times that do not fit into the ttl; nothing was run."},
	{"65", "The key in Redis is no lock, or belongs to a newer release; it was left alone, and nothing was run."},
	{"69", "The store could not be asked: it is down, refuses, or no majority answers; nothing was run."},
	{"71", "redlockrun could not start the command or its guard for want of resources, or has failed itself."},
	{"75", "The lock stayed busy or the job is paused (--conflict-exit-code changes it); it is held for longer than " +
		"--warn-held-after, " +
		"or the slot's tries are used up; nothing was run."},
	{"76", "The lock was lost, and the command was stopped for it."},
	{"124", "--max-runtime has ended the command."},
	{"126, 127", "COMMAND could not be executed, or was not found."},
	{"128+n", "Signal n reached redlockrun while it waited for the lock."},
}

const environment = `
REDLOCKRUN_ and the name of an option, in capitals and with _ for -, has the value of that option. These are no
options:
`

var variables = []term{
	{"REDLOCKRUN_CONFIG", "The configuration file; /dev/null is none."},
	{"REDIS_URL", "The address, if neither REDLOCKRUN_REDIS nor the configuration file has one."},
	{"TZ", "The time zone of the slots of --once-per, and of what is shown to people."},
	{"NO_COLOR", "If it is set, nothing is coloured."},
	{"REDLOCKRUN_HELD_KEY", "What COMMAND finds: the name of the lock that it runs under."},
	{"REDLOCKRUN_RUN_ID", "What COMMAND finds: the id of this run, a ULID."},
	{"REDLOCKRUN_HELD_RUNS", "What COMMAND finds: the ids of all runs that it is nested in."},
	{"REDLOCKRUN_PID", "What COMMAND finds: the number of the process of redlockrun."},
	{"REDLOCKRUN_FENCE", "What COMMAND finds: a number that grows with each run of the same key, of 64 bits. " +
		"What remembers the largest one seen can refuse a run that was overtaken."},
	{"REDLOCKRUN_ATTEMPT", "What COMMAND finds: which of its starts this is, from 1."},
	{"REDLOCKRUN_SLOT", "What COMMAND finds: the name of the slot, with --once-per and --once."},
}

var files = []term{
	{"/etc/default/redlockrun", "Lines NAME=VALUE for all runs on this host, with VALUE bare or in single quotes: " +
		"REDLOCKRUN_REDIS=redis://redis.internal:6379."},
	{"/run/lock/redlockrun-UID", "The locks of --local, each a file."},
}

const commandsText = `
A word that stands first is one of these commands; behind any flag it is COMMAND. They take the options of where
the lock lives, and of messages, and their variables. What they print goes to stdout, and all else to stderr.
`

const jsonText = `
Each object is one line. What is unknown or does not apply is left out. More names may come, and none will
change. Times are in UTC.
`

var examples = [][2]string{
	{"One backup at a time, wherever it is started:", "redlockrun --key backup -- pg_dump -f /srv/backup.sql shop"},
	{"Wait for one's turn, for five minutes at most:",
		"redlockrun --key report --wait 5m -c 'make report | mail -s report ops'"},
	{"In the crontab of every host, and done once for each tick:",
		"*/5 * * * * redlockrun --key orders --once-per 5m -E 0 -- php cancel_orders.php"},
	{"A deploy during which no job starts, as a script that also resumes after Ctrl-C:",
		"trap 'redlockrun resume --all --why deploy' EXIT\ntrap 'exit 130' HUP INT TERM\n" +
			"redlockrun pause --all --for 1h --wait 10m --why deploy && deploy"},
	{"A script that locks itself:",
		"[ \"${REDLOCKRUN_PID-}\" = \"$PPID\" ] ||\n    exec redlockrun --key nightly -- \"$0\" \"$@\""},
}

const bugs = `
Redis replicates asynchronously: after a failover a lock that was given can be gone, and two runs can hold it until
the first notices. The same holds if Redis restarts without its data, is flushed, or evicts the key. REDLOCKRUN_FENCE
makes that harmless where it is looked at; a quorum of independent servers makes it rarer.

A tick can run twice when Redis has lost what it knew of it.

What leaves the process group of COMMAND, changes its user, or still runs when COMMAND has ended is not covered.
`

const seeAlso = `flock(1), timeout(1), crontab(5), redis-cli(1), systemd.timer(5)`
