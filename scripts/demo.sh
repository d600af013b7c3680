#!/bin/sh
# Shows in a few seconds what redlockrun does, on a throw-away Redis. It fails
# if anything of it does not happen, and ends whatever it started.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/scripts/install-deps.sh" demo

# Nothing that this user has set up shall change what is shown.
for name in $(env | sed -n 's/^\(REDLOCKRUN_[A-Z_]*\)=.*/\1/p') REDIS_URL; do unset "$name"; done
export REDLOCKRUN_CONFIG=/dev/null
PATH=${1:-$root}:$PATH

dir=$(mktemp -d)
redis=  # the pid of the server
job=    # the pid of a redlockrun in the background

finish() {
    status=$?
    trap - EXIT
    if [ -n "$redis" ]; then kill -CONT "$redis" 2>/dev/null || true; fi
    for pid in $job $redis; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$dir"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -t 1 ]; then bold=$(printf '\033[1m') green=$(printf '\033[32m') red=$(printf '\033[31m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
else bold= green= red= dim= plain=; fi

step() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
says() { sed "s/^/    /" "$1"; }
shown() { printf '  %s$ %s%s\n' "$dim" "$1" "$plain"; }
ok() { printf '  %sok%s %s\n' "$green" "$plain" "$1"; }
fail() { printf '  %sthis did not happen:%s %s\n' "$red" "$plain" "$1" >&2; exit 1; }
now() { echo $(($(date +%s%N) / 1000000)); } # milliseconds

# run COMMAND: shows it, and leaves its status in $status, its output in out and err.
run() {
    shown "$1"
    status=0
    sh -c "$1" >"$dir/out" 2>"$dir/err" || status=$?
    says "$dir/out"
    says "$dir/err"
}

# background COMMAND: the same beside us, as $job; returns when its job has begun.
# The job finds in $began a file to write its pid to.
background() {
    shown "$1 &"
    began=$dir/began
    rm -f "$began"
    export began
    sh -c "exec $1" >"$dir/job.out" 2>"$dir/job.err" &
    job=$!
    until_true 10000 '[ -s "$began" ]' || { says "$dir/job.err"; fail "the job began"; }
}

# until_true LIMIT TEST: waits until TEST succeeds, for LIMIT milliseconds at most.
until_true() {
    deadline=$(($(now) + $1))
    until eval "$2"; do
        [ "$(now)" -lt "$deadline" ] || return 1
        sleep 0.02
    done
}

# ended: waits for the job in the background and leaves its status in $status.
ended() {
    status=0
    wait "$job" || status=$?
    job=
}

ask() { redis-cli -p "$port" "$@"; }

start_redis() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        # Between the ports of the tests' servers and those that the kernel gives to clients.
        port=$((32000 + $(od -An -N2 -tu2 /dev/urandom) % 768))
        redis-server --bind 127.0.0.1 --port "$port" --save '' --appendonly no --dir "$dir" --logfile "$dir/redis.log" &
        redis=$!
        # Another's server on this port would answer too, so ask whose answer it is.
        until_true 5000 'ask info server 2>/dev/null | grep -q "^process_id:$redis" || ! kill -0 "$redis" 2>/dev/null' || true
        if kill -0 "$redis" 2>/dev/null; then return; fi
    done
    cat "$dir/redis.log" >&2
    fail "redis-server started"
}

start_redis
export REDLOCKRUN_REDIS="redis://127.0.0.1:$port"
echo "A throw-away Redis listens on port $port."
shown "export REDLOCKRUN_REDIS=$REDLOCKRUN_REDIS"

step "1. A job runs while the lock is held, and the lock is released after it."
run "redlockrun --key demo -- echo 'the job says hello'"
[ $status = 0 ] && grep -qx 'the job says hello' "$dir/out" || fail "the job ran"
[ ! -s "$dir/err" ] || fail "redlockrun was silent"
[ "$(ask exists 'redlockrun:{demo}')" = 0 ] || fail "the lock was released"
ok "it ran, nothing else was said, and the key is gone from Redis"

step "2. While a job runs, a second one is refused, and learns who has the lock."
background "redlockrun --key demo -- sh -c 'echo \$\$ >\$began; exec sleep 60'"
run "redlockrun --key demo -- echo 'this must not run'"
[ $status = 75 ] && [ ! -s "$dir/out" ] || fail "the second job was refused with status 75"
grep -q "held by .*:$job " "$dir/err" || fail "the message names the holder, process $job"
ok "refused with status 75 (-E 0 would make it a silent success)"
kill "$job"
ended
[ $status = 143 ] || fail "SIGTERM reached the job (status $status)"
ok "the first job was ended by SIGTERM: status 143"

# A shorter ttl would demand more of a busy machine than that the program is right.
step "3. A job of 7 seconds keeps a lock of 3 seconds."
background "redlockrun --key demo --ttl 3 -- sh -c 'echo \$\$ >\$began; exec sleep 7'"
owner=$(ask get 'redlockrun:{demo}')
start=$(now)
for at in 1000 2000 3000 4000 5000 6000; do
    until_true 30000 '[ $(now) -ge $((start + at)) ]'
    left=$(ask pttl 'redlockrun:{demo}')
    [ "$left" -gt 0 ] && [ "$(ask get 'redlockrun:{demo}')" = "$owner" ] || fail "the lock was held after $at ms"
    printf '    after %4d ms the lock has %3d ms left\n' "$at" "$left"
done
ended
[ $status = 0 ] || fail "the job ended well (status $status)"
ok "the lock was renewed again and again and never changed hands"

step "4. The job's own exit status comes out."
run "redlockrun --key demo -- sh -c 'exit 42'"
[ $status = 42 ] || fail "status 42 (it was $status)"
ok "status 42"

step "5. Redis freezes under a job; the job is stopped before its lease of 4 seconds ends."
background "redlockrun --key demo --ttl 4 -- sh -c 'echo \$\$ >\$began; exec sleep 60'"
pid=$(cat "$began")
start=$(now)
left=$(ask pttl 'redlockrun:{demo}')
kill -STOP "$redis"
echo "    Redis is frozen; the lease ends in $left ms"
until_true 10000 '! kill -0 "$pid" 2>/dev/null' || fail "the job was stopped"
took=$(($(now) - start))
ended
says "$dir/job.err"
kill -CONT "$redis"
[ "$took" -lt "$left" ] || fail "the job was stopped before the lease ended (after $took ms of $left)"
[ $status = 76 ] || fail "status 76 (it was $status)"
ok "the job was gone after $took ms, $((left - took)) ms before anybody else could have the lock; status 76"

step "6. A job should have run again within a second, and has not: it is overdue."
run "redlockrun --key nightly --max-age 1 -- true"
[ $status = 0 ] || fail "the job ran"
until_true 30000 'redlockrun check nightly >/dev/null; [ $? = 2 ]' || fail "the job became overdue"
run "redlockrun status nightly"
grep -q '^state *overdue$' "$dir/out" || fail "status says that it is overdue"
run "redlockrun check nightly"
[ $status = 2 ] && grep -q 'nightly: overdue by ' "$dir/out" || fail "the check is critical"
ok "status, check, the metrics and the page tell, and no list of jobs is needed"

step "7. A job fails at night. What it printed is read later, from any host."
run "redlockrun --key orders --keep-output 4k -- sh -c 'echo \"cannot charge order 4711\"; exit 3'"
[ $status = 3 ] && grep -qx 'cannot charge order 4711' "$dir/out" || fail "the job's output and status came out"
run "redlockrun logs orders"
[ $status = 0 ] && grep -qx 'cannot charge order 4711' "$dir/out" || fail "logs printed what the job had said"
ok "the last bytes of a failed run are kept in Redis, if the run says --keep-output"

printf '\n%sAll of it happened.%s\n' "$bold" "$plain"
