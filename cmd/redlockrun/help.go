package main

// help is what --help prints. A test holds every flag to be in it.
const help = `redlockrun runs a command while holding a lock in Redis: never two at once,
never a stale lock, and the command's own exit status.

usage:
  redlockrun --key NAME [flags] [--] COMMAND [ARG...]
  redlockrun --key NAME [flags] -c 'SHELL TEXT'
  redlockrun status [NAME...]  which job runs where, and how the last run ended
  redlockrun history NAME      the last runs of a job
  redlockrun pause NAME...     nobody starts the job, anywhere, until redlockrun resume
  redlockrun stop NAME         end the run of a job, wherever it runs
  redlockrun unlock NAME       take the lock from a run that is dead
  redlockrun forget NAME...    remove what is remembered of a job
  redlockrun doctor            what is wrong between here and Redis, before it hurts
                               (redlockrun status --help and so on tell more)

Everything after COMMAND belongs to COMMAND. D is a duration: seconds (60, 0.5)
or 90s, 2m30s.

the lock:
  -k, --key NAME               its name; two runs with one NAME exclude each other
      --key-from-command       a name that is made of COMMAND and its words
  -t, --ttl D                  how long it outlives a dead holder (60s)
  -w, --wait D                 wait so long for a busy lock (0); forever: no limit
  -n, --nonblock               do not wait: --wait 0
      --lock-retries N         try at most N times more, without a place in the line
      --lock-retry-delay D     the pause between two tries, D/2 to D (200ms)
      --max-waiters N          do not wait if N wait already (no limit)
      --renew-every D          the period of the renewals (ttl/3, at most 20s)
      --min-hold D             keep the lock at least D (0)
  -E, --conflict-exit-code N   the status when the lock stays busy (75); 0: a skip is fine
      --warn-held-after D      warn, and end with 75, if a lock is held for longer (none)
      --ignore-pause           run although the job is paused

once for each tick, in the whole fleet:
      --once-per P             run it until it succeeds once in this slot of length P, by
                               the clock of this host: P divides an hour (UTC), or is 2h,
                               3h, 4h, 6h, 8h, 12h, 1d or 7d (local time: not for a fleet
                               in several time zones)
      --once ID                the same, for what you call ID; it is forgotten after 16
                               others, or 15 days
      --tries N                leave a slot alone after N runs that failed (2)
      --splay D                start later by a part of D that is always the same for this
                               key and host (0)

the command:
  -c 'SHELL TEXT'              run SHELL TEXT by /bin/sh -c
      --attempts N             start it at most N times until it succeeds (1)
      --attempt-delay D        the first pause between two starts; it doubles (10s)
      --max-runtime D          stop it after D (status 124)
      --grace D                between SIGTERM and SIGKILL (ttl/6, at most 10s)
      --on-lost stop|continue  when the lock is lost (stop, status 76)

what is remembered:
      --history N              keep the last N runs (50); 0: nothing of this one
      --report-file FILE       write how it ended into FILE, as JSON

where the lock lives:
      --redis URL              redis:// unix:// redis+sentinel:// redis+cluster://
                               (rediss... for TLS) or file:PATH, which holds one
                               several times: a quorum of independent servers
                               (REDIS_URL, else redis://127.0.0.1:6379)
      --redis-timeout D        give up on a store that is silent so long (5s)
      --redis-ca FILE          certificates of a private CA
      --redis-cert FILE        a client certificate, with
      --redis-key FILE         its key
      --redis-server-name HOST the name that its certificate must have (the host's)
      --redis-password-file FILE     the password, for a URL without one
      --sentinel-password-file FILE  that of the sentinels
      --replicas N             the lock counts once N replicas have it (0)
      --replicas-timeout D     for how long they are waited for (1s)
      --durable                the servers of a quorum (several --redis) keep their
                               data when restarted, and may vote at once
      --prefix TEXT            before each Redis key (redlockrun:)
      --local[=DIR]            on this host alone, without Redis

messages, on stderr only:
  -q, --quiet                  errors only
  -v, --verbose                say how the run went; twice: everything
      --log-level LEVEL        debug, info, warn or error (warn)
      --log-format FORMAT      text or json (text)

  -h, --help                   print this
      --version                print the version

Every flag has a variable: REDLOCKRUN_TTL for --ttl. A flag wins over the
environment, which wins over /etc/default/redlockrun (another file:
REDLOCKRUN_CONFIG), which wins over the default.

exit status: the command's own, or 64 usage, 65 the key is no lock, 69 no answer
from Redis, 71 no resources, 75 the lock stayed busy or the job is paused, 76 the
lock was lost, 124 --max-runtime, 126 and 127 COMMAND cannot be run, 128+n signal n.
It is 0, too, if the slot's work is done, and 75 if its tries are used up.

examples:
  redlockrun --key backup -- pg_dump -f /srv/backup.sql shop
  redlockrun --key report --wait 5m -c 'make report | mail -s report ops'
  */5 * * * * redlockrun --key orders --once-per 5m -E 0 -- php cancel_orders.php
`
