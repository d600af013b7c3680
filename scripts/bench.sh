#!/bin/sh
# Measures ./redlockrun against what people use instead, and holds it to its bars.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh bench
exec go run ./scripts/bench "$@"
