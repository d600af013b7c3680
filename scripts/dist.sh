#!/bin/sh
# dist.sh [DIR]: makes what a release consists of, in DIR (dist/ if not said), of the commit
# that is checked out: archives, packages, the sources, who is in it (SPDX), and the sums.
# Whoever has the same commit and the same Go makes the same bytes, wherever and whenever.
#
# It refuses a worktree with changes: they would be in nobody else's. In an unpacked archive of
# the sources, which has no repository, its file VERSION says which commit it is.
set -eu
cd "$(dirname "$0")/.."
fail() { echo "dist.sh: $1" >&2; exit "${2-69}"; }
to=${1-dist}
case $to in /*) ;; *) to=$PWD/$to ;; esac
known=$(scripts/version.sh) || fail "neither a repository that git reads nor a file VERSION says what this is"
case $known in *" dirty") fail "there are changes that no commit has: commit or stash them (git status)" 65 ;; esac

# Nothing of this machine's user may show in what is made.
umask 022
export LC_ALL=C TZ=UTC GOFLAGS='' GOWORK=off GOAMD64=v1 GOARM64=v8.0 GOARM=7 GO386=sse2 CGO_ENABLED=0
unset GOOS GOARCH GOEXPERIMENT CDPATH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# From here on it is the commit's files alone, by the commit's own script.
if [ -e .git ]; then
    mkdir "$work/sources"
    git -c core.autocrlf=false archive HEAD | tar -xC "$work/sources"
    echo "$known" >"$work/sources/VERSION"
    "$work/sources/scripts/dist.sh" "$to"
    exit
fi

tag=${known%% *} date=${known##* }
SOURCE_DATE_EPOCH=$(date -u -d "$date" +%s 2>/dev/null || date -u -j -f %Y-%m-%dT%H:%M:%SZ "$date" +%s)
export SOURCE_DATE_EPOCH
# What has no tag sorts before each release, and later commits after earlier ones.
PACKAGE_PRERELEASE=
case $tag in
v[0-9]*) PACKAGE_VERSION=${tag#v} name=$PACKAGE_VERSION ;;
*) PACKAGE_VERSION=0.0.0 PACKAGE_PRERELEASE=git$(echo "$date" | tr -cd 0-9) name=$PACKAGE_VERSION-$PACKAGE_PRERELEASE ;;
esac
# Both are marked until there is a home (CONTRIBUTING.md, "A public home").
PACKAGE_HOMEPAGE='@HOME@' PACKAGE_MAINTAINER='redlockrun <@CONTACT@>'
case $PACKAGE_HOMEPAGE in https://*) ;; *) PACKAGE_HOMEPAGE= PACKAGE_MAINTAINER='redlockrun <root@localhost>' ;; esac
export PACKAGE_VERSION PACKAGE_PRERELEASE PACKAGE_HOMEPAGE PACKAGE_MAINTAINER

made=$work/made
mkdir "$made"
go build -trimpath -buildvcs=false -o "$work/archive" ./scripts/archive
go -C scripts/package build -trimpath -buildvcs=false -o "$work/nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm

# What may have been built beside the sources is not in their archive.
find . -type f ! -path ./redlockrun ! -path './dist/*' ! -path './.tools/*' | "$work/archive" \
    tar "$made/redlockrun-$name-source.tar.gz" "redlockrun-$name-source"

# The manual and the completions are the program's own words, which no processor changes.
scripts/build.sh
scripts/man.sh
common=$work/common
mkdir -p "$common/share/man/man1" "$common/share/doc/redlockrun/examples" "$common/lib/systemd/system" \
    "$common/share/bash-completion/completions" "$common/share/zsh/site-functions" "$common/share/fish/vendor_completions.d"
for page in dist/redlockrun*.1; do
    "$work/archive" gz "$page" "$common/share/man/man1/${page##*/}.gz"
done
"$work/archive" gz CHANGELOG.md "$common/share/doc/redlockrun/changelog.gz"
cat >"$work/changelog.Debian" <<END
redlockrun ($PACKAGE_VERSION${PACKAGE_PRERELEASE:+~$PACKAGE_PRERELEASE}-1) stable; urgency=medium

  * What changed is in changelog.gz.

 -- $PACKAGE_MAINTAINER  $(date -u -R -d "$date" 2>/dev/null || date -u -R -j -f %Y-%m-%dT%H:%M:%SZ "$date")
END
"$work/archive" gz "$work/changelog.Debian" "$work/changelog.Debian.gz"
./redlockrun completion bash >"$common/share/bash-completion/completions/redlockrun"
./redlockrun completion zsh >"$common/share/zsh/site-functions/_redlockrun"
./redlockrun completion fish >"$common/share/fish/vendor_completions.d/redlockrun.fish"
cp docs/monitoring/alerts.yml docs/monitoring/dashboard.json "$common/share/doc/redlockrun/examples"
cp scripts/package/*.service scripts/package/*.timer "$common/lib/systemd/system"

# Linux, where commands are run, and the processors on which that is tested.
for arch in amd64 arm64 386 arm; do
    GOARCH=$arch scripts/build.sh
    mkdir -p "$work/bin/$arch"
    mv redlockrun "$work/bin/$arch/redlockrun"
done
go run -buildvcs=false ./scripts/sbom "$name" "$known" "$made/redlockrun-$name.spdx.json" "$common/share/doc/redlockrun/copyright" \
    "$work"/bin/*/redlockrun

for arch in amd64 arm64 386 arm; do
    case $arch in arm) label=armv7 PACKAGE_ARCH=arm7 ;; *) label=$arch PACKAGE_ARCH=$arch ;; esac
    export PACKAGE_ARCH

    # The archive is unpacked into /usr/local; a package has its program elsewhere.
    root=$work/$arch/root
    mkdir -p "$root"
    cp -R "$common/." "$root"
    mkdir "$root/bin"
    cp "$work/bin/$arch/redlockrun" "$root/bin/redlockrun"
    cp scripts/package/default "$root/share/doc/redlockrun/examples/default"
    (cd "$root" && find . -type f | "$work/archive" tar "$made/redlockrun-$name-linux-$label.tar.gz" "redlockrun-$name-linux-$label")

    mv "$root/share/doc/redlockrun/examples/default" "$root/default"
    for unit in "$root"/lib/systemd/system/*.service; do
        sed 's|/usr/local/bin/|/usr/bin/|' "$unit" >"$work/unit"
        cp "$work/unit" "$unit"
    done
    cp scripts/package/nfpm.yaml scripts/package/*.sh "$work/changelog.Debian.gz" "$work/$arch"
    touch -d "$date" "$work/$arch"/*.sh # whose times nfpm writes into an apk, whatever it was told
    for packager in deb rpm apk; do
        (cd "$work/$arch" && "$work/nfpm" package --config nfpm.yaml --packager $packager --target "$made" >/dev/null)
    done
done

(cd "$made" && sha256sum -- * >"$work/SHA256SUMS")
mkdir -p "$to"
find "$to" -maxdepth 1 -type f \( -name 'redlockrun[-_]*' -o -name 'SHA256SUMS*' \) -exec rm -f {} +
mv "$made"/* "$work/SHA256SUMS" "$to"
echo "made $(wc -l <"$to/SHA256SUMS") files of $known in $to"
