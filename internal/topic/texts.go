package topic

const exitCodes = `Exit statuses

  redlockrun --key backup -- pg_dump -f shop.sql shop
  case $? in 0) echo done ;; 75) echo busy ;; 76) echo lost ;; *) echo failed ;; esac

If the command ran and ended by itself, its own status comes out: 3 stays 3. A command that
signal n ended gives 128+n. redlockrun adds these:

    0  with --once-per and --once also: the work of this slot is already done
   64  usage: a wrong flag, value, file or URL; no command ran
   65  the key in Redis is not a lock of redlockrun; no command ran
   69  Redis did not answer, refused the request, or has no majority; no command ran
   71  this host is short of processes or memory, or redlockrun itself failed
   75  the lock stayed busy, the job is paused, or its tries are used up; no command ran
   76  the lock was lost, and redlockrun stopped the command
  124  --max-runtime stopped the command
  126  the command cannot be executed
  127  the command was not found
128+n  signal n reached redlockrun while it waited; no command ran

-E N (--conflict-exit-code) replaces 75 if the lock is busy or the job is paused: with -E 0 a busy
lock is a success. -E changes no other status.

The command may use the same numbers itself. --report-file FILE tells them apart: its field
"from" is "command" or "redlockrun".

redlockrun status and the other operator commands end with 0, 64, 65, 69 or 75. check uses
0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN; doctor uses 0 fine, 1 warnings, 2 failures.
`

const environment = `Variables and files

  export REDLOCKRUN_REDIS=redis://redis.internal:6379
  export REDLOCKRUN_TTL=2m
  redlockrun --key backup -- sh -c 'echo "run $REDLOCKRUN_RUN_ID, fence $REDLOCKRUN_FENCE"'

Each flag of a run has a variable: REDLOCKRUN_ and the name in capitals, with _ for -. A switch
takes true or false. Several addresses in REDLOCKRUN_REDIS are separated by blanks. These sources
count, the first one first:

  1. the flag
  2. the variable
  3. the file /etc/default/redlockrun, or the file that REDLOCKRUN_CONFIG names
  4. the default

The file has lines NAME=VALUE, # comments and blank lines. Put values with blanks or special
characters into single quotes. REDLOCKRUN_CONFIG=/dev/null reads no file.

redlockrun also reads:

  REDIS_URL             the address, if nothing else sets one
  TZ                    the time zone of --once-per and of the times that are shown
  NO_COLOR              if it is set, the output has no colours

The command gets the environment of redlockrun, and these:

  REDLOCKRUN_HELD_KEY   the name of the lock
  REDLOCKRUN_RUN_ID     the id of this run
  REDLOCKRUN_HELD_RUNS  the ids of this run and of all runs around it
  REDLOCKRUN_PID        the process id of redlockrun
  REDLOCKRUN_FENCE      a number that grows with each run of this lock (64 bits)
  REDLOCKRUN_ATTEMPT    the number of this start, from 1 (--attempts)
  REDLOCKRUN_SLOT       the name of the slot (--once-per, --once)

Operator commands read only the variables of the address and of messages.
`

const recipes = `Recipes

The same line in the crontab of every host; each tick is done once, on one of them:
  */5 * * * * redlockrun --key orders --once-per 5m -- php cancel_orders.php

Never two at a time; the others skip, and cron sends no mail for that:
  0 * * * * redlockrun --key import -E 0 -- import-orders

Wait for the lock, up to five minutes:
  redlockrun --key report --wait 5m -c 'make report | mail -s report ops'

Stop a job that hangs after an hour, and try a failed one three times:
  redlockrun --key sync --max-runtime 1h --attempts 3 -- rsync -a /srv/ backup:/srv/

A service of systemd; a timer on every host starts it:
  [Service]
  Type=oneshot
  ExecStart=/usr/bin/redlockrun --key report --once-per 1h -- /usr/local/bin/report

A script that locks itself (bash, sh):
  [ "${REDLOCKRUN_PID-}" = "$PPID" ] || exec redlockrun --key nightly -- "$0" "$@"

A Job of Kubernetes; retries and duplicate pods share the name of the Job:
  redlockrun --key orders --once "$JOB_NAME" --wait 10m -- php cancel_orders.php

A deploy during which no job starts:
  redlockrun pause --all --for 1h --wait 10m --why deploy && deploy
  redlockrun resume --all --why deploy

An alarm if the job had no success for 26 hours:
  redlockrun check --max-age 26h nightly-report || mail -s overdue ops </dev/null

The same on one host, without Redis:
  redlockrun --local --key backup -- backup
`
