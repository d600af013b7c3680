#!/bin/sh
# notes.sh VERSION: prints what CHANGELOG.md says of that version, without its heading.
set -eu
cd "$(dirname "$0")/.."
awk -v want="[${1?usage: notes.sh VERSION}]" '
    /^## / || /^\[[^]]*\]: / { on = $1 == "##" && $2 == want; if (on) found = 1; next }
    on && (NF || begun) { begun = 1; text = text pending $0 "\n"; pending = "" }
    END { sub(/\n+$/, "\n", text); printf "%s", text; exit !found || text == "" }
' CHANGELOG.md || { echo "notes.sh: CHANGELOG.md says nothing of $1" >&2; exit 65; }
