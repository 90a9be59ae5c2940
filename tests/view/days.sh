#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder view: the page shows the time of day of a file that has readings of the clocks, or a date, in the browser's time zone.

. "$top_srcdir/tests/tap.sh"

command -v chromium >/dev/null || skip_all "chromium is not installed"
cd "$TMP" || exit 1

for name in clocks date plain; do
	"$top_builddir/tests/golden/mkdat" "v6-$name" >"$name.dat"
done
sed 's/realtime 1700006400000080000/realtime 1700002800000080000/' clocks.dat >back.dat
for name in clocks date plain back; do
	ok "$name: view" "$RECORDER" view "$name.dat"
done

# In the first file 50 us are 100 us of the time of day, from 5.000000000 on; after that the second reading applies.
while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	*) diag "$line" ;;
	esac
done < <(PYTHONPATH=$top_srcdir/tests/view timeout 400 python3 -B "$top_srcdir/tests/view/days.py" \
	"$TMP/clocks.html" "5.000000100=2023-11-15 05:29:59.999980 +0530,5.000010000=2023-11-15 05:30:00.000000 +0530,5.000100000=2023-11-15 05:30:00.000130 +0530" \
	"$TMP/date.html" "105.000000100=1970-01-01 05:31:45.000000 +0530" \
	"$TMP/plain.html" "5.000000100=" \
	"$TMP/back.html" "5.000040000=2023-11-15 04:30:00.000070 +0530" 2>&1 || echo "not ok it ends")

done_testing
