#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make bench-drain: whether the recorder keeps up, and the cost of a page to it. bench/README.md explains the columns.
#
#	DRAIN_SECONDS=3 DRAIN_THREADS='1 2 4 16' DRAIN_RATES='1000000 8000000 0' DRAIN_OTHER=/path/to/another/recorder make bench-drain

recorder=$PWD/recorder
seconds=${DRAIN_SECONDS:-3}
threads=${DRAIN_THREADS:-1 2 4 16}
rates=${DRAIN_RATES:-1000000 8000000 0}
work=$(mktemp -d "${TMPDIR:-/tmp}/recorder-bench.XXXXXX")
memory=$(mktemp -d /dev/shm/recorder-bench.XXXXXX)
chmod 1777 "$work" "$memory"
daemon=

# The session daemon has a session of its own, so nothing else ends it when this script ends early.
finish()
{
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null
	rm -rf "$work" "$memory"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die()
{
	printf '%s\n' "bench-drain: $*" >&2
	exit 1
}

cp "$recorder" bench/drain_load "$work"
chmod 755 "$work"/*
nobody=()
[ "$(id -u)" != 0 ] || nobody=(setpriv --reuid=65534 --clear-groups env -u XDG_RUNTIME_DIR)

# row NAME EVENTS LOST PAGES CPU
row()
{
	awk -v name="$1" -v events="$2" -v lost="$3" -v pages="$4" -v cpu="$5" -v seconds="$seconds" 'BEGIN {
		# LTTng sometimes reports a negative count.
		printf "%-46s %8.2f %9s %8.0f %8.1f\n", name, events / seconds / 1e6,
			(lost > 1e15 ? "?" : sprintf("%.4f", events ? lost * 100 / events : 0)),
			pages ? cpu / pages : 0, cpu / seconds / 1e7 }'
}

# record WHO WHERE THREADS RATE RECORDER [COMMAND...]: one recording
record()
{
	local who=$1 where=$2 nr=$3 rate=$4 with=$5 out name result events cpu recorded lost pages

	shift 5
	case $where in disk) out=$work/out.dat ;; *) out=$memory/out.dat ;; esac
	name="${with##*/} $who $where, $nr $([ "$nr" = 1 ] && echo thread || echo threads), $(
		[ "$rate" = 0 ] && echo "full speed" || echo "$((rate / 1000000)) M/s")"
	result=$("$@" "$with" record --raw -o "$out" "$work/drain_load" "$nr" "$rate" "$seconds" 2>"$work/err")
	read -r _ events _ cpu <<<"$result"
	recorded=$(sed -n 's/^recorded \([0-9]*\) events.*/\1/p' "$work/err" | head -n 1)
	lost=$(sed -n 's/^recorded .*; \([0-9]*\) lost$/\1/p' "$work/err" | head -n 1)
	[ "${events:-0}" -gt 0 ] && [ -n "$recorded" ] || die "$name: there is no recording: $(cat "$work/err")"
	[ "$events" = "$((recorded + ${lost:-0}))" ] ||
		die "$name: $events written is not recorded + lost: $(cat "$work/err")"
	pages=$(($(stat -c %s "$out" 2>/dev/null || echo 0) / 4096))
	row "$name" "$events" "$lost" "$pages" "$cpu"
	rm -f "$out"
}

# lttng_record WHERE THREADS RATE COUNT NAME: the same load with LTTng's consumer, and COUNT sub-buffers of 512 kB for each CPU
lttng_record()
{
	local where=$1 nr=$2 rate=$3 count=$4 name out result events cpu lost pages consumer

	name="$5 $where, $nr $([ "$nr" = 1 ] && echo thread || echo threads), $(
		[ "$rate" = 0 ] && echo "full speed" || echo "$((rate / 1000000)) M/s")"
	case $where in disk) out=$work/lttng ;; *) out=$memory/lttng ;; esac
	setsid lttng-sessiond --no-kernel >"$work/sessiond.log" 2>&1 &
	daemon=$!
	for _ in $(seq 100); do lttng --no-sessiond list >/dev/null 2>&1 && break; sleep 0.1; done
	{
		lttng --no-sessiond create bench --output="$out"
		lttng --no-sessiond enable-channel --userspace --discard --subbuf-size=512k --num-subbuf="$count" channel
		lttng --no-sessiond enable-event --userspace --channel=channel bench:u64
		lttng --no-sessiond start
	} >"$work/lttng.log" 2>&1 || die "$name: LTTng's session fails: $(tail -n 1 "$work/lttng.log")"
	# Other session daemons have consumers, too. Take the oldest: it starts another process, which is not needed here.
	consumer=$(pgrep -o -P "$daemon" -f '^lttng-consumerd +-u') || die "$name: the session daemon has no consumer"
	result=$("$work/drain_load_lttng" "$nr" "$rate" "$seconds" "$consumer" 2>/dev/null)
	read -r _ events _ cpu <<<"$result"
	lttng --no-sessiond stop >/dev/null 2>&1
	lost=$(lttng --no-sessiond list bench 2>/dev/null | awk '/Discarded events:/ { sum += $3 } END { print sum + 0 }')
	pages=$(($(du -sb "$out" | cut -f 1) / 4096))
	lttng --no-sessiond destroy bench >/dev/null 2>&1
	kill "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
	[ "${events:-0}" -gt 0 ] && [ "${cpu:-0}" -gt 0 ] || die "$name: the load wrote nothing, or the consumer used no CPU time"
	row "$name" "$events" "$lost" "$pages" "$cpu"
	rm -rf "$out"
}

lttng=no
export LTTNG_HOME=$work/home
mkdir -p "$LTTNG_HOME"
if ! command -v lttng-sessiond >/dev/null || ! "${CC:-gcc}" -O2 -std=gnu11 -DWITH_LTTNG -I"$top_srcdir/bench" \
	"$top_srcdir/bench/drain_load.c" -o "$work/drain_load_lttng" -llttng-ust -ldl -pthread 2>"$work/err"; then
	echo "LTTng is left out: it is not installed, with liblttng-ust-dev"
elif lttng --no-sessiond list >/dev/null 2>&1; then
	echo "LTTng is left out: another session daemon is running"
else
	lttng=yes
fi

# As many sub-buffers of 512 kB for each CPU as fit into 64 MiB, which a program's lanes may take (RECORDER_MAX_KB); a power of
# two, because LTTng rounds up to one.
cpus=$(nproc --all)
large=2
while ((large * 2 * cpus * 512 <= 65536)); do
	((large *= 2))
done

printf '%-46s %8s %9s %8s %8s\n' "" "M/s" "lost %" "ns/page" "CPU %"
for where in disk tmpfs; do
	for rate in $rates; do
		for nr in $threads; do
			for with in "$work/recorder" ${DRAIN_OTHER:+"$DRAIN_OTHER"}; do
				[ "$(id -u)" != 0 ] || record root "$where" "$nr" "$rate" "$with"
				record user "$where" "$nr" "$rate" "$with" "${nobody[@]}"
			done
			[ "$lttng" = yes ] || continue
			lttng_record "$where" "$nr" "$rate" 2 LTTng
			[ "$rate" != 0 ] || lttng_record "$where" "$nr" "$rate" "$large" "LTTng $((large * cpus / 2)) MB"
		done
	done
done
