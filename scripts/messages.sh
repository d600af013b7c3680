#!/bin/sh
# Writes dist/messages.txt: each message of the program, and the scripts and tests that show it.
set -eu
cd "$(dirname "$0")/.."
mkdir -p dist
go run ./scripts/messages >dist/messages.txt
tail -n 1 dist/messages.txt
