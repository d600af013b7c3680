#!/bin/sh
# lost-updates.sh [short|write|ROW...] [SEED]: counts acknowledged updates that are lost under
# redlockrun and under what others use, while all goes wrong that can. "short" has three rows
# and fails if what is promised does not hold; "write" puts the table of all rows into
# docs/dev/proof/lost-updates.md; ROW is one of none, flock, setnx, etcdctl, redsync, unguarded, guard,
# late-fence, fence. The seed is printed.
set -eu
cd "$(dirname "$0")/.."
form=all
case ${1-} in short | write) form=$1; shift ;; esac
seed=
for word in "$@"; do case $word in *[!0-9]*) ;; *) seed="-seed $word" ;; esac; done
rows=
for word in "$@"; do case $word in *[!0-9]*) rows="$rows $word" ;; esac; done
case $form in
short) scripts/install-deps.sh test; set -- -short ;;
write) scripts/install-deps.sh lost; set -- -write docs/dev/proof/lost-updates.md ;;
all) scripts/install-deps.sh lost; set -- ;;
esac
exec go run ./scripts/lostupdates "$@" $seed $rows
