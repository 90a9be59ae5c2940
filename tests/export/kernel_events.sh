# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced after tests/tap.sh, for tests in which a program writes events that have names of the kernel's.
#
#	kernel_events PROGRAM FILE EVENT...	compiles and records PROGRAM.c, which prints its thread's id, and makes these of its
#						events the kernel's; $tid is the id

kernel_events()
{
	local program=$1 file=$2

	shift 2
	# shellcheck disable=SC2086
	ok "$program: compile" $CC -I"$top_srcdir" $CFLAGS_FOR_TEST "$program.c" $LDADD_FOR_TEST -o "$program"
	run "$RECORDER" record -q --compression none -o "$file" "./$program"
	is "$program: record" "$status$err" 0
	tid=$out
	ok "$program: with the kernel's events" python3 -B "$top_srcdir/tests/view/as_kernel.py" "$file" "$tid" "$@"
}
