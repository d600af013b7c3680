#!/bin/sh
# Builds ./redlockrun: static, without paths of the machine that built it.
# --version prints what Go itself records about the build.
set -eu
cd "$(dirname "$0")/.."
CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o redlockrun.new ./cmd/redlockrun
scripts/place.sh redlockrun.new redlockrun
rm redlockrun.new
