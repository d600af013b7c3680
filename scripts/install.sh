#!/bin/sh
# Installs ./redlockrun and its manual pages under the given prefix. They are made first if
# they are missing: root, who installs, may have no Go.
set -eu
cd "$(dirname "$0")/.."
[ -x redlockrun ] || scripts/build.sh
[ -f dist/redlockrun.1 ] || scripts/man.sh
mkdir -p "$1/bin" "$1/share/man/man1"
scripts/place.sh redlockrun "$1/bin/redlockrun"
for page in dist/redlockrun*.1; do
    cp "$page" "$1/share/man/man1"
    chmod 644 "$1/share/man/man1/${page##*/}"
done
echo "installed $1/bin/redlockrun, and its manual pages in $1/share/man/man1"
