#!/bin/sh
# compare.sh [short] [DIR]: runs the same faults against flock(1), SET NX in a shell, etcdctl and
# redlockrun (that of DIR, else ./redlockrun) on a throw-away Redis and etcd, and prints the rows of
# README.md that it measured. "short" measures the cost with few runs.
#
# Each cell is an observation; the columns that it cannot measure are not printed.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
rounds=15 each=20
if [ "${1-}" = short ]; then rounds=3 each=5; shift; fi
"$root/scripts/install-deps.sh" lost
for name in $(env | sed -n 's/^\(REDLOCKRUN_[A-Z_]*\)=.*/\1/p') REDIS_URL; do unset "$name"; done
export REDLOCKRUN_CONFIG=/dev/null
PATH=${1:-$root}:$PATH

lease=3 # seconds, for who has one
dir=$(mktemp -d)
redis= etcd=

finish() {
    status=$?
    trap - EXIT
    for pid in $redis $etcd; do kill -CONT "$pid" 2>/dev/null || true; done
    for pid in $(cat "$dir"/*.pid 2>/dev/null) $redis $etcd; do kill -9 "$pid" 2>/dev/null || true; done
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

# Between the ports of the tests' servers and those that the kernel gives to clients.
start_etcd() {
    for _ in 1 2 3 4 5; do
        port=$((32000 + $(od -An -N2 -tu2 /dev/urandom) % 766))
        client=http://127.0.0.1:$port peer=http://127.0.0.1:$((port + 1))
        etcd --data-dir "$dir/etcd-$port" --listen-client-urls "$client" --advertise-client-urls "$client" --listen-peer-urls "$peer" \
            --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" >"$dir/etcd.log" 2>&1 &
        etcd=$!
        export ETCDCTL_API=3 ETCDCTL_ENDPOINTS="$client"
        within 10000 'etcdctl endpoint health >/dev/null 2>&1 || ! kill -0 "$etcd" 2>/dev/null' || true
        if kill -0 "$etcd" 2>/dev/null; then return; fi
    done
    fail "etcd does not answer: $(cat "$dir/etcd.log")"
}
start_etcd

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
    etcdctl) exec etcdctl lock --ttl "$lease" -- "$name" "$@" ;;
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
    if [ "$who" = etcdctl ]; then # it always waits
        timeout -s KILL $((lease * 3)) etcdctl lock --ttl "$lease" "$key" true >/dev/null 2>&1
        return
    fi
    within $((lease * 2000)) '(under "$who" "$key" true) >/dev/null 2>&1'
}

# alone WHO KEY: "yes" if no second start runs beside the first job.
alone() {
    if ! second "$1" "$2"; then
        lives "$job" || fail "$1: the first job ended, and no second start runs"
        echo yes
    elif lives "$job"; then echo no
    else echo yes
    fi
}

killed() {
    begin "$1" "killed-$1"
    kill -9 "$wrapper"
    wait "$wrapper" 2>/dev/null || true
    within $((lease * 500)) '! lives "$job"' || true
    alone "$1" "killed-$1"
}

long() {
    begin "$1" "long-$1"
    alone "$1" "long-$1"
}

# A store that answers nobody for two leases. Nobody else can have the lock before it answers again.
frozen() {
    begin "$1" "frozen-$1"
    store=$redis
    [ "$1" != etcdctl ] || store=$etcd
    kill -STOP "$store"
    within $((lease * 2000)) false || true
    kill -CONT "$store"
    alone "$1" "frozen-$1"
}

# The second start comes when the first has ended, as from a host that is late.
twice() {
    option=
    [ "$1" != redlockrun ] || option='--once tick' # by --once-per it would depend on when this is run
    for _ in 1 2; do
        (under "$1" "twice-$1" $option sh -c "echo ran >>'$dir/twice-$1'") || fail "$1: a tick failed"
    done
    case $(wc -l <"$dir/twice-$1") in 1) echo yes ;; 2) echo no ;; *) fail "$1: the tick does not run" ;; esac
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

everybody="flock setnx etcdctl redlockrun"
row() { # row TITLE FUNCTION
    printf '| %s |' "$1"
    for who in $everybody; do
        cell=$("$2" "$who") || exit 1
        printf ' %s |' "$cell"
    done
    echo
}

for _ in $(seq $rounds); do
    for who in $everybody; do sample "$who" >>"$dir/cost-$who"; done
done
echo '| | `flock` | SET NX | `etcdctl lock` | redlockrun |'
echo '| --- | --- | --- | --- | --- |'
row 'one copy if the job outlives its lease' long
row 'one copy if the wrapper is killed' killed
row 'one copy if the store freezes' frozen
row 'runs each tick once' twice
row 'cost of `true`, `flock` is 1' cost
