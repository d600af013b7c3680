#!/bin/sh
# recording.sh [ARG...]: records real runs of ./redlockrun on a throw-away Redis as docs/demo.svg.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh bench
exec go run ./scripts/recording "$@"
