#!/bin/sh
# Installs ./redlockrun under the given prefix.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1/bin"
install -m 0755 redlockrun "$1/bin/redlockrun"
echo "installed $1/bin/redlockrun"
