#!/bin/sh
# Fuzzes each fuzz test in turn, for FUZZTIME (30s).
set -eu
cd "$(dirname "$0")/.."
for package in $(go list ./...); do
    for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
        echo "== $package $target"
        go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" "$package"
    done
done
