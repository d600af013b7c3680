#!/bin/sh
# Lets many wait for one lock for a minute (STORM=5m: for five) while everything goes wrong,
# and then for as long clients of the frozen protocol beside those of this release. At the
# end come ten thousand ticks of twenty hosts, a thousand runs with a ledger, and a thousand
# races of operators.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh test
export STORM="${STORM-60s}" CGO_ENABLED=1
go test -race -count=1 -v -timeout 24h ./internal/proof/soak
go test -race -count=1 -v -timeout 24h -run '^(TestReleasesContendForOneLock|TestReleasesContendForOneQuorum)$' \
    ./internal/lock/line ./internal/lock/quorum
go test -count=1 -v -timeout 1h -run '^(TestEachTickIsDoneOnce|TestTheLedgerCountsWhatTheRunsKnow|TestOperatorsRaceWithRuns)$' ./internal/lock/line
