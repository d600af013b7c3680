#!/bin/sh
# killed-runs.sh N [SEED]: starts N runs and kills one process of each at a random moment:
# redlockrun, its guard, the process that becomes the command, or the command. After 3 s no
# process of the run may live, and no lock may outlive its ttl. The seed is printed.
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { echo "usage: killed-runs.sh N [SEED]" >&2; exit 64; }
scripts/install-deps.sh test
export REDLOCKRUN_KILLS="$1" REDLOCKRUN_SEED="${2-}"
exec go test -count=1 -v -timeout 60m -run '^TestOfAKilledRunNothingIsLeft$' ./internal/proof/nemesis
