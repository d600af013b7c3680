#!/bin/sh
# What one runs while working: the lint that needs no network, and all tests but the slow
# ones (internal/ability says which those are), without the race detector.
set -eu
cd "$(dirname "$0")/.."
scripts/lint.sh quick
TESTS_WITHOUT=$(go run ./scripts/preflight)
TESTS_WITHOUT=$(echo $TESTS_WITHOUT)
export TESTS_WITHOUT
go test -short -shuffle=on -parallel 8 ./...
