#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make bench-export: how long `recorder export` takes for an event, and how large its files are. bench/README.md explains
# the columns.
#
#	EXPORT_EVENTS=4000000 EXPORT_RUNS=5 make bench-export

recorder=$PWD/recorder
events=${EXPORT_EVENTS:-4000000}
runs=${EXPORT_RUNS:-5}
work=$(mktemp -d "${TMPDIR:-/tmp}/recorder-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'

# median: of the numbers on stdin
median()
{
	sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

# row LOAD FORMAT: the median of the runs' CPU seconds, and the least
row()
{
	local out=$work/out seconds='' i

	for ((i = 0; i < runs; i++)); do
		rm -rf "$out"
		seconds+=$({ time "$recorder" export "--$2" "$work/$1.dat" -o "$out" >&2; } 2>&1 | awk '{ print $1 + $2 }')$'\n'
	done
	awk -v name="$1, --$2" -v events="$events" -v seconds="$(printf %s "$seconds" | median)" -v least="$(printf %s "$seconds" | sort -n | head -n 1)" \
		-v from="$(stat -c %s "$work/$1.dat")" -v to="$(du -sb --apparent-size "$out" | cut -f 1)" 'BEGIN {
		printf "%-20s %8.2f %8.2f %9.1f %9.1f\n", name, events / seconds / 1e6, events / least / 1e6, from / 1e6, to / 1e6 }'
}

printf '%-20s %8s %8s %9s %9s\n' "" "M/s" "best" "dat, MB" "out, MB"
for load in points spans; do
	"$recorder" record -q -b 200000 -o "$work/$load.dat" bench/export_load $load "$events" || exit 1
	for format in perfetto ctf chrome folded; do
		row $load $format
	done
done
