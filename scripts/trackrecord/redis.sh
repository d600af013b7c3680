# redis.sh: what scripts of the track record begin with: $program, $dir, and a Redis of their
# own at $url, by a socket. Each ends with 1 if the fault is there.
set -eu
program=$1
dir=$(mktemp -d)
url=unix://$dir/socket
redis-server --port 0 --unixsocket "$dir/socket" --save '' --appendonly no --dir "$dir" >"$dir/log" 2>&1 &
server=$!
trap 'kill -9 $server 2>/dev/null; wait; rm -rf "$dir"' EXIT
export REDLOCKRUN_CONFIG=/dev/null REDLOCKRUN_REDIS="$url"
unset TZ

# redis asks the server.
redis() { redis-cli -s "$dir/socket" "$@"; }

# await waits until a command succeeds, for a minute at most.
await() {
    n=0
    until "$@"; do
        n=$((n + 1))
        [ $n -lt 600 ] || { echo "this did not come: $*"; exit 2; }
        sleep 0.1
    done >/dev/null 2>&1
}

# wrong says what is wrong, and ends.
wrong() { echo "fault: $*"; exit 1; }

await redis ping
