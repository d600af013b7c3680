#!/bin/sh
# server.sh NAME: fetches the server of that name from Debian's archive if it is not here
# yet, and prints the path of a program that starts it. It installs nothing and
# needs no root: apt has directories of its own, so that it checks signatures as ever.
#
# Status 69, with the reason: this machine's mirror or apt does not have it.
set -eu
cd "$(dirname "$0")/.."

case ${1-} in
redis-6.0) suite=bullseye package=redis-server ;;
redis-7.0) suite=bookworm package=redis-server ;;
redis-8.0) suite=trixie package=redis-server ;;
valkey-8.1) suite=trixie package=valkey-server ;;
*) echo "usage: server.sh redis-6.0|redis-7.0|redis-8.0|valkey-8.1" >&2; exit 64 ;;
esac
name=$1
home=$PWD/.tools/servers/$name
if [ -x "$home/start" ]; then echo "$home/start"; exit; fi

lacks() { echo "$name: $1" >&2; exit 69; }
for program in apt-get dpkg-deb; do
    command -v $program >/dev/null || lacks "it comes from Debian's archive, and there is no $program here"
done

mkdir -p "$PWD/.tools/servers"
work=$(mktemp -d "$PWD/.tools/servers/fetch-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 755 "$work" # apt may fetch as a user of its own
mkdir -p "$work/sources.list.d" "$work/preferences.d" "$work/state/lists/partial" "$work/cache/archives/partial" "$work/root"
: >"$work/status"

# Of this machine's sources, those of its own release's main archive, with another suite.
. /etc/os-release
own="${VERSION_CODENAME-none}|stable|oldstable|testing"
find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.list' -exec cat {} + 2>/dev/null |
    grep -E "^deb( +\[[^]]*\])? +[^ ]+ +($own) " |
    sed -E "s/^(deb( +\[[^]]*\])? +[^ ]+ +)[^ ]+ /\1$suite /" >"$work/sources.list" || true
find /etc/apt/sources.list.d -name '*.sources' -exec awk -v own="^($own)\$" -v suite="$suite" '
    BEGIN { RS = ""; FS = "\n" }
    {
        ours = 0; stanza = ""
        for (i = 1; i <= NF; i++) {
            if (tolower($i) ~ /^suites:/) {
                n = split($i, word, /[ \t]+/)
                for (j = 2; j <= n; j++) if (word[j] ~ own) ours = 1
                $i = "Suites: " suite
            }
            stanza = stanza $i "\n"
        }
        if (ours) print stanza
    }' {} \; >"$work/sources.list.d/machine.sources" 2>/dev/null || true

# What is set here holds after the machine's own configuration: its proxies and
# passwords stay, its hooks and the list of what is installed do not matter.
cat >"$work/apt.conf" <<CONF
#clear Acquire::IndexTargets::deb::DEP-11;
#clear Acquire::IndexTargets::deb::DEP-11-icons;
#clear Acquire::IndexTargets::deb::DEP-11-icons-small;
#clear Acquire::IndexTargets::deb::DEP-11-icons-large;
#clear APT::Update;
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "$work/sources.list.d";
Dir::Etc::preferences "$work/preferences";
Dir::Etc::preferencesparts "$work/preferences.d";
Dir::State "$work/state";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
APT::Install-Recommends "false";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
CONF
apt() {
    apt-get -c "$work/apt.conf" -qq "$@" </dev/null >"$work/log" 2>&1 ||
        lacks "apt-get cannot $1 $suite: $(grep '^E:' "$work/log" | head -n 1)"
}
echo "fetching $name from Debian's $suite" >&2
apt update
apt install -y --download-only $package
for deb in "$work"/cache/archives/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
rm -rf "$work/root/usr/share" "$work/root/var"

# It runs by the loader and the libraries of its own release, wherever this directory is moved to.
loader=$(cd "$work" && find root -name 'ld-linux*.so.*' | head -n 1)
libraries=$(cd "$work" && find root -name '*.so.*' -printf '$here/%h\n' | sort -u | paste -sd:)
cat >"$work/start" <<START
#!/bin/sh
here=\${0%/*}
exec "\$here/$loader" --library-path "$libraries" "\$here/root/usr/bin/$package" "\$@"
START
chmod 755 "$work/start"
"$work/start" --version >/dev/null || lacks "it does not start here"
mkdir -p "$home"
rm -rf "$home/root"
mv "$work/root" "$work/start" "$home"
echo "$home/start"
