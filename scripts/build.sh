#!/bin/sh
# Builds ./redlockrun: static, without paths of the machine that built it.
# --version prints what Go itself records about the build.
set -eu
cd "$(dirname "$0")/.."

# Go 1.26's collector keeps its marks in the memory that it marks, which touches a page
# more for each kind of object: 40 pages of a run, in which nothing is collected. With
# it the program misses its bar for memory (docs/start-up.md). Later versions of Go may
# not have the collector before it.
collector=nogreenteagc
GOEXPERIMENT=$collector go version >/dev/null 2>&1 || collector=

GOEXPERIMENT=$collector CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o redlockrun.new ./cmd/redlockrun
scripts/place.sh redlockrun.new redlockrun
rm redlockrun.new
