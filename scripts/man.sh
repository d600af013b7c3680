#!/bin/sh
# Writes the manual pages, dist/redlockrun.1 and dist/redlockrun-COMMAND.1, of the program as it
# stands here. Their date is SOURCE_DATE_EPOCH, else the commit's, else that of today.
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
new=$(mktemp -d dist/manual.XXXXXX)
trap 'rm -rf "$new"' EXIT
go run ./scripts/manual "$date" "$new"
rm -f dist/redlockrun*.1
mv "$new"/*.1 dist
