#!/bin/sh
# Prints what this tree is, in one line: TAG COMMIT DATE, and "dirty" if there are changes
# that no commit has. TAG is "untagged" if the commit has none. A source archive has this
# line in its file VERSION. It fails where there is neither a repository that git reads nor
# such a file; `version.sh git` looks for the repository alone.
set -eu
cd "$(dirname "$0")/.."

# A repository around the tree is somebody else's, and so is what it knows.
repository() { [ -e .git ] && [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; }

if repository && changes=$(git status --porcelain 2>/dev/null) &&
    commit=$(TZ=UTC git log -1 --format='%H %cd' --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null); then
    tag=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null) || tag=untagged
    echo "$tag $commit${changes:+ dirty}"
elif [ "${1-}" != git ] && [ ! -e .git ] && [ -e VERSION ]; then
    # It becomes an argument of the linker's.
    awk 'NR == 1 && NF >= 3 && /^[A-Za-z0-9.:+ -]+$/ { print; good = 1 } END { exit !good }' VERSION ||
        { echo "VERSION is not TAG COMMIT DATE: remove it, or write it by scripts/version.sh" >&2; exit 65; }
else
    exit 1
fi
