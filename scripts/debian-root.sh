#!/bin/sh
# debian-root.sh DIR: lays out in DIR what Debian (or Ubuntu) of this machine's release consists of
# at the least: dpkg, a shell and what they need. It is fetched once, by apt with directories of its
# own, and kept in .tools. Needs root. Status 69, with the reason: this machine has none.
set -eu
cd "$(dirname "$0")/.."
lacks() { echo "debian-root.sh: $1" >&2; exit 69; }
[ "$(id -u)" = 0 ] || lacks "only root can lay out a root directory"
command -v mmdebstrap >/dev/null || lacks "mmdebstrap is missing: scripts/install-deps.sh e2e"
. /etc/os-release
suite=${VERSION_CODENAME:-stable}
kept=$PWD/.tools/debian/$suite-$(dpkg --print-architecture).tar
if ! [ -e "$kept" ]; then
    mkdir -p "${kept%/*}"
    echo "fetching Debian's $suite" >&2
    mmdebstrap --quiet --mode=root --variant=essential "$suite" "$kept.new.tar" >&2 || lacks "mmdebstrap cannot fetch $suite, see above"
    mv "$kept.new.tar" "$kept"
fi
tar -xpf "$kept" -C "$1" --exclude='./dev/*'
mknod -m 666 "$1/dev/null" c 1 3 # all of /dev that anybody here needs
