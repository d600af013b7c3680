#!/bin/busybox sh
# The first process of the machine that arm64.sh starts.
export PATH=/usr/sbin:/usr/bin HOME=/tmp TERM=vt100
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /run/lock /usr/local/bin
busybox mount -t devpts -o ptmxmode=666 devpts /dev/pts
ln -sf pts/ptmx /dev/ptmx
busybox mount -t tmpfs -o mode=1777 tmp /tmp
busybox --install -s /usr/local/bin
export PATH=/usr/sbin:/usr/bin:/usr/local/bin
cd /tmp

failed=
check() { # NAME WANT GOT
    if [ "$2" = "$3" ]; then echo "ok   $1"; else echo "FAIL $1: got $3, want $2"; failed=yes; fi
}

echo "arm64: $(uname -srm)"
# How much of a processor a guard takes is not to be seen where a processor is played.
for test in /tests/*; do
    "$test" -test.timeout 30m -test.skip TheGuardOfAGroupThatNeverDies >/tmp/out 2>&1 </dev/null
    status=$?
    [ $status = 0 ] || busybox tail -n 200 /tmp/out
    check "$(busybox tail -n 1 /tmp/out) ${test##*/}" 0 $status
done

# A job under redlockrun itself. $job is its pid once it has begun.
lock='redlockrun --local --key job --'
background() {
    rm -f began got
    $lock sh -c "$1" &
    runner=$!
    while [ ! -s began ]; do busybox usleep 10000; done
    job=$(cat began)
}
ended() { status=0; wait "$runner" || status=$?; }

$lock sh -c 'exit 7'; check "the status of the command" 7 $?
$lock /nowhere 2>/dev/null; check "a command that is not there" 127 $?
background 'echo $$ >began; exec sleep 1000'
$lock true 2>/dev/null; check "a second job" 75 $?
kill -TERM $runner; ended; check "SIGTERM" 143 $status
background 'trap "echo rt >>got" 34; trap "exit 9" USR1; echo $$ >began; while :; do busybox usleep 10000; done'
for signal in 34 34 34; do
    before=$(cat got 2>/dev/null | wc -l)
    kill -$signal $runner
    until [ "$(cat got 2>/dev/null | wc -l)" -gt "$before" ]; do busybox usleep 10000; done
done
kill -USR1 $runner; ended; check "signal 34, then USR1" 9 $status
background 'echo $$ >began; exec sleep 1000'
kill -KILL $runner; ended
while kill -0 $job 2>/dev/null; do busybox usleep 10000; done
check "SIGKILL, and the guard has killed the job" 137 $status
$lock true; check "the lock is free again" 0 $?

[ -z "$failed" ] && echo 'arm64: all of it passed'
busybox poweroff -f
