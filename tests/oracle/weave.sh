#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# trace-cmd shows exactly the events that were put into woven and raw files, of both versions and of several page sizes.

. "$top_srcdir/tests/tap.sh"

mkweave=$top_builddir/tests/oracle/mkweave

# Prints trace-cmd's output in the form of mkweave: without names, with single blanks, without the position of the end.
shown()
{
	trace-cmd report "$1" 2>"$TMP/err" | sed -E -e '/^cpus=/d' -e 's/ +/ /g' \
		-e 's/^.*-([0-9]+) (\[[0-9]+\])/\1 \2/' -e 's/^.* (end: )/\1/'
}

for version in 6 7; do
	for form in woven raw; do
		for size in 4096 16384 65536 524288; do
			name="version $version, $form, pages of $size"
			file=$TMP/$version-$form-$size.dat
			ok "$name is written" sh -c '"$1" "$2" "$3" "$4" "$5" >"$6"' - \
				"$mkweave" "$file" "$version" "$form" "$size" "$TMP/expected"
			shown "$file" >"$TMP/shown"
			# The CPU of the last loss depends on the last event.
			sed -i -E '$!N;s/^CPU:[0-9]+( \[17 EVENTS DROPPED\]\nend:)/CPU:end\1/;P;D' "$TMP/shown"
			is "$name: events shown" "$(grep -c '^[0-9]' "$TMP/shown")" 20000
			ok "$name: as they were put in" cmp "$TMP/expected" "$TMP/shown"
			is "$name: no complaint" "$(cat "$TMP/err")" ""
			rm -f "$file"
		done
	done
done

"$mkweave" "$TMP/names.dat" 6 woven >"$TMP/expected"
names=$(trace-cmd report "$TMP/names.dat" | sed -nE 's/^ *(.*-[0-9]+) +\[.*/\1/p' | sort -u)
is "the threads' names" "$names" "a name with blanks-501
first-500
first-502
other-503
other-504"
like "statistics of each CPU" "$(trace-cmd report --stat "$TMP/names.dat")" "read events: [0-9]+"
like "who wrote it" "$(trace-cmd dump --all "$TMP/names.dat")" "time error at most [0-9]+ ns"

done_testing
