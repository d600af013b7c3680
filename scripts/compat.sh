#!/bin/sh
# compat.sh [quick] [SERVER...]: runs the tests of the lock, of its line and of the command
# against servers of other versions than this machine's (see server.sh). A server
# that cannot be had here is said and left out.
#
# quick is a selection: what servers do differently. It leaves out the version of
# this machine's own redis-server, which `make test` runs wholly.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh test
TESTS_WITHOUT=$(go run ./scripts/preflight)
TESTS_WITHOUT=$(echo $TESTS_WITHOUT)
export TESTS_WITHOUT

quick=
own=
if [ "${1-}" = quick ]; then
    shift
    quick=some
    own=$(redis-server --version | sed -n 's/^\([A-Z][a-z]*\) server v=\([0-9]*\.[0-9]*\).*/\1-\2/p' | tr A-Z a-z)
fi
[ $# -gt 0 ] || set -- redis-6.0 redis-7.0 redis-8.0 valkey-8.1

# The selection, of the packages of Go and of the scripts of the command.
packages='^Test(Refusals|AnAcquireEndsAtOnce|ARestartKeeps|RestartedServersGive|AReplicaIsNot|AServerBusy|AServerOutOfMemory|AKeyWithoutTTL|AKeyOfAnother|AWrongType|AQuorumNeedsOnly|TheRightsOfAJobAnd|TheRightsOfAJobSufficeInA|AClusterSlotMovesUnderTheQueue|PrefixAndDatabase|Release|WaitersAre|WaitingRights|Line|RestartWithData|LockIsHeld|MinHold|BusyLock|Fence|Floors|Frozen|Scenarios|Clock|Users)'
scripts='^TestScripts$/^(busy|fence|line|lost-gone|lost-taken|newer|newer-quorum|not-a-lock|outage.*|password|quorum|refused.*|status|stores|wait)$'

# try PATTERN PACKAGE...: tests against $server, those that it cannot pass left out.
try() {
    pattern=$1
    shift
    REDISTEST_SERVER=$server go test -count=1 -timeout 30m -run "$pattern" -skip "$(lacking "$name")" "$@"
}
all() { try . ./internal/proof/redistest ./internal/lock/... ./cmd/redlockrun; }
some() { try "$packages" ./internal/proof/redistest ./internal/lock/... && try "$scripts" ./cmd/redlockrun; }

# lacking is which tests are of something that a server does not have.
lacking() {
    case $1 in
    redis-6.0) # a master with too few replicas obeys scripts nevertheless; sentinels have no users
        echo '^(TestWithMinReplicasAMasterCutOffStopsItsClient|TestTheRightsOfAJobAndOfItsSentinelsSufficeAndAreNeeded|TestBothPasswordsOfSentinelAreRotatedUnderARunningJob)$' ;;
    *) echo '^$' ;;
    esac
}

passed= without= failed=
for name in "$@"; do
    if [ "$name" = "$own" ]; then continue; fi
    server=$(scripts/server.sh "$name") || { without="$without $name"; continue; }
    echo "== $("$server" --version | cut -d' ' -f1-3)"
    if ${quick:-all}; then
        passed="$passed $name"
    else
        failed="$failed $name"
    fi
done
if [ -n "$own" ]; then echo "compat: left to make test: $own"; fi
if [ -n "$passed" ]; then echo "compat: passed:$passed"; fi
if [ -n "$without" ]; then echo "compat: not to be had here:$without" >&2; fi
if [ -n "$failed" ]; then echo "compat: FAILED:$failed" >&2; exit 1; fi
