# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced after tests/tap.sh, for tests that compare reports of made files under many flags. Makes every file that
# tests/golden can make, $TMP/NAME.dat; $made has the names.
#
#	choose		sets $chosen to the files for the next flags
#
# By default it chooses one in twelve of the files, others at each call: every file is read, and every flag is tried on
# several files. REPORT_FILES=all, in the long tier, chooses all files.

made="$("$top_builddir/tests/golden/mkdat") $("$top_builddir/tests/golden/mkdat" --latency)"
for name in $made; do
	"$top_builddir/tests/golden/mkdat" "$name" > "$TMP/$name.dat"
done
choices=0

choose()
{
	local n=$choices name

	choices=$((choices + 1))
	chosen=
	for name in $made; do
		n=$((n + 1))
		[ "${REPORT_FILES-}" != all ] && [ $((n % 12)) -ne 0 ] || chosen="$chosen $name"
	done
}
