#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh DIRECTORY: the tables of bench/README.md, by the programs in DIRECTORY, with LTTng-UST's rows where it is installed
# (Debian: lttng-tools liblttng-ust-dev). Needs nothing else; leaves no files. Takes about half a minute.

set -u
bench=$1
CC=${CC:-cc}
here=$top_srcdir/bench
dir=$(mktemp -d "${TMPDIR:-/tmp}/recorder-bench.XXXXXX") || exit 1
daemon=

finish()
{
	if [ -n "$daemon" ]; then
		kill "$daemon" 2>/dev/null
		wait "$daemon" 2>/dev/null
	fi
	rm -rf "$dir" "${shm:-}"
	# A program that was interrupted, or failed, leaves its tracefs instance, which has rings for all CPUs.
	rmdir /sys/kernel/tracing/instances/librecorder-bench{,-map} 2>/dev/null
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Put the buffers into memory, wherever the user's buffers usually are.
shm=$(mktemp -d /dev/shm/recorder-bench.XXXXXX 2>/dev/null) && export RECORDER_DIR=$shm

# The session daemon signals its process group when it ends, so it gets a session of its own; and it is ended by its
# pid.
start_lttng()
{
	if lttng --no-sessiond list >/dev/null 2>&1; then
		echo "another user's session daemon is running" >"$dir/sessiond.log"
		return 1
	fi
	export LTTNG_HOME=$dir LTTNG_UST_REGISTER_TIMEOUT=-1
	setsid lttng-sessiond --no-kernel >"$dir/sessiond.log" 2>&1 &
	daemon=$!
	for _ in $(seq 100); do
		lttng --no-sessiond list >/dev/null 2>&1 && return 0
		kill -0 "$daemon" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}

# run_lttng NAME CHANNEL-OPTION...: one session without a consumer's output, so that rings are only written.
run_lttng()
{
	local mode=$1

	shift
	lttng --no-sessiond create "$mode" --no-output &&
		lttng --no-sessiond enable-channel -u "$@" --subbuf-size=512k --num-subbuf=4 channel &&
		lttng --no-sessiond enable-event -u -c channel 'bench:*' --exclude bench:off &&
		lttng --no-sessiond start || return 1
} >>"$dir/lttng.log" 2>&1

lttng_rows()
{
	local mode

	"$CC" -O2 -D_GNU_SOURCE -I"$here" -I"$top_srcdir" -I"$top_srcdir/include" -o "$dir/bench_lttng" "$here/bench_lttng.c" "$here/timing.c" -llttng-ust -ldl -lpthread \
		>"$dir/cc.log" 2>&1 || { echo "LTTng-UST cannot be compiled: $(grep -m1 error "$dir/cc.log")" >&2; return 1; }
	start_lttng || { echo "lttng-sessiond does not start: $(tail -n 1 "$dir/sessiond.log")" >&2; return 1; }
	for mode in overwrite discard; do
		run_lttng $mode --$mode || { echo "LTTng-UST's session fails: $(tail -n 1 "$dir/lttng.log")" >&2; return 1; }
		"$dir/bench_lttng" $mode
		lttng --no-sessiond destroy $mode >>"$dir/lttng.log" 2>&1
	done
}

rows=()
if command -v lttng-sessiond >/dev/null && command -v lttng >/dev/null; then
	lttng_rows >"$dir/rows" && while IFS=$'\t' read -r name one two; do
		rows+=("$name" "$one" "$two")
	done <"$dir/rows"
else
	echo "LTTng-UST is not installed (lttng-tools liblttng-ust-dev): its rows are left out" >&2
fi
"$bench/bench_events" "${rows[@]}" && echo && "$bench/bench_reader" && echo && "$bench/bench_map" && echo && "$bench/bench_worst" && echo &&
	"$bench/bench_start"
