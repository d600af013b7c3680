#!/bin/sh
# Lets many wait for one lock for a minute (STORM=5m: for five) while everything goes wrong.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh test
STORM=${STORM-60s} CGO_ENABLED=1 exec go test -race -count=1 -v -timeout 24h ./internal/soak
