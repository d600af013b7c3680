#!/bin/sh
# permits.sh [RUNS]   measures permits on a Redis of its own: the commands of a run, and how long a free permit waits for the next run
set -eu
cd "$(dirname "$0")/.."
runs=${1-60}
dir=$(mktemp -d)
trap 'redis-cli -s "$dir/sock" shutdown nosave >/dev/null 2>&1 || :; rm -rf "$dir"' EXIT
CGO_ENABLED=0 go build -o "$dir/redlockrun" ./cmd/redlockrun
redis-server --port 0 --unixsocket "$dir/sock" --save '' --daemonize yes --dir "$dir" --logfile "$dir/log" >/dev/null
export REDLOCKRUN_REDIS="unix://$dir/sock" REDLOCKRUN_CONFIG=/dev/null
until redis-cli -s "$dir/sock" ping >/dev/null 2>&1; do :; done

evals() { redis-cli -s "$dir/sock" info commandstats | sed -n 's/^cmdstat_eval:calls=\([0-9]*\),.*/\1/p'; }
redis-cli -s "$dir/sock" config resetstat >/dev/null
"$dir/redlockrun" --key plain -- true
plain=$(evals)
redis-cli -s "$dir/sock" config resetstat >/dev/null
"$dir/redlockrun" --key sem --permits 3 -- true
echo "commands of a run: $plain with a lock, $(evals) with a permit"

# Runs of 0.2 s to 0.4 s wait for 3 permits. Each notes when it starts and ends, with its permit.
cat >"$dir/job" <<'JOB'
#!/bin/sh
echo "$REDLOCKRUN_PERMIT $(date +%s%N) start" >>"$1"
sleep "0.$((2 + $2 % 3))"
echo "$REDLOCKRUN_PERMIT $(date +%s%N) end" >>"$1"
JOB
chmod +x "$dir/job"
n=0
while [ "$n" -lt "$runs" ]; do
    "$dir/redlockrun" --key sem --permits 3 --wait 10m -- "$dir/job" "$dir/times" "$n" &
    n=$((n + 1))
done
wait
sort -n -k2 "$dir/times" | awk '
    $3 == "start" && ended[$1] { printf "%.1f\n", ($2 - ended[$1]) / 1e6 }
    $3 == "end" { ended[$1] = $2 }' | sort -n | awk '
    { gap[NR] = $1 }
    END { printf "a free permit waits %.0f ms for the next run (median of %d), at most %.0f ms\n", gap[int((NR + 1) / 2)], NR, gap[NR] }'
