# A lock that could not be renewed since the store had gone silent is lost: status 76.
. "$(dirname "$0")/redis.sh"
status=0
"$program" -q -k job --ttl 2 -- sh -c 'kill -STOP "$1"; sleep 60' sh $server 2>"$dir/err" || status=$?
kill -CONT $server
[ $status -eq 76 ] || wrong "status $status: $(cat "$dir/err")"
