#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make bench-view: how large a page of recorder view is, how long it takes to be written and to open, and how fast it
# moves, for files of each kind of event. It needs chromium. docs/VIEW-DATA.md explains the columns.
#
#	VIEW_EVENTS="1000000 10000000" VIEW_LOADS="points spans keyed sched" make bench-view

recorder=$PWD/recorder
load=$PWD/bench/export_load
view=$top_srcdir/tests/view
work=$(mktemp -d "${TMPDIR:-/tmp}/recorder-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
TIMEFORMAT=%R

cd "$work" || exit 1
printf '%-8s %10s %9s %10s %8s %10s %8s\n' "" events "page, MB" "written, s" "open, s" "frame, ms" "frames/s"
for events in ${VIEW_EVENTS:-1000000 10000000}; do
	for kind in ${VIEW_LOADS:-points spans keyed sched}; do
		tid=$("$recorder" record -q -b 200000 --compression none -o load.dat "$load" "$kind" "$events") || exit 1
		[ "$kind" != sched ] || python3 -B "$view/as_kernel.py" load.dat "$tid" sched_switch sched_waking || exit 1
		rm -f load.html
		seconds=$({ time "$recorder" view -o load.html load.dat 2>err; } 2>&1) && [ -s load.html ] ||
			{ echo "bench-view: $kind: no page: $(cat err)" >&2; exit 1; }
		figures=$(PYTHONPATH=$view python3 -B "$top_srcdir/bench/view.py" "$work/load.html") || exit 1
		awk -v kind="$kind" -v events="$events" -v size="$(stat -c %s load.html)" -v seconds="$seconds" -v figures="$figures" 'BEGIN {
			split(figures, figure); printf "%-8s %10d %9.1f %10.1f %8.2f %10.1f %8.0f\n", kind, events, size / 1e6, seconds, figure[1], figure[2], figure[3] }'
	done
done
