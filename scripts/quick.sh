#!/bin/sh
# What one runs while working: the lint that needs no network, and all tests but the slow
# ones (internal/proof/ability says which those are), without the race detector.
set -eu
cd "$(dirname "$0")/.."
scripts/lint.sh quick
TESTS_WITHOUT=$(go run ./scripts/preflight)
TESTS_WITHOUT=$(echo $TESTS_WITHOUT)
export TESTS_WITHOUT
# Three packages at a time: most of what is left waits.
go test -short -shuffle=on -p 3 -parallel 8 ./...
