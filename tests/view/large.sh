#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder view of a million events of each kind, and of ten million: the size of the page, and its levels of detail.
# bench/view.sh measures how fast the page opens and moves.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

load=$top_builddir/bench/export_load

# page KIND EVENTS: its page is checked
page()
{
	local tid line events

	ok "$1, $2 events: recorded" "$RECORDER" record -b 200000 --compression none -o "$1.dat" "$load" "$1" "$2"
	tid=$(grep -xE '[0-9]+' <<<"$out")
	events=$(events_in "$err")
	[ "$1" != sched ] || python3 -B "$top_srcdir/tests/view/as_kernel.py" "$1.dat" "$tid" sched_switch sched_waking || exit 99
	ok "$1: view" "$RECORDER" view "$1.dat"
	while IFS= read -r line; do
		case $line in
		"ok "*) pass "$1, $2 events: ${line#ok }" ;;
		"not ok "*) fail "$1, $2 events: ${line#not ok }" ;;
		*) diag "$line" ;;
		esac
	done < <(python3 -B "$top_srcdir/tests/view/large.py" "$1.html" "$1" "$events" 2>&1 || echo "not ok it ends")
	rm -f "$1.dat" "$1.html"
}

for kind in points spans keyed sched; do
	page $kind "${LARGE_EVENTS:-1000000}"
done
page points "$((10 * ${LARGE_EVENTS:-1000000}))"

done_testing
