#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder record -R: triggers take effect during the recording alone. Their counts are not used up before it starts.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"

# The number of stacks in out.dat.
stacks()
{
	"$RECORDER" report out.dat | grep -c 'kernel_stack:'
}

# ---- the start

# While a recording is prepared, there are switches that would use up the counts.
for nr in 1 5; do
	record -e sched_switch -R stacktrace:$nr -b 4096 --no-filter sleep 0.2
	is "-R stacktrace:$nr: stacks" "$status $(stacks)" "0 $nr" || diag "$err"
done
record -b 4096 --no-filter -e sched_wakeup -B one -e sched_switch -R stacktrace:3 sleep 0.2
is "-B -R stacktrace:3: stacks" "$status $(stacks)" "0 3" || diag "$err"

done_testing
