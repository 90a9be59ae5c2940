#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of a system, a buffer, a stream or a thread does not grow with their number in the file: four times as many take
# about four times as many instructions. valgrind counts them exactly, so the result does not depend on how busy the machine
# is.

. "$top_srcdir/tests/tap.sh"

command -v valgrind >/dev/null || skip_all "valgrind is not installed"
cd "$TMP" || exit 1

# instructions FUNCTION WHAT N: the number of instructions in the function
instructions()
{
	valgrind --tool=callgrind --toggle-collect="$1" --callgrind-out-file=/dev/null "$top_builddir/tests/host/names" "$2" "$3" \
		2>log || return
	awk '/ Collected : / { n += $NF } END { print n + 0 }' log
}

# linear FUNCTION WHAT: a search through a list would make four times as many cost much more than four times as much.
linear()
{
	local few many

	few=$(instructions "$1" "$2" 1000)
	many=$(instructions "$1" "$2" 4000)
	diag "$few instructions for 1000 $2, $many for 4000"
	ok "$2 cost instructions" test "${few:-0}" -gt 10000
	ok "four times as many $2 cost about four times as much" test "$((many * 10))" -lt "$((few * 48))" -a "$many" -gt "$few"
}

linear write_systems systems
linear copy_buffers buffers
linear open_streams streams
linear copy_threads threads

done_testing
