#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of recorder verify on a bad file: twice as many suspicious switches, each of another thread, take about twice
# as many instructions. valgrind counts them exactly, so the result does not depend on how busy the machine is.

. "$top_srcdir/tests/tap.sh"

command -v valgrind >/dev/null || skip_all "valgrind is not installed"
cd "$TMP" || exit 1

# instructions N: the number of instructions for N suspicions, all of which are reported. N is less than the number that
# may wait (PENDING_MAX of verify_thread.c): with more, any algorithm is linear.
instructions()
{
	valgrind --tool=callgrind --toggle-collect=add_suspects --callgrind-out-file=/dev/null "$top_builddir/tests/host/suspects" "$1" \
		>out 2>log && grep -qxF "$1 threads" out || return
	awk '/ Collected : / { n += $NF } END { print n + 0 }' log
}

once=$(instructions 1000)
twice=$(instructions 2000)
diag "$once instructions for 1000 suspicions, $twice for 2000"
ok "suspicions cost instructions" test "${once:-0}" -gt 100000
ok "twice as many cost about twice as much" test "$((twice * 10))" -lt "$((once * 23))" -a "$twice" -gt "$once"

done_testing
