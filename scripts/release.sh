#!/bin/sh
# release.sh [--dry-run] [--key FILE] VERSION: makes a release of the commit that is checked out.
#
#   1. It refuses a worktree with changes, a version that is no X.Y.Z or is there already, and a
#      changelog that says nothing of it.
#   2. In a clone: CHANGELOG.md's section "Unreleased" becomes VERSION with the day of today, is
#      committed and tagged vVERSION; .ci/run must pass; dist/ is made of it, and notes.
#   3. The commit and the tag come from the clone to here, files to dist/, notes to dist/NOTES.md.
#
# Until step 3 nothing here has changed. --dry-run ends before: the files come to dist/, neither
# commit nor tag. --key is an ssh key that ALLOWED_SIGNERS names; it signs tag and SHA256SUMS.
# Nothing is pushed: that is the last line's.
set -eu
cd "$(dirname "$0")/.."
fail() { echo "release.sh: $1" >&2; exit "${2-65}"; }

dry= key= version=
while [ $# -gt 0 ]; do
    case $1 in
    --dry-run) dry=yes ;;
    --key) [ $# -gt 1 ] && [ -f "$2" ] || fail "--key wants the file of a key" 64; key=$(realpath "$2"); shift ;;
    -*) fail "unknown flag $1" 64 ;;
    *) [ -z "$version" ] || fail "one version, not two" 64; version=$1 ;;
    esac
    shift
done
echo "$version" | grep -Eqx '(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}' || fail "usage: release.sh [--dry-run] [--key FILE] X.Y.Z" 64
tag=v$version
known=$(scripts/version.sh git) || fail "this is no repository that git reads" 69
case $known in *" dirty") fail "there are changes that no commit has: commit or stash them (git status)" ;; esac
! git rev-parse --verify --quiet "refs/tags/$tag" >/dev/null || fail "the tag $tag is there already"
branch=$(git symbolic-ref --quiet --short HEAD) || fail "no branch is checked out"
last=$(git tag --list 'v[0-9]*' --sort=-version:refname | head -n 1)
[ -z "$last" ] || [ "$(printf '%s\n' "$last" "$tag" | sort -V | tail -n 1)" = "$tag" ] || fail "$version is older than $last"
if [ -n "$key" ]; then
    ssh-keygen -y -P '' -f "$key" >/dev/null 2>&1 || ssh-keygen -l -f "$key" >/dev/null || fail "$key is no ssh key" 64
    grep -qF "$(ssh-keygen -y -f "$key" | cut -d' ' -f1,2)" ALLOWED_SIGNERS || fail "ALLOWED_SIGNERS does not name $key"
fi
scripts/notes.sh Unreleased >/dev/null

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
clone=$work/clone
git clone -q --branch "$branch" . "$clone"
for name in user.name user.email; do
    if value=$(git config "$name"); then git -C "$clone" config "$name" "$value"; fi
done

awk -v version="$version" -v day="$(date -u +%F)" '
    /^## \[Unreleased\]/ { print; print ""; $0 = "## [" version "] - " day }
    /^\[Unreleased\]: / { print; sub(/\[Unreleased\]/, "[" version "]"); sub(/\/commits\/[^\/]*$/, "/commits/v" version) }
    { print }
' CHANGELOG.md >"$clone/CHANGELOG.md"
git -C "$clone" commit -q -m "Release $version" CHANGELOG.md
"$clone/scripts/notes.sh" "$version" >"$work/notes"
{ echo "redlockrun $version"; echo; cat "$work/notes"; } >"$work/message"
if [ -n "$key" ]; then
    git -C "$clone" -c gpg.format=ssh -c user.signingkey="$key" tag -s --cleanup=verbatim -F "$work/message" "$tag"
else
    git -C "$clone" tag -a --cleanup=verbatim -F "$work/message" "$tag"
fi

"$clone/.ci/run" >"$work/ci" 2>&1 || { tail -n 40 "$work/ci" >&2; fail ".ci/run fails, see above: nothing is released" 1; }
[ -z "$(git -C "$clone" status --porcelain)" ] || fail ".ci/run changed files that are committed" 1
"$clone/scripts/dist.sh" "$PWD/dist"
cp "$work/notes" dist/NOTES.md
[ -z "$key" ] || ssh-keygen -q -Y sign -n redlockrun -f "$key" dist/SHA256SUMS
[ -n "$key" ] || echo "not signed: --key names the key that signs it" >&2

if [ -n "$dry" ]; then
    echo "$tag is in dist/ as it would be; here is neither its commit nor its tag"
    exit
fi
git pull -q --ff-only "$clone" "$branch"
git fetch -q "$clone" "refs/tags/$tag:refs/tags/$tag"
echo "released here as $tag; to all: git push --atomic origin $branch $tag"
