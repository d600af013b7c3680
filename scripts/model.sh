#!/bin/sh
# Explores the larger configurations of the models, of the line's and of the quorum's: minutes, and up to 8 GB.
set -eu
cd "$(dirname "$0")/.."
REDLOCKRUN_MODEL=large exec go test -count=1 -p 1 -timeout 60m -v -run '^Test(Q|Mutation)' \
    ./internal/proof/model/linemodel/ ./internal/proof/model/fencemodel/
