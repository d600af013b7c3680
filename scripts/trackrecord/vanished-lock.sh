# A lock whose key was deleted is free for who waits: it is not kept for the lease that was seen.
. "$(dirname "$0")/redis.sh"
"$program" -q -k job --on-lost continue --renew-every 20 -- sleep 60 &
holder=$!
waits() { [ "$(redis zcard 'redlockrun:{job}:queue')" = 1 ]; }
holds() { redis get 'redlockrun:{job}' | grep -q run; }
await holds
"$program" -q -k job --wait 40 -- true 2>"$dir/err" &
waiter=$!
await waits
redis del 'redlockrun:{job}' >/dev/null
status=0
wait $waiter || status=$?
kill -9 $holder
[ $status -eq 0 ] || wrong "status $status: $(cat "$dir/err")"
