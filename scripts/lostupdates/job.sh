#!/bin/sh
# job.sh DIR ID SECONDS [late|early]: one update, of a file and of a table that others change,
# too: it reads both, thinks, and writes them with its ID added. DIR/journal says how far it got.
# If the owner of the data checks the fence, late is: as it is written; early is: from the
# reading on, so that who reads later shuts out who has read and not written yet.
set -eu
dir=$1 id=$2 think=$3 check=${4-}
fence=${REDLOCKRUN_FENCE-0}

note() { echo "$id $1" >>"$dir/journal"; }
sql() { sqlite3 -batch -cmd '.timeout 20000' "$dir/table" "PRAGMA synchronous=off; $1"; }
refused() { echo "job.sh: the fence $fence is refused" >&2; exit 3; }

# The file is a line with a fence, and a line of updates. It gets another fence or another list
# by rename(2); who has the file's owner checks first.
read_file() { { read -r seen; read -r list || true; } <"$dir/file"; }
put() { printf '%s\n%s\n' "$fence" "$1" >"$dir/file.$id" && mv "$dir/file.$id" "$dir/file"; }
owner() { exec 9>>"$dir/owner"; flock 9; read_file; }
leave() { exec 9>&-; }

case $check in
early)
    owner; [ "$seen" -lt "$fence" ] || refused; put "$list"; leave
    rows=$(sql "UPDATE data SET fence = $fence WHERE fence < $fence RETURNING 'rows' || list")
    [ -n "$rows" ] || refused
    rows=${rows#rows}
    ;;
*)
    read_file
    rows=$(sql 'SELECT list FROM data')
    ;;
esac
mine=$list
note read

sleep "$think"

case $check in
early) owner; [ "$seen" -eq "$fence" ] || refused; put "$mine $id"; leave ;;
late) owner; [ "$seen" -le "$fence" ] || refused; put "$mine $id"; leave ;;
*) put "$mine $id" ;;
esac
case $check in
early) where="WHERE fence = $fence" ;;
late) where="WHERE fence <= $fence" ;;
*) where= ;;
esac
[ -n "$(sql "UPDATE data SET list = '$rows $id', fence = $fence $where RETURNING 'done'")" ] || refused
note wrote
