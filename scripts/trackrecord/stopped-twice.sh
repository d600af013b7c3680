# A run that an operator stops between two attempts says so once.
. "$(dirname "$0")/redis.sh"
"$program" -k job --attempts 3 --attempt-delay 5m --ttl 3 -- sh -c ': >"$1"; exit 1' sh "$dir/tried" 2>"$dir/err" &
run=$!
await test -e "$dir/tried"
"$program" stop job >/dev/null
wait $run || true
cat "$dir/err"
[ "$(grep -c 'has stopped the run' "$dir/err")" -le 1 ] || wrong "it is said $(grep -c 'has stopped the run' "$dir/err") times"
