#!/bin/sh
# Builds ./redlockrun: static, without paths of the machine that built it.
# --version prints what Go itself records about the build, else what scripts/version.sh says.
set -eu
cd "$(dirname "$0")/.."

# Go 1.26's collector keeps its marks in the memory that it marks, which touches a page
# more for each kind of object: 40 pages of a run, in which nothing is collected. With
# it the program misses its bar for memory (docs/dev/start-up.md). Later versions of Go may
# not have the collector before it.
collector=nogreenteagc
GOEXPERIMENT=$collector go version >/dev/null 2>&1 || collector=

# Go fails if it is to look at a repository that git refuses: one of another user, or half
# of one. It does not see one whose .git is a file (a worktree), and would take one around
# the tree for ours: that is told by the linker, as what an archive says of itself is.
vcs=false known=
if [ -d .git ] && scripts/version.sh git >/dev/null; then
    vcs=true
elif [ -e .git ]; then
    known=$(scripts/version.sh git) ||
        echo "git does not read this repository (git status says why): --version will not know the commit" >&2
elif [ -e VERSION ]; then
    known=$(scripts/version.sh)
fi

GOEXPERIMENT=$collector CGO_ENABLED=0 go build -trimpath -buildvcs=$vcs -ldflags "-s -w${known:+ -X 'main.known=$known'}" \
    -o redlockrun.new ./cmd/redlockrun
scripts/place.sh redlockrun.new redlockrun
rm redlockrun.new
