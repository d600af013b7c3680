#!/bin/sh
# image.sh [DIR]: builds the image by Containerfile, for amd64 and arm64, into DIR (dist/ if not
# said): an OCI archive for each, and one that has both. It needs buildah, but no daemon, no
# registry and no base image. Of one tree, by one Go, one buildah and one set of certificates,
# it makes the same digests, wherever and whenever; it prints them.
#
# The certificates are those that Debian's ca-certificates ships, not what this machine trusts,
# to which others may have been added. CA_BUNDLE=FILE names a file of others.
set -eu
cd "$(dirname "$0")/.."
fail() { echo "image.sh: $1" >&2; exit 69; }
to=${1-dist}
case $to in /*) ;; *) to=$PWD/$to ;; esac
known=$(scripts/version.sh) || fail "neither a repository that git reads nor a file VERSION says what this is"
if [ -z "${CA_BUNDLE-}" ] || ! command -v buildah >/dev/null; then scripts/install-deps.sh image; fi

# Nothing of this machine's user may show in what is made.
umask 022
export LC_ALL=C TZ=UTC GOFLAGS='' GOWORK=off GOAMD64=v1 GOARM64=v8.0
unset GOOS GOEXPERIMENT CDPATH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The name has the form of an archive's: what has no tag sorts before each release.
read -r tag commit date dirty <<KNOWN
$known
KNOWN
epoch=$(date -u -d "$date" +%s)
case $tag in
v[0-9]*) name=${tag#v} ;;
*) name=0.0.0-git$(echo "$date" | tr -cd 0-9) ;;
esac

# It is built beside the tree, in which others may be building, from what a commit could have.
sources() { if [ -e .git ]; then git ls-files -z -co --exclude-standard; else find . -type f ! -path "./dist/*" ! -path "./.tools/*" -print0; fi; }
mkdir "$work/tree" "$work/context"
sources | tar -c --ignore-failed-read --null -T - 2>/dev/null | tar -xC "$work/tree"
echo "$known" >"$work/tree/VERSION"
for arch in amd64 arm64; do
    (cd "$work/tree" && GOARCH=$arch scripts/build.sh)
    mkdir "$work/context/$arch"
    mv "$work/tree/redlockrun" "$work/context/$arch/redlockrun"
done
if [ -n "${CA_BUNDLE-}" ]; then
    cat "$CA_BUNDLE" >"$work/context/ca-certificates.crt"
else
    cat /usr/share/ca-certificates/mozilla/*.crt >"$work/context/ca-certificates.crt"
fi
grep -q 'BEGIN CERTIFICATE' "$work/context/ca-certificates.crt" || fail "there is no certificate in ${CA_BUNDLE-what ca-certificates ships}"
# As long as the project has no home, the image names none (CONTRIBUTING.md, "A public home").
sed '/@[H]OME@/d' "$work/tree/Containerfile" >"$work/Containerfile"

# buildah keeps what it makes in a place of its own, which goes away.
export TMPDIR="$work"
builder() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "buildah failed"; }; }
layout() { # WHAT NAME: what buildah has pushed, as an archive
    tar -cC "$work/$1" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
        --mtime="@$epoch" -f "$work/$2.tar" .
    mv "$work/$2.tar" "$to/$2.tar"
    digest=$(sed 's/.*"digest":"\([^"]*\)".*/\1/' "$work/$1/index.json")
    echo "$2.tar $digest"
}
mkdir -p "$to"
find "$to" -maxdepth 1 -type f -name 'redlockrun-*-image*.tar' -exec rm -f {} +
quietly builder manifest create all
for arch in amd64 arm64; do
    quietly builder build --platform "linux/$arch" --timestamp "$epoch" --identity-label=false --tag "redlockrun:$arch" \
        --build-arg "VERSION=$name" --build-arg "REVISION=$commit${dirty:+-$dirty}" --build-arg "CREATED=$date" \
        --file "$work/Containerfile" "$work/context"
    quietly builder push "redlockrun:$arch" "oci:$work/$arch:redlockrun:$name"
    quietly builder manifest add all "containers-storage:localhost/redlockrun:$arch"
    layout "$arch" "redlockrun-$name-image-$arch"
done
quietly builder manifest push --all all "oci:$work/all:redlockrun:$name"
layout all "redlockrun-$name-image"
