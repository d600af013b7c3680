#!/bin/sh
# track-record.sh [N|COMMIT|PART|all] [SEED]: shows faults that were found, each on the commit
# before the one that mended it: N drawn by the seed (three by the date), in five minutes at
# most; those of a commit or of a part; or all. `table` writes the record into docs/dev/proof/track-record.md.
set -eu
cd "$(dirname "$0")/.."
case ${1-} in table | check) ;; *) scripts/install-deps.sh test ;; esac
exec go run ./scripts/trackrecord ${2:+-seed "$2"} "${1:-3}"
