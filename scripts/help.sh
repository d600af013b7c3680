#!/bin/sh
# Prints what the Makefile says of itself: a line "## GROUP", and after each target "## what it does".
set -eu
cd "$(dirname "$0")/.."
echo "make [TARGET]; without one: make build"
awk '
    /^## / { print "\n" substr($0, 4); next }
    /^[a-z0-9-]+:.* ## / {
        name = $0; sub(/:.*/, "", name)
        text = $0; sub(/.* ## /, "", text)
        printf "  %-8s %s\n", name, text
    }' Makefile
