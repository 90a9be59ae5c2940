#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of many formats: for twice as many, recorder merge needs about twice as many instructions to find those that are the
# same. valgrind counts them exactly, so the result does not depend on how busy the machine is.

. "$top_srcdir/tests/tap.sh"

command -v valgrind >/dev/null || skip_all "valgrind is not installed"
cd "$TMP" || exit 1
"$top_builddir/tests/golden/mkdat" v6-one >one.dat
for n in 1000 2000; do
	ok "a file with $n more events in each of two systems" python3 "$top_srcdir/tests/host/formats.py" one.dat $n $n.dat
done

# instructions FUNCTION COMMAND...: the number of instructions in the calls of this function
instructions()
{
	local function=$1

	shift
	valgrind --tool=callgrind --toggle-collect="$function" --callgrind-out-file=/dev/null "$@" >out 2>log || return
	awk '/ Collected : / { n += $NF } END { print n + 0 }' log
}

# linear NAME FUNCTION COMMAND...: N in the command stands for the file
linear()
{
	local name=$1 function=$2 once twice

	shift 2
	once=$(instructions "$function" "${@/#N/1000.dat}")
	twice=$(instructions "$function" "${@/#N/2000.dat}")
	diag "$name: $once instructions for 2000 events, $twice for 4000"
	ok "$name: it costs instructions" test "${once:-0}" -gt 100000
	ok "$name: twice as many cost about twice as much" test "$((twice * 10))" -lt "$((once * 22))" -a "$twice" -gt "$once"
}

linear merge dat_ids_add "$RECORDER" merge -o merged.dat N N
done_testing
