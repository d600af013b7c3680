#!/bin/sh
# Installs ./redlockrun and its manual page under the given prefix. They are made first if
# they are missing: root, who installs, may have no Go.
set -eu
cd "$(dirname "$0")/.."
[ -x redlockrun ] || scripts/build.sh
[ -f dist/redlockrun.1 ] || scripts/man.sh
mkdir -p "$1/bin" "$1/share/man/man1"
scripts/place.sh redlockrun "$1/bin/redlockrun"
cp dist/redlockrun.1 "$1/share/man/man1/redlockrun.1"
chmod 644 "$1/share/man/man1/redlockrun.1"
echo "installed $1/bin/redlockrun and $1/share/man/man1/redlockrun.1"
