#!/bin/sh
# Before the package's files go: its timers end, whoever enabled them. An upgrade is no end;
# rpm counts what is left, dpkg has words.
set -eu
case ${1-0} in remove | deconfigure | 0) ;; *) exit 0 ;; esac
[ -d /run/systemd/system ] || exit 0
for wanted in /etc/systemd/system/timers.target.wants/redlockrun-metrics.timer \
    /etc/systemd/system/timers.target.wants/redlockrun-check@*.timer; do
    if [ -L "$wanted" ]; then systemctl disable --now "${wanted##*/}" || true; fi
done
