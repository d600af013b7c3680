#!/bin/sh
# verify-release.sh TAG|COMMIT [DIR]: builds that commit of this repository anew, in a directory
# of its own, and compares what comes of it with the release in DIR (dist/ if not said), byte for
# byte. Then it checks who has signed DIR/SHA256SUMS, by the file ALLOWED_SIGNERS of this worktree:
# read that file first, and take it from a place that you trust.
#
# Status 0: it is what this commit makes. 1: it is not, or the signature is missing or wrong.
# 64, 69: nothing was compared.
set -eu
cd "$(dirname "$0")/.."
fail() { echo "verify-release.sh: $1" >&2; exit "${2-1}"; }
[ $# = 1 ] || [ $# = 2 ] || fail "usage: verify-release.sh TAG|COMMIT [DIR]" 64
dir=$(cd "${2-dist}" 2>/dev/null && pwd) && [ -f "$dir/SHA256SUMS" ] || fail "${2-dist} has no SHA256SUMS" 64
commit=$(git rev-parse --verify --quiet "$1^{commit}") || fail "$1 is no commit that this repository has: git fetch --tags" 64

(cd "$dir" && sha256sum --check --ignore-missing --quiet SHA256SUMS) || fail "a file in $dir is not the one that SHA256SUMS means"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
git clone -q --no-checkout . "$work/clone"
git -C "$work/clone" checkout -q --detach "$commit"

# The same bytes come of the same Go alone: the release says which that was.
made_by=$(sed -n 's|.*"pkg:golang/std@\([0-9.]*\)".*|go\1|p' "$dir"/redlockrun-*.spdx.json)
if [ -n "$made_by" ] && [ "$(cd "$work/clone" && go env GOVERSION)" != "$made_by" ]; then
    echo "fetching $made_by, which made this release" >&2
    export GOTOOLCHAIN="$made_by"
fi
"$work/clone/scripts/dist.sh" "$work/made" >&2 || fail "the commit cannot be built here, see above" 69
diff "$dir/SHA256SUMS" "$work/made/SHA256SUMS" >&2 || fail "$dir is not what $commit makes: < is there, > was made here"
echo "the same: $(wc -l <"$dir/SHA256SUMS") files, each as $commit makes it"

signers=$(grep -cv -e '^#' -e '^ *$' ALLOWED_SIGNERS) || true
if [ "$signers" = 0 ]; then
    echo "not signed, as far as can be told: ALLOWED_SIGNERS names nobody"
elif [ -f "$dir/SHA256SUMS.sig" ]; then
    who=$(ssh-keygen -Y find-principals -s "$dir/SHA256SUMS.sig" -f ALLOWED_SIGNERS) &&
        ssh-keygen -Y verify -n redlockrun -I "$who" -f ALLOWED_SIGNERS -s "$dir/SHA256SUMS.sig" <"$dir/SHA256SUMS" ||
        fail "the signature of $dir/SHA256SUMS is by nobody whom ALLOWED_SIGNERS names"
elif git rev-parse --verify --quiet "refs/tags/$1" >/dev/null; then
    fail "$1 is a release, and $dir/SHA256SUMS.sig is missing"
else
    echo "not signed: $1 is no tag"
fi
