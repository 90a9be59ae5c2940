#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A request that the kernel half cannot fulfil is reported on one clear line before the command starts, and leaves
# nothing; without privileges the programs' half is recorded all the same.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"

# ---- events

refused "a slip" "this kernel has no event 'sched:sched_swich'; did you mean sched:sched_switch\\?" -e sched:sched_swich touch started
refused "a slip in a system" "this kernel has no event 'shced'; did you mean sched\\?" -e shced touch started
refused "a slip in the system of an event" ".* 'shced:sched_switch'; did you mean sched:sched_switch\\?" \
	-e shced:sched_switch touch started
refused "a part of a name" ".* 'sched:switch'; did you mean sched:sched_switch\\?" -e sched:switch touch started
refused "nothing near" "this kernel has no event 'qqqqqqqq'" -e sched -e qqqqqqqq touch started
refused "a pattern that none is like" "this kernel has no event 'sched:q\\*'" -e 'sched:q*' touch started
refused "nothing to exclude" "this kernel has no event 'qqqqqqqq'" -e sched -v -e qqqqqqqq touch started
refused "a name too long" "this kernel has no event 'e*'" -e "$(printf 'e%.0s' $(seq 300))" touch started

refused "no such field" "filter of 'sched:sched_switch': Field not found \\(column [0-9]+ of 'prev_pid > 0 && foo == 1'\\)" \
	-e sched_switch -f 'prev_pid > 0 && foo == 1' touch started
column=$(sed -nE 's/.*\(column ([0-9]+) .*/\1/p' <<<"$err")
is "and the filter is shown, with a caret there" "$(tail -n 2 <<<"$err")" "  prev_pid > 0 && foo == 1
$(printf "%$((column + 2))s" ^)"
ok "the column is in the part that is wrong" test "$column" -ge 17 -a "$column" -le 24
refused "a text without quotes" "filter of 'sched:sched_switch': Invalid value \\(did you forget quotes\\)\\? .*; mind that the shell removes quotes" \
	-e sched_switch -f 'prev_comm == bash' touch started
refused "no such field in a system" "filter of 'sched': .* \\(column 1 of 'foo == 1'\\)" -e sched -f 'foo == 1' touch started
refused "no filter" "filter of 'sched:sched_switch': .* \\(column [0-9]+ of 'prev_pid =='\\)" -e sched_switch -f 'prev_pid ==' touch started
refused "no such trigger" "trigger of 'sched:sched_switch': the kernel rejects 'frob': Invalid" -e sched_switch -R frob touch started
refused "a trigger with a wrong condition" "trigger of 'sched:sched_switch': Field not found \\(column 1[0-9] of 'traceoff if foo == 1'\\)" \
	-e sched_switch -R 'traceoff if foo == 1' touch started

# ---- settings

refused "no such tracer" "this kernel has no tracer 'frob' for an instance; it has: .*nop" -p frob touch started
refused "no such option" "this kernel has no option 'frob' \\(-O\\)" -e sched -O frob touch started
for option in {,no}{trace_printk,trace_printk_dest,record-cmd,record-tgid}; do
	refused "the whole machine's option $option" "the option '$option' \\(-O\\) applies to all users of tracing" \
		-e sched_process_exec -O $option touch started
done
refused "no such clock" "option '-C' takes tsc\\|mono\\|.*\\|tai, not 'sundial'" -e sched -C sundial touch started
refused "a CPU that is not there" "CPU [0-9]+ of the mask '[0-9]+' \\(-M\\) is offline or does not exist; online are [0-9]" \
	-e sched -M 1000000000000000000000000000000000 touch started
refused "no mask" "'0-1' is not a mask of CPUs \\(-M\\): hexadecimal digits, or -1 for all" -e sched -M 0-1 touch started
refused "an empty mask" "'0' is not a mask of CPUs" -e sched -M 0 touch started
# More CPUs than this machine has, if the recorder cannot know them: the kernel refuses them. The text is the one that it
# wants.
run strace -o strace.log -P /sys/devices/system/cpu/online -e trace=openat -e inject=openat:error=ENOENT \
	"$RECORDER" record -o out.dat -e sched -u none -M 0x01000000000000000a touch started
is "a mask of CPUs is written with commas" "$err" \
	"recorder record: cannot set the mask of CPUs (-M) to '1,00000000,0000000a': Value too large for defined data type"
share=$(awk -v cpus="$(nproc --all)" '/^MemTotal:/ { print int($2 / cpus) + 1 }' /proc/meminfo)
if [ "$share" -le 16777216 ]; then
	refused "too large" "cannot give each of [0-9]+ CPUs a ring of $share KB \\(-b\\): there are [0-9]+ KB of memory" \
		-e sched -u none -b "$share" touch started
else
	skip "too large" "there is memory for the largest rings that -b takes"
fi
(exit 0) &
gone=$!
wait $gone
refused "a process that has ended" "there is no process $gone \\(-P\\): it has ended" -e sched -P $gone
refused "a name" "there is no process 'no such' \\(-P\\)" -e sched -P 'no such'
refused "a broken list" "'$$,,' is not a list of ids separated by commas \\(-P\\)" -e sched -P "$$,,"

# A kernel with other clocks, without memory, without mounting: simulated by strace.
refuse_call()
{
	local name=$1 regex=$2 call=$3

	shift 3
	rm -f started out.dat
	run strace -o strace.log -e trace="${call%%:*}" -e inject="$call" "$RECORDER" record -o out.dat "$@"
	is "$name" "$status" 1
	like "$name: its message" "$err" "^recorder record: $regex"
	is "$name: on one line, and nothing is left" "$(wc -l <<<"$err") $(ls started out.dat* 2>/dev/null)" "1 "
}
refuse_call "no room for an instance" "cannot make the tracefs instance 'recorder-.*': Cannot allocate memory: the kernel has no room" \
	mkdir:error=ENOMEM:when=1 -e sched touch started
refuse_call "no more instances" "cannot make the tracefs instance 'recorder-.*': No space left on device: the kernel has no room" \
	mkdir:error=ENOSPC:when=1 -e sched touch started
refuse_call "mkdir is not permitted" "no rights to trace the kernel; be root" mkdir:error=EPERM:when=1 -e sched touch started
refuse_call "a security module refuses to write" "no rights to trace the kernel; be root" write:error=EPERM:when=1 \
	-e sched touch started
refuse_call "an instance of this name" "cannot make the tracefs instance 'recorder-.*': File exists" \
	mkdir:error=EEXIST:when=1 -e sched touch started
refuse_call "an instance that cannot be locked" "cannot make the tracefs instance 'recorder-.*': No locks available" \
	flock:error=ENOLCK -e sched touch started
is "an instance that cannot be locked: it is removed" "$(left "$(sed -nE "s/.*'recorder-([0-9]+)-.*/\1/p" <<<"$err")")" ""

# ---- options that do not go together

set -f
while IFS='|' read -r regex arguments; do
	# shellcheck disable=SC2086
	refused "record $arguments" "$regex" $arguments
done <<'END'
-F, -c, -M, -O, --drain and --no-filter are for the kernel's events|-F touch started
-F, -c, -M, -O, --drain and --no-filter are for the kernel's events|--no-filter touch started
-F, -c, -M, -O, --drain and --no-filter are for the kernel's events|--drain read touch started
--module and --max-graph-depth are for a tracer|-e sched --module ext4 touch started
--module and --max-graph-depth are for a tracer|-e sched --max-graph-depth 3 touch started
-T and -i are for the kernel's events: they need -e|-p function -T touch started
-T and -i are for the kernel's events: they need -e|-i touch started
-b auto is for the kernel's events|-b auto touch started
-l, -n and -g select functions for a tracer|-e sched -l vfs_read touch started
-c needs -F or -P|-e sched -c touch started
-F needs a COMMAND|-e sched -F
'-v' needs an -e after it|-e sched -v touch started
a trigger \(-R\) needs an -e before it|-R stacktrace touch started
a filter \(-f\) needs an event that is recorded|-e sched -v -e irq -f a==1 touch started
-x and --rate are for the events of programs|-e sched --rate 5
-u none leaves out the events of programs: it cannot be used with another|-e sched -u none --rate 5 touch started
programs can only use the clocks tsc and mono|-e sched -u * -C local touch started
programs can only use the clocks tsc and mono \(-C\); -u none records the kernel alone|-e sched -C local touch started
missing COMMAND, or -P|-e sched -u *
give either a COMMAND or -P|-e sched -P 1 touch started
END
set +f
record -e sched -F ./nothing
is "no such command" "$status $err" "127 recorder record: cannot run './nothing': No such file or directory"
is "no such command: nothing is left" "$(left "$pid")" ""

# Each process that is found keeps a descriptor.
cp "$(command -v sleep)" sleeper
for _ in {1..40}; do
	./sleeper 1000 &
done
are_there()
{
	[ "$(cat /proc/[0-9]*/comm 2>/dev/null | grep -cx sleeper)" -ge 40 ]
}
wait_until are_there
run prlimit --nofile=30:30 "$RECORDER" record -o out.dat -e sched -u none -P sleeper --duration 0.1
like "more processes than files may be open" "$status $err" \
	"^1 recorder record: cannot open another process \\(-P\\): Too many open files; each one needs a file descriptor"
sleepers=$(jobs -p)
prlimit --nofile=30: "$RECORDER" record -q -o out.dat -e sched_process_exit -u none -P sleeper 2>err &
recorder=$!
wait_until traces $recorder
# shellcheck disable=SC2086
kill $sleepers
wait $recorder
status=$?
forget_others err
is "the soft limit is raised" "$status $(cat err)" "0 "

# ---- no program beside the kernel

run "$RECORDER" record -o alone.dat -e sched_switch -u '*' true
is "beside the kernel, a command without librecorder is not an error" "$status" 0
like "and is reported" "$err" "no process of 'true' uses librecorder, .*: the recording has only the kernel's events"

# ---- no rights

chmod 755 "$TMP"
mkdir -m 777 nobodys
cp "$RECORDER" "$top_builddir/tests/programs/producer" nobodys
cd nobodys || exit 1
as_nobody()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}
run as_nobody env RECORDER_DIR= XDG_RUNTIME_DIR= ./recorder record -o both.dat -e sched -u '*' ./producer 1 10
is "without rights, programs are recorded" "$status" 0
like "it is reported what is missing and how to grant it" "$(head -n 1 <<<"$err")" \
	"^recorder record: no rights to trace the kernel; be root \\(sudo\\), or .*'sudo sh -c \"mount -o remount,gid=65534,mode=750 $tracing && chown 65534 $tracing/instances\"'$"
like "and what was recorded" "$err" "recorded 10 events from 1 process"
run strace -o strace.log -e trace=mkdir -e inject=mkdir:error=ENODEV:when=2 \
	./recorder record -o second.dat -e sched -B second -e irq -u '*' ./producer 1 10
is "the kernel refuses a second buffer: programs are recorded" "$status" 0 || diag "$err"
like "the kernel refuses a second buffer: it is reported" "$err" "cannot make the tracefs instance 'recorder-.*-buffer.*': No such device"
like "the kernel refuses a second buffer: and what was recorded" "$err" "recorded 10 events from 1 process"
run as_nobody ./recorder record -o kernel.dat -e sched touch started
is "without rights, the kernel alone is an error" "$status" 1
is "on one line" "$(wc -l <<<"$err")" 1
ok "the command was not started" test ! -e started -a ! -e kernel.dat
run setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +dac_override --ambient-caps +dac_override \
	env RECORDER_DIR= XDG_RUNTIME_DIR= ./recorder record -q -o kernel.dat -e sched_switch true
is "a user with the privileges need not be root" "$status $err" "0 "

done_testing
