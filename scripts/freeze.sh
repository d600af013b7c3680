#!/bin/sh
# Writes testdata/protocol/1 anew: what this release sends to Redis and leaves there. Only
# while nothing has been released; see testdata/protocol/1/README.md.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh test
go test -count=1 -run '^TestFreeze$' ./internal/lock/line ./internal/lock/quorum ./internal/lock/local -freeze
git --no-pager diff --stat -- testdata/protocol
