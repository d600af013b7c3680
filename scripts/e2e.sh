#!/bin/sh
# Runs what depends on the processor on a kernel for arm64, the recipes, a real cron, systemd's
# check of the unit files, the alerts in a real Prometheus, the image in real containers, the
# demonstration, the comparison with flock and SET NX, and a new user's walk. Takes some minutes.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh e2e
scripts/arm64.sh
CGO_ENABLED=1 exec go test -race -count=1 -timeout 30m -tags e2e ./internal/proof/e2e
