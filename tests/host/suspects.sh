#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of recorder verify on a bad file, in instructions. valgrind counts them exactly, so the result does not depend on how
# busy the machine is.

. "$top_srcdir/tests/tap.sh"

command -v valgrind >/dev/null || skip_all "valgrind is not installed"
cd "$TMP" || exit 1

# instructions FUNCTION WHAT N VIOLATIONS: the number of instructions in the function; nothing if another number of violations
# was reported
instructions()
{
	valgrind --tool=callgrind --toggle-collect="$1" --callgrind-out-file=/dev/null "$top_builddir/tests/host/suspects" "$2" "$3" \
		>out 2>log && grep -qxF "$4 violations" out || return
	awk '/ Collected : / { n += $NF } END { print n + 0 }' log
}

# Suspicions of different threads, all of which are reported. They are fewer than may wait (PENDING_MAX of verify_thread.c):
# with more, any algorithm is linear.
once=$(instructions add_suspects new 1000 1000)
twice=$(instructions add_suspects new 2000 2000)
diag "$once instructions for 1000 suspicions, $twice for 2000"
ok "suspicions cost instructions" test "${once:-0}" -gt 100000
ok "twice as many cost about twice as much" test "$((twice * 10))" -lt "$((once * 23))" -a "$twice" -gt "$once"

# More suspicions of one thread than may wait: an event visits only those of its own thread, and the oldest one is dropped
# without moving the others.
clean=$(instructions run_often woken 6000 0)
suspect=$(instructions run_often sleeping 6000 0)
diag "$clean instructions for 6000 switches of a thread that was woken, $suspect if it was not"
ok "thousands of suspicions cost no more each" test "$suspect" -lt $((clean * 3)) -a "$clean" -gt 100000

done_testing
