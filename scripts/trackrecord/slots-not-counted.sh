# Who may write slots and not count them would keep each of them for ever: such a run is refused.
. "$(dirname "$0")/redis.sh"
redis acl setuser default -hlen >/dev/null
status=0
"$program" -q -k job --once tick -- true 2>"$dir/err" || status=$?
[ $status -eq 69 ] || wrong "status $status: $(cat "$dir/err")"
