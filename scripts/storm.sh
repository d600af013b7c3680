#!/bin/sh
# Runs the storms against a quorum at full length, and kills ten thousand runs: about twenty
# minutes.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh test
scripts/kill-storm.sh 10000
REDLOCKRUN_STORM=long exec go test -count=1 -timeout 60m -v \
    -run '^(TestQuorumStorm|TestQ5RealTicksGiveOneRunEach|TestTwentyContendersAllGetThrough|TestQ4LockOutlivesARollingRestart)$' ./internal/lock/...
