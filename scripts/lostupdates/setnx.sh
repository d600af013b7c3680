#!/bin/sh
# setnx.sh KEY MILLISECONDS COMMAND [ARG...]: what careful people write around redis-cli: a
# token of one's own, an expiry, tries until the lock is free, and a release that compares.
# Redis is at $REDIS_ADDR, or where one of $REDIS_SENTINELS says that mymaster is.
key=$1 ttl=$2
shift 2
token=$$-$(cat /proc/sys/kernel/random/uuid)

master() {
    for one in $(echo "$REDIS_SENTINELS" | tr , ' '); do
        redis-cli -h "${one%:*}" -p "${one##*:}" sentinel get-master-addr-by-name mymaster | paste -sd: && return
    done
}
ask() {
    addr=${REDIS_ADDR:-$(master)}
    redis-cli -h "${addr%:*}" -p "${addr##*:}" "$@"
}

tries=0
until [ "$(ask set "$key" "$token" nx px "$ttl")" = OK ]; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || exit 75
    sleep 0.05
done
status=0
"$@" || status=$?
ask eval 'if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("del",KEYS[1]) end' 1 "$key" "$token" >/dev/null
exit $status
