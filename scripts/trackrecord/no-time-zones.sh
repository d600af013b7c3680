# The name of a slot needs the time zone, which an image made from scratch does not have.
. "$(dirname "$0")/redis.sh"
mkdir "$dir/root"
: >"$dir/root/none"
export REDLOCKRUN_CONFIG=/none
cp "$program" "$dir/root/program"
status=0
unshare -r chroot "$dir/root" /usr/bin/env true 2>/dev/null || status=$?
[ $status -eq 127 ] || { echo "no chroot can be made here"; exit 2; }
status=0
TZ=Europe/Berlin unshare -r chroot "$dir/root" /program -k job --once-per 1d --redis unix:///none --redis-timeout 1 -- /true 2>"$dir/err" || status=$?
[ $status -ne 64 ] || wrong "$(cat "$dir/err")"
