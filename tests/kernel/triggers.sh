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

done_testing
