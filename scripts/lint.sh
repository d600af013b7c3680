#!/bin/sh
# Everything that can be said about the code without running it. `lint.sh quick` is what
# needs no network and no other platform.
set -eu
cd "$(dirname "$0")/.."

step() { echo "lint: $1"; }

step gofmt
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted" >&2; exit 1; }

step 'line length'
long=$(find . -name '*.go' ! -path './.tools/*' -exec awk '{ gsub(/\t/, "    ") } length > 120 { print FILENAME ":" FNR }' {} +)
[ -z "$long" ] || { echo "longer than 120 columns, a tab counted as 4:" $long >&2; exit 1; }

step 'import rules'
scripts/imports.sh

step 'go vet'
go vet -tags e2e ./...

[ "${1:-}" != quick ] || exit 0

step 'go mod tidy'
go mod tidy -diff
go -C scripts/tools mod tidy -diff

step staticcheck
go tool -modfile scripts/tools/go.mod staticcheck -tags e2e ./...

step 'known vulnerabilities'
scripts/vulnerable.sh

# Every platform that the README names.
for target in linux/arm64 linux/386 linux/arm \
    darwin/amd64 darwin/arm64 freebsd/amd64 freebsd/arm64; do
    step "$target"
    export CGO_ENABLED=0 GOOS="${target%/*}" GOARCH="${target#*/}"
    go vet ./...
    go build -o /dev/null ./cmd/redlockrun
done
