#!/bin/sh
# Explores the larger configurations of the quorum's models: minutes, and up to 8 GB.
set -eu
cd "$(dirname "$0")/.."
REDLOCKRUN_MODEL=large exec go test -count=1 -timeout 60m -v -run '^TestQ' ./internal/lock/quorum/fencemodel/
