#!/bin/sh
# Builds ./redlockrun: static, without paths of the machine that built it.
# --version prints what Go itself records about the build.
set -eu
cd "$(dirname "$0")/.."
CGO_ENABLED=0 exec go build -trimpath -ldflags '-s -w' -o redlockrun ./cmd/redlockrun
