#!/bin/sh
# Writes the manual page, dist/redlockrun.1, of the program as it stands here. Its date is
# SOURCE_DATE_EPOCH, else the commit's, else that of today.
set -eu
cd "$(dirname "$0")/.."
if [ -n "${SOURCE_DATE_EPOCH-}" ]; then
    date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%F 2>/dev/null || date -u -r "$SOURCE_DATE_EPOCH" +%F)
elif known=$(scripts/version.sh 2>/dev/null); then
    date=$(echo "$known" | awk '{ print substr($3, 1, 10) }')
else
    date=$(date -u +%F)
fi
mkdir -p dist
go run ./scripts/manual "$date" >dist/redlockrun.1.new
mv dist/redlockrun.1.new dist/redlockrun.1
