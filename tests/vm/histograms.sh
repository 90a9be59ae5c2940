#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder record -R hist:...: a histogram with variables holds a reference on its instance, and nothing is left all the
# same. In a machine of its own (vm.sh), because Debian's kernels have histograms, and others may not.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"

# shellcheck disable=SC2016 # the kernel's variables
begin='hist:keys=pid:ts0=common_timestamp.usecs'
# shellcheck disable=SC2016
end='hist:keys=next_pid:late=common_timestamp.usecs-$ts0'
record -q -e sched_waking -R "$begin" true
is "a variable: nothing is left" "$status $err $(left "$pid")" "0  "
# shellcheck disable=SC2016
record -q -e sched_waking -R "$begin if prio < 999" -e sched_switch -R "$end" -R 'hist:keys=prev_pid:cost=$late' true
is "variables of other triggers: nothing is left" "$status $err $(left "$pid")" "0  "
refused "a trigger that is wrong after one that is right" "trigger of 'sched:sched_switch': " \
	-e sched_waking -R "$begin" -e sched_switch -R 'hist:keys=nosuch' touch started

# The clock is that of the recording, so the kernel's times fit those of the program.
cat >look <<'END'
#!/bin/bash
cat /sys/kernel/tracing/instances/recorder-$PPID-*[0-9]/trace_clock
exec "$@"
END
chmod +x look
for clock in "" mono tsc; do
	record ${clock:+-C $clock} -u '*' -e sched_waking -R "$begin" -e sched_switch -R "$end" \
		./look "$top_builddir/tests/programs/producer" 2 100
	is "-C ${clock:-mono is the default}: status" "$status" 0 || diag "$err"
	like "-C ${clock:-mono is the default}: the clock" "$out" "\\[(${clock:-mono}|x86-$clock)\\]"
	ok "-C ${clock:-mono is the default}: the file passes verify" "$RECORDER" verify out.dat
done
record -u none -e sched_waking -R "$begin:clock=boot" true
is "another clock in the trigger" "$status $err" \
	"1 recorder record: a trigger has set the kernel's clock to 'boot'; the recording's is 'mono' (-C)"

"$RECORDER" record -q -u none -o killed.dat -e sched_waking -R "$begin" -e sched_switch -R "$end" sleep 1000 2>log &
recorder=$!
has_triggers()
{
	grep -qs hist: $tracing/instances/recorder-$recorder-*/events/sched/sched_switch/trigger && traces $recorder
}
wait_until has_triggers
child=$(cat /proc/$recorder/task/$recorder/children)
kill -KILL $recorder
# shellcheck disable=SC2086 # one or none
kill -KILL $child
wait $recorder 2>/dev/null
ok "killed: the next recordings remove its instance" wait_until is_swept $recorder

done_testing
