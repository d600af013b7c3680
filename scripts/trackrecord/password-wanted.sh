# A server that wants a password is a refusal, which no asking again helps.
. "$(dirname "$0")/redis.sh"
redis config set requirepass secret >/dev/null
began=$(date +%s)
status=0
"$program" -k job --redis-timeout 45 -- true 2>"$dir/err" || status=$?
took=$(($(date +%s) - began))
cat "$dir/err"
[ $status -eq 69 ] || wrong "status $status"
[ $took -lt 40 ] || wrong "it was asked for $took s"
grep -q -i 'password' "$dir/err" || wrong "no word of the password"
