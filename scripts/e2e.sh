#!/bin/sh
# Runs the README's recipes, a real cron, systemd's check of the unit files and
# the demonstration. Takes up to two minutes, as cron starts at full minutes.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh e2e
CGO_ENABLED=1 exec go test -race -count=1 -tags e2e ./internal/e2e
