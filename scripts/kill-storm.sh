#!/bin/sh
# kill-storm.sh N [SEED]: starts N runs and kills one process of each at a random moment:
# redlockrun, its guard, the process that is to become the command, or the command. Then no
# process of the run may live for 3 s, and no lock longer than its ttl. The seed is printed.
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { echo "usage: kill-storm.sh N [SEED]" >&2; exit 64; }
scripts/install-deps.sh test
export REDLOCKRUN_KILLS="$1" REDLOCKRUN_SEED="${2-}"
exec go test -count=1 -v -timeout 60m -run '^TestOfAKilledRunNothingIsLeft$' ./internal/proof/soak
