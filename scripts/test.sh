#!/bin/sh
# Installs what the tests need if it is missing, and runs all of them.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh test
CGO_ENABLED=1 exec go test -race -shuffle=on ./...
