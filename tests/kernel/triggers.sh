#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder record -R: triggers take effect during the recording alone. Their counts are not used up before it starts,
# and they do not prolong it.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"

# The number of stacks in out.dat.
stacks()
{
	"$RECORDER" report out.dat | grep -c 'kernel_stack:'
}

# ---- the start

# While a recording is prepared, there are switches that would use up the counts. The kernel counts two that happen on two
# CPUs at the same time as one.
for nr in 1 5; do
	record -e sched_switch -R stacktrace:$nr -b 4096 --no-filter sleep 0.2
	ok "-R stacktrace:$nr: stacks" test "$(stacks)" -ge $nr || diag "$err"
done
record -b 4096 --no-filter -e sched_wakeup -B one -e sched_switch -R stacktrace:3 sleep 0.2
ok "-B -R stacktrace:3: stacks" test "$(stacks)" -ge 3 || diag "$err"

# ---- the end: the threads that take the rest make system calls, each of which writes events

# As record, with a limit for each file, which a recording without an end exceeds. Only the recorder's own system calls
# are recorded: another program that does nothing else writes more than the limit by itself.
record_at_most()
{
	rm -rf out.dat*
	# shellcheck disable=SC2016
	run prlimit --fsize=100000000 sh -c 'echo $$ >pid; exec "$@"' sh "$RECORDER" record -o out.dat -b 64 -u none --no-filter \
		-e raw_syscalls -f 'COMM ~ "recorder*"' "$@"
	pid=$(<pid)
}

for way in splice read; do
	record_at_most --drain $way -R traceon true
	is "-R traceon --drain $way: it ends, and nothing is left" "$status $(left "$pid")" "0 " || diag "$err"
done

# Another process keeps the instance, so its last state can be seen.
cat >hold <<'END'
exec 5<"$(echo /sys/kernel/tracing/instances/recorder-$PPID-*[0-9])/tracing_on"
sleep 1000 &
echo $! >holder
END
record_at_most -R traceon bash hold
is "-R traceon: tracing stays off" "$(cat $tracing/instances/recorder-"$pid"-*/tracing_on)" 0
kill "$(<holder)"
ok "-R traceon: the next recordings remove the instance" wait_until is_swept "$pid"

# Another process sets tracing_on again and again.
cat >switch_on <<'END'
exec 5>"$(echo /sys/kernel/tracing/instances/recorder-$1-*[0-9])/tracing_on"
echo >switching
while echo 1 >&5; do :; done
END
cat >let_switch <<'END'
bash switch_on $PPID &
echo $! >switcher
read -r -t 60 <>switching
END
mkfifo switching
for way in splice read; do
	record_at_most --drain $way bash let_switch
	is "tracing_on is set by another process, --drain $way: it ends" "$status" 0 || diag "$err"
	kill "$(<switcher)"
	wait_until is_swept "$pid"
done

# ---- histograms of times, for which the kernel sets the clock of the instance

# The kernel's clocks that recorder's main thread sets with these arguments, and the histogram; kernels without histograms refuse it.
sets()
{
	strace -qq -s 200 -o calls -e trace=write "$RECORDER" record -q -o out.dat "$@" true 2>log
	sed -nE 's/^write\([0-9]+, "(hist:[^"]*|mono|x86-tsc|global|boot)".*/\1/p' calls | paste -sd ' '
}

if strace -o calls true 2>log; then
	times='keys=next_pid:at=common_timestamp.usecs'
	is "a histogram of times has the clock of the recording" "$(sets -e sched_switch -R "hist:$times if prev_pid > 0")" \
		"mono hist:clock=mono:$times if prev_pid > 0"
	is "that of -C" "$(sets -u none -C boot -e sched_switch -R "hist:$times")" "boot hist:clock=boot:$times"
	is "one that names a clock keeps it" "$(sets -u none -C boot -e sched_switch -R "hist:$times:clock=boot")" \
		"boot hist:$times:clock=boot"
	is "all buffers have its clock" "$(sets -e sched_wakeup -B one -e sched_switch -R "hist:$times")" \
		"mono mono hist:clock=mono:$times"
	unlike "others have none" "$(sets -e sched_switch -R hist:keys=next_pid)" clock=

	# The recorder stops itself when it has set the trigger, and the clock becomes another.
	inject write signal=STOP:when=1 /events/sched/sched_wakeup_new/trigger \
		record -u none -C mono -e sched_wakeup_new -R stacktrace -o clock.dat touch started
	wait_until is_stopped
	echo boot >"$(echo $tracing/instances/recorder-$recorder-*[0-9])/trace_clock"
	kill -CONT $recorder
	wait $recorder
	is "a trigger that sets another clock: status" $? 1
	forget_others log
	is "is refused" "$(<log)" \
		"recorder record: a trigger has set the kernel's clock to 'boot'; the recording's is 'mono' (-C)"
	is "and nothing is left" "$(left $recorder; ls started clock.dat* 2>/dev/null)" ""
else
	skip "histograms of times" "strace cannot trace here"
fi

done_testing
