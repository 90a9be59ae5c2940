#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make bench-export: how long `recorder export` takes for an event, and how large its files are. bench/README.md explains
# the columns.
#
#	EXPORT_EVENTS=4000000 EXPORT_RUNS=5 make bench-export	(events: a multiple of four)

recorder=$PWD/recorder
events=${EXPORT_EVENTS:-4000000}
runs=${EXPORT_RUNS:-5}
work=$(mktemp -d "${TMPDIR:-/tmp}/recorder-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'

# die WHAT: ends the script with the last command's messages
die()
{
	printf '%s\n' "bench-export: $*: $(cat "$work/err")" >&2
	exit 1
}

# median: of the numbers on stdin
median()
{
	sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

# row LOAD FORMAT: the median of the runs' CPU seconds, and the least
row()
{
	local out=$work/out seconds='' used i

	for ((i = 0; i < runs; i++)); do
		rm -rf "$out"
		used=$({ time "$recorder" export "--$2" "$work/$1.dat" -o "$out" >"$work/err" 2>&1; } 2>&1) && [ -e "$out" ] ||
			die "$1, --$2: no export"
		seconds+=$(awk '{ print $1 + $2 }' <<<"$used")$'\n'
	done
	awk -v name="$1, --$2" -v events="$events" -v seconds="$(printf %s "$seconds" | median)" -v least="$(printf %s "$seconds" | sort -n | head -n 1)" \
		-v from="$(stat -c %s "$work/$1.dat")" -v to="$(du -sb --apparent-size "$out" | cut -f 1)" 'BEGIN {
		printf "%-20s %8.2f %8.2f %9.1f %9.1f\n", name, events / seconds / 1e6, events / least / 1e6, from / 1e6, to / 1e6 }'
}

printf '%-20s %8s %8s %9s %9s\n' "" "M/s" "best" "dat, MB" "out, MB"
for load in points spans; do
	"$recorder" record -b 200000 -o "$work/$load.dat" bench/export_load $load "$events" 2>"$work/err" || die "$load: no recording"
	# A figure is for each event of the file, so all of them must be there.
	grep -q "^recorded $events events .*; 0 lost\$" "$work/err" || die "$load: not a recording of $events events without losses"
	for format in perfetto ctf chrome folded; do
		row $load $format
	done
done
