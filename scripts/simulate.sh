#!/bin/sh
# simulate.sh N           simulates N seeds: 200 that are always the same, and others by the date
# simulate.sh for D       simulates for so long, 60s or 10m
# simulate.sh replay SEED ['CHOICE']   prints what happens in the world of a seed, or in what is left of it
# simulate.sh faults [WORDS]   puts in the known faults (with these words in them) and writes into docs/dev/proof/seeded-faults.md after how many seeds each is seen
set -eu
cd "$(dirname "$0")/.."
usage() { sed -n '2,5s/^# /usage: /p' "$0" >&2; exit 64; }
[ $# -ge 1 ] || usage
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
today=$(($(date -u +%s) / 86400 * 1000000))
case $1 in
for) set -- -test.run '^TestSeeds$' -during "${2-60s}" -first "$today" ;;
replay) [ $# -ge 2 ] || usage; set -- -test.run '^TestReplay$' -replay "$2 ${3-}" ;;
faults) exec go run ./scripts/mutants -simulate -table docs/dev/proof/seeded-faults.md -only "${2-}" ;;
[1-9]*) set -- -test.run '^TestSeeds$' -seeds "$1" -first "$today" ;;
*) usage ;;
esac
go test -c -vet=off -o "$build/simulation.test" ./internal/proof/simulation
# A world is small: collecting its garbage four times as seldom saves a seventh of the time.
GOGC=400 "$build/simulation.test" -test.timeout 24h "$@"
