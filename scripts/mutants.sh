#!/bin/sh
# mutants.sh [all|tenth]: puts known faults into the program, one at a time, and fails if a
# test does not find its one. A tenth is drawn by the date.
set -eu
cd "$(dirname "$0")/.."
scripts/install-deps.sh test
case ${1-all} in
all) exec go run ./scripts/mutants ;;
tenth) exec go run ./scripts/mutants -part 10 ;;
*) echo "usage: mutants.sh [all|tenth]" >&2; exit 64 ;;
esac
