#!/bin/sh
# compare.sh [short] [DIR]: does to flock(1), to SET NX in a shell and to redlockrun (that of
# DIR, else ./redlockrun) what happens to jobs at night, on a throw-away Redis, and prints what
# came of it: the table of README.md. "short" measures the cost with few runs.
#
# It tells of what it sees alone: no cell is written here that was not looked at.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
rounds=15 each=20
if [ "${1-}" = short ]; then rounds=3 each=5; shift; fi
"$root/scripts/install-deps.sh" bench
for name in $(env | sed -n 's/^\(REDLOCKRUN_[A-Z_]*\)=.*/\1/p') REDIS_URL; do unset "$name"; done
export REDLOCKRUN_CONFIG=/dev/null
PATH=${1:-$root}:$PATH

lease=3 # seconds, for who has one
dir=$(mktemp -d)
redis=

finish() {
    status=$?
    trap - EXIT
    if [ -n "$redis" ]; then kill -CONT "$redis" 2>/dev/null || true; fi
    for pid in $(cat "$dir"/*.pid 2>/dev/null) $redis; do kill -9 "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$dir"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() { echo "compare.sh: $1" >&2; exit 1; }
now() { echo $(($(date +%s%N) / 1000000)); } # milliseconds
ask() { redis-cli -s "$dir/redis.sock" "$@"; }

# within LIMIT TEST: whether TEST succeeds within LIMIT milliseconds.
within() {
    deadline=$(($(now) + $1))
    until eval "$2"; do
        [ "$(now)" -lt "$deadline" ] || return 1
        sleep 0.02
    done
}

redis-server --port 0 --unixsocket "$dir/redis.sock" --save '' --appendonly no --dir "$dir" --logfile "$dir/redis.log" &
redis=$!
within 30000 '[ "$(ask ping 2>/dev/null)" = PONG ]' || fail "redis-server does not answer: $(cat "$dir/redis.log")"
export REDLOCKRUN_REDIS="unix://$dir/redis.sock"

# What a careful person writes: a token of one's own, an expiry, and a release that compares.
cat >"$dir/setnx" <<SETNX
#!/bin/sh
key=\$1; shift
token=\$\$-\$(cat /proc/sys/kernel/random/uuid)
[ "\$(redis-cli -s $dir/redis.sock set "\$key" "\$token" nx px ${lease}000)" = OK ] || exit 75
status=0
"\$@" || status=\$?
redis-cli -s $dir/redis.sock eval 'if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("del",KEYS[1]) end' 1 "\$key" "\$token" >/dev/null
exit \$status
SETNX
# A job that says that it runs, until it is ended.
cat >"$dir/job" <<'JOB'
#!/bin/sh
echo $$ >"$1.tmp"
mv "$1.tmp" "$1"
exec sleep 600
JOB
chmod 755 "$dir/setnx" "$dir/job"

# under WHO KEY COMMAND...: becomes the command, as WHO runs it.
under() {
    by=$1 name=$2
    shift 2
    case $by in
    flock) exec flock -n "$dir/$name.lock" "$@" ;;
    setnx) exec "$dir/setnx" "$name" "$@" ;;
    redlockrun) exec redlockrun -q --key "$name" --ttl "$lease" "$@" ;;
    esac
}

# begin WHO KEY: starts the job in the background; leaves its wrapper in $wrapper, its own process in $job.
begin() {
    said=$dir/$2.pid
    (under "$1" "$2" "$dir/job" "$said") >"$dir/said" 2>&1 &
    wrapper=$!
    within 30000 '[ -s "$said" ]' || fail "$1: the job did not start: $(cat "$dir/said")"
    job=$(cat "$said")
}

lives() { kill -0 "$1" 2>/dev/null && [ "$(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null)" != Z ]; }

# second WHO KEY: whether a second start of the job runs, for two leases from now on.
second() {
    who=$1 key=$2
    within $((lease * 2000)) '(under "$who" "$key" true) >/dev/null 2>&1'
}

# verdict WHO KEY: what is to be said of the first job and of a second start beside it.
verdict() {
    if second "$1" "$2"; then
        if lives "$job"; then echo "two copies run"
        else echo "it is ended; the next runs alone"; fi
    else
        if lives "$job"; then echo "it runs on, alone"
        else echo "it is ended, and nobody can run"; fi
    fi
}

killed() {
    begin "$1" "killed-$1"
    kill -9 "$wrapper"
    wait "$wrapper" 2>/dev/null || true
    within $((lease * 500)) '! lives "$job"' || true
    verdict "$1" "killed-$1"
}

long() {
    begin "$1" "long-$1"
    verdict "$1" "long-$1"
}

# A Redis that answers nobody for two leases. Nobody else can have the lock before it answers again.
frozen() {
    begin "$1" "frozen-$1"
    kill -STOP "$redis"
    within $((lease * 2000)) false || true
    kill -CONT "$redis"
    verdict "$1" "frozen-$1"
}

failed() {
    status=0
    (under "$1" "failed-$1" sh -c 'exit 1') >/dev/null 2>&1 || status=$?
    begin "$1" "busy-$1"
    busy=0
    (under "$1" "busy-$1" true) >/dev/null 2>&1 || busy=$?
    if [ "$status" = "$busy" ]; then what="status $status, as when it is busy"
    else what="status $status, and $busy when it is busy"; fi
    # Of the three, one can be asked afterwards.
    if [ "$1" = redlockrun ] && redlockrun history "failed-$1" | grep -q "failed $status"; then what="$what; the history tells"; fi
    echo "$what"
}

# The second start comes when the first has ended, as from a host that is late.
twice() {
    option=
    [ "$1" != redlockrun ] || option='--once tick' # by --once-per it would depend on when this is run
    for _ in 1 2; do
        (under "$1" "twice-$1" $option sh -c "echo ran >>'$dir/twice-$1'") || fail "$1: a tick failed"
    done
    case $(wc -l <"$dir/twice-$1") in 1) echo "runs once" ;; 2) echo "runs twice" ;; *) echo "does not run" ;; esac
}

# sample WHO: the milliseconds that some runs of true take.
sample() {
    start=$(now)
    for _ in $(seq $each); do (under "$1" "cost-$1" true) || fail "$1: true failed"; done
    echo $(($(now) - start))
}

median() { sort -n "$1" | awk '{ at[NR] = $1 } END { print at[int((NR + 1) / 2)] }'; }

cost() {
    median "$dir/cost-$1" | awk -v flock="$(median "$dir/cost-flock")" '{ printf "%.1f\n", $1 / flock }'
}

everybody="flock setnx redlockrun"
row() { # row TITLE FUNCTION
    printf '| %s |' "$1"
    for who in $everybody; do
        what=$("$2" "$who") || exit 1
        printf ' %s |' "$what"
    done
    echo
}

for _ in $(seq $rounds); do
    for who in $everybody; do sample "$who" >>"$dir/cost-$who"; done
done
echo '| | `flock` | SET NX in a shell | redlockrun |'
echo '| --- | --- | --- | --- |'
row 'cost of a run of `true`' cost
row 'the job outlives its lease' long
row 'the wrapper is killed' killed
row 'Redis freezes' frozen
row 'the job fails with 1' failed
row 'the tick comes twice' twice
