#!/bin/sh
# Installs ./redlockrun under the given prefix.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1/bin"
scripts/place.sh redlockrun "$1/bin/redlockrun"
echo "installed $1/bin/redlockrun"
