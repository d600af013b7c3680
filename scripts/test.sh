#!/bin/sh
# Installs what the tests need if it is missing, says what they need and this machine lacks,
# and runs all others.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh test
TESTS_WITHOUT=$(go run ./scripts/preflight)
TESTS_WITHOUT=$(echo $TESTS_WITHOUT)
export TESTS_WITHOUT

# On a kernel that runs programs for 386, what depends on the processor is tested as one, too.
other=386
if ! reason=$(GOARCH=$other CGO_ENABLED=0 go run ./scripts/preflight 2>&1 >/dev/null </dev/null); then
    echo "This machine does not run programs for $other; the tests of signals, guard and runner as one are left out:" >&2
    echo "$reason" | sed 's/^/  /' >&2
    other=
fi

# Most of what takes long waits, so that more of it runs at a time than there are processors.
# What needs a processor for itself is not parallel, and runs before. The package that takes
# longest is the first.
CGO_ENABLED=1 go test -race -shuffle=on -parallel 8 ./...
if [ -n "$other" ]; then GOARCH=$other CGO_ENABLED=0 go test ./internal/relay ./internal/forkexec ./internal/guard ./internal/runner; fi
