#!/bin/sh
# nemesis.sh: twenty runs at a time contend for locks on one server, Sentinel, a Cluster and a
# quorum of five, for NEMESIS=60s each, while processes, servers and the network fail and
# operators pause, resume, stop and unlock. What the jobs saw must be what a lock allows. Then
# what is outside of the promises is shown to let two run at once, and faults that are put into
# the program are found. REDLOCKRUN_SEED=N draws the same faults once more.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh test
export NEMESIS="${NEMESIS-60s}"
exec go test -count=1 -v -timeout 24h ./internal/proof/nemesis
