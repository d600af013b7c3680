#!/bin/sh
# Measures what thousands of holders and waiters cost a server, and draws docs/dev/proof/scale.svg.
# Ten thousand holders take 19,032 descriptors for the server alone: see ulimit -n.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh bench
exec go run ./scripts/scale "$@"
