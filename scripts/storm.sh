#!/bin/sh
# Runs the storms against a quorum at full length: about ten minutes.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh test
REDLOCKRUN_STORM=long exec go test -count=1 -timeout 60m -v \
    -run '^(TestQuorumStorm|TestQ5RealTicksGiveOneRunEach|TestTwentyContendersAllGetThrough|TestQ4LockOutlivesARollingRestart)$' ./internal/lock/...
