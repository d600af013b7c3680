package main

// An object is what is printed as JSON, or a part of it.
type object struct {
	title string
	names []term
}

var objects = []object{
	{"status", []term{
		{"key", "The name of the job."},
		{"state", "running, ended, starting, idle, paused, silent, vanished, stuck or foreign."},
		{"host, pid, user, command, run, fence", "Who has the lock."},
		{"at", "Since when."},
		{"lease_seconds", "How long the lease still lasts."},
		{"waiting", "How many wait."},
		{"permits, permits_held, holders", "With --permits: its N, how many are held, and objects of the runs " +
			"that hold them, with run, host, pid, user, command, at, lease_seconds and permits."},
		{"last, good", "Runs, as in history: the last end, and the last success."},
		{"mean_seconds", "How long a run takes, on average."},
		{"max_age_seconds, overdue, due",
			"Of a job with --max-age: its D, whether it is overdue, and when it will be or became so; no due while " +
				"it is paused."},
		{"paused", "An object with by, why and until, while the job is paused."},
		{"slot, tries_failed", "The slot of --once-per or --once, and how many of its tries have failed."},
		{"waiters", "Of one NAME: objects with run, host and since, in the order of the line."},
		{"runs", "Of one NAME: the last runs, as in history."},
		{"tail", "The last lines that the last run printed, of a run with --keep-output that ended badly."},
	}},
	{"history and logs", []term{
		{"run, host, user, pid, command", "Which run it was, and whose."},
		{"slot, attempts, fence", "What it was for, how often the command was started, and its fence."},
		{"asked, at, ended", "When it asked first, had the lock, and ended."},
		{"seconds, waited_seconds", "How long it ran, and waited."},
		{"stood_seconds", "For how long the command stood still."},
		{"status", "Its exit status."},
		{"how", "ok, failed, signal, timeout, lost, stopped, unstarted, vanished or unlocked."},
		{"output, output_base64, output_bytes",
			"Of logs and of history --output: what is kept of what the run printed, " +
				"with U+FFFD for what is not UTF-8; the same in base64, if some is not; and how many bytes it " +
				"printed in " +
				"all."},
		{"event, by, why, until", "In place of how, of what an operator did: pause, resume, stop or unlock, by whom " +
			"and why; " +
			"of a pause, until when it was meant to last."},
	}},
	{"pause, resume, stop, unlock and forget", []term{
		{"key, event, done", "The job, what was asked for, and whether it was done."},
		{"run, host, pid, user, command, at, lease_seconds, foreign", "Who has, or had, the lock."},
		{"unconfirmed", "An answer was lost: nobody knows whether this command did it."},
		{"paused, next", "The pause, and who has the lock next."},
	}},
	{"check", []term{
		{"key", "The name of the job."},
		{"status", "OK, WARNING, CRITICAL or UNKNOWN."},
		{"message", "Why."},
		{"age_seconds", "How long ago the last success ended."},
	}},
	{"doctor", []term{
		{"check", "What was looked at, in one word."},
		{"server", "Of which server; left out if it is of this host, or of all."},
		{"result", "ok, warn, fail or unseen."},
		{"message, remedy", "What was found, and what to do."},
	}},
	{"the file of --report-file", []term{
		{"key, run, slot, fence, host", "Which run it was."},
		{"asked, at, ended", "When it asked first, had the lock, and ended, by the clock of the store."},
		{"how", "As in history; left out if nothing was run."},
		{"status", "The exit status of redlockrun."},
		{"from", "Whose status it is: command or redlockrun."},
		{"recorded", "Whether the store knows how it ended."},
		{"attempts", "How often the command was started."},
		{"reason", "What redlockrun has said."},
	}},
}
