#!/bin/sh
# home.sh URL CONTACT: fills in where the project lives and where vulnerabilities are reported,
# once it has a public home. URL is the repository's page (https://...), CONTACT an address to
# write to, or a page. Each place is marked by a word between two @: HOME or CONTACT. Whoever
# needs a further place marks it so; nothing else has to be known.
set -eu
cd "$(dirname "$0")/.."
fail() { echo "home.sh: $1" >&2; exit 64; }

[ $# = 2 ] || fail "usage: home.sh URL CONTACT"
url=${1%/} contact=$2
case $url in https://*/*) ;; *) fail "the URL is not one of https: $url" ;; esac
case $contact in *@*.* | https://*) ;; *) fail "the contact is neither an address nor a page: $contact" ;; esac
case "$url$contact" in *[!A-Za-z0-9@:/.+_~%-]*) fail "this is no plain URL or address: $url $contact" ;; esac

marked() { grep -rIlE --exclude-dir=.git --exclude-dir=.tools '[@](HOME|CONTACT)@' . || true; }
[ -n "$(marked)" ] || fail "nothing is marked: it is filled in already"
filled=$(mktemp)
trap 'rm -f "$filled"' EXIT
marked | while read -r file; do
    sed "s|[@]HOME@|$url|g; s|[@]CONTACT@|$contact|g" "$file" >"$filled"
    cat "$filled" >"$file" # its mode stays
    echo "filled in $file"
done
