#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The effect of each option of the kernel half, seen in the instance while the command runs and in what is recorded.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"
. "$top_srcdir/tests/told.sh"

# The command that is recorded: shows a file of the instance of the recorder that started it.
cat >see <<'END'
#!/bin/bash
cd /sys/kernel/tracing/instances/recorder-$PPID-*[0-9] && cat "$@"
END
chmod +x see

# seen NAME EXPECTED FILE ARGUMENT...
seen()
{
	local name=$1 expected=$2 file=$3

	shift 3
	record "$@" ./see "$file"
	is "$name" "$out" "$expected" || diag "$err"
}

# events_are NAME REGEX ARGUMENT...: checks that the kernel's events that are on are those that match this extended
# regular expression
events_are()
{
	local name=$1 regex=$2

	shift 2
	record "$@" ./see set_event
	is "$name" "$(sort <<<"$out")" "$(sort $tracing/available_events | grep -xE "$regex")" || diag "$err"
}

# ---- which events

events_are "-e SYSTEM:EVENT" 'sched:sched_switch' -e sched:sched_switch
events_are "-e SYSTEM/EVENT, as trace-cmd has it" 'sched:sched_switch' -e sched/sched_switch
events_are "-e SYSTEM" 'sched:.*' -e sched
events_are "-e EVENT" '.*:sched_switch' -e sched_switch
events_are "-e, a pattern for both" 'irq[^:]*:.*_e.*' -e 'irq*:*_e*'
events_are "-e, a pattern for either" '[^:]*stat[^:]*:.*|.*:.*stat.*' -e '*stat*'
events_are "-e all" '.*' -e all
events_are "--event, several" '(sched|irq):.*' --event sched --event=irq
events_are "-v, for all after it" 'irq:irq_.*|timer:(timer_[^s]|[^t]|tick).*' -e irq -e timer -v -e 'softirq*' \
	-e 'irq:tasklet*' -e 'timer:timer_s*'
rm -f out.dat

seen "-f, of several -e" "next_pid > 3" events/sched/sched_switch/filter \
	-e sched_wakeup -f 'pid == 1' -e sched_switch -f 'next_pid > 3' -e irq
seen "-f, two of them" "(prev_pid == 1)&&(next_pid > 3)" events/sched/sched_switch/filter \
	-e sched_switch -f 'prev_pid == 1' -f 'next_pid > 3'
seen "-f, in the words of programs' filters" "common_pid == 1 && prev_comm != \"pid\" && prev_prio != 0" \
	events/sched/sched_switch/filter -e sched_switch -f 'pid == 1 && prev_comm != "pid" && prev_prio != false'
seen "-f, of a system" "prev_pid == 1" events/sched/sched_switch/filter -e sched -f 'prev_pid == 1'
like "it is reported which events it does not fit" "$err" "filter of 'sched': [0-9]+ of [0-9]+ events lack fields of 'prev_pid == 1'"
seen "-f, the last one counts" "prev_pid == 2" events/sched/sched_switch/filter \
	-e sched -f 'prev_pid == 1' -e sched_switch -f 'prev_pid == 2'
seen "-f, only of what follows the -e" "none" events/sched/sched_switch/filter -e sched_switch -u 'a:b' -f 'x == 1'
seen "-R, two of them, a filter too" $'traceoff:unlimited if prio == 999\nstacktrace:unlimited' \
	events/sched/sched_wakeup_new/trigger -e sched_wakeup_new -R stacktrace -f 'pid > 0' -R 'traceoff if prio == 999'
record -e irq -v -e sched_wakeup_new -R stacktrace ./see events/sched/sched_wakeup_new/{trigger,enable}
is "-v -e -R sets the trigger and leaves the event off" "$out" $'stacktrace:unlimited\n0*'

events_are "-i: the events that there are" 'sched:sched_switch' -i -e nosuch:event -e sched:sched_switch -e qqqqqqqq
is "and the others are named" "$(grep -cE "this kernel has no event '(nosuch:event|qqqqqqqq)': skipped \(-i\)" <<<"$err")" 2
record -T -e sched_process_exec ./see trace_options
like "-T" "$out" $'\nstacktrace\n'
like "a stack with each event" "$("$RECORDER" report out.dat)" 'kernel_stack:'

# ---- sizes, clock, options

record -e sched_switch -u none -b 512 --subbuf-size 16 -C local --mode discard -M 0x1 -O nomarkers --option stacktrace \
	taskset -c 0 ./see tracing_on buffer_size_kb buffer_subbuf_size_kb tracing_cpumask trace_options trace_clock
is "a command on the CPU of -M is recorded" "$status" 0 || diag "$err"
like "it is on while the command runs, with -b, --subbuf-size and -M" "$out" $'^1\n5[0-9][0-9]\n16\n1\n'
like "-C" "$out" '\[local\]'
like "-O, to clear" "$out" $'\nnomarkers\n'
like "-O, to set" "$out" $'\nstacktrace\n'
like "--mode discard" "$out" $'\nnooverwrite\n'
# JSON is used because in the text a thread named "[001]" looks like a CPU.
is "-M: all events are of its CPU" "$("$RECORDER" report --json out.dat | sed -nE 's/^\{"ts":[0-9]+,("cpu":[0-9]+),.*/\1/p' | sort -u)" '"cpu":0'
record -e sched_switch -M 0x0000000000001 taskset -c 0 ./see tracing_cpumask
like "-M of more than 8 digits" "$out" '^[0,]*1$' || diag "$err"
record -e sched_switch --mode overwrite -M -1 ./see trace_clock tracing_cpumask trace_options
like "without -C" "$out" '\[(x86-tsc|mono)\]'
like "-M -1" "$out" "
$(<$tracing/tracing_cpumask)
"
like "--mode overwrite" "$out" $'\noverwrite\n'
# This option belongs to the tracer nop, and tracers may have one set of options for all instances. Tests that change the
# top level do it one at a time.
(
	flock 9
	cat $tracing/trace_options >before
	record -e sched_process_exec -O test_nop_refuse -u none true
	echo "$status" >refused
	record -e sched_process_exec -O test_nop_accept ./see trace_options
	cat $tracing/trace_options >after
	echo "$out" >during
) 9<$tracing
is "-O of a tracer that refuses it" "$(<refused)" 1
like "-O of the tracer nop" "$(<during)" $'\ntest_nop_accept(\n|$)'
ok "the top level has its options again" diff before after
for clock in counter mono boot; do
	record -e sched_switch -u none -C $clock ./see trace_clock
	like "-C $clock" "$out" "\\[$clock\\]"
done

# A new instance has the options of the top level, which another user may have set.
if strace -o calls true 2>log; then
	inject mkdir signal=STOP:when=1 "" record -e sched_process_exec -o out.dat ./see trace_options
	wait_until is_stopped
	for option in nooverwrite stacktrace userstacktrace; do
		echo $option >"$(echo $tracing/instances/recorder-$recorder-*[0-9])/trace_options"
	done
	kill -CONT $recorder
	wait $recorder
	is "options of others: status" $? 0
	is "options of others are not the recording's" "$(grep -xE '(no)?(overwrite|(user)?stacktrace)' said | sort | paste -sd ' ')" \
		"nostacktrace nouserstacktrace overwrite"
else
	skip "options of others" "strace cannot trace here"
fi

# ---- -s: what the threads of the drain wait for, as strace shows it

if strace -o log true 2>log; then
	# The waits that the recorder asks the kernel for, in microseconds.
	waits()
	{
		sed -nE 's/.*tv_sec=([0-9]+), tv_nsec=([0-9]+)\}, NULL.*/\1 \2/p' calls* |
			awk '{ print $1 * 1000000 + $2 / 1000 }' | sort -un
	}
	has_waited()
	{
		[ "$(cat calls* 2>/dev/null | wc -l)" -ge 700 ]
	}
	rm -f calls* words
	mkfifo words
	ok "-s 2000, of the kernel" strace -ff -o calls -e trace=ppoll "$RECORDER" record -q -e sched_process_exec -u none \
		-s 2000 -o out.dat true
	# Other waits are those of the main thread, which waits for the command.
	is "rings are looked at every 2 ms" "$(waits | grep -vxE '0|100|100000')" 2000
	rm -f calls*
	strace -ff -o calls -e trace=ppoll "$RECORDER" record -q -s 300 -o out.dat "$told" <words >log &
	recorder=$!
	exec 7>words
	# After this many calls the waits have their full length.
	wait_until has_waited
	exec 7>&-
	wait $recorder
	is "-s 300: lanes are looked at every 300 us" "$(waits | tail -n 1)" 300
	rm -f calls*
else
	skip "-s" "strace cannot trace here"
fi
seen "-s 0: readers wake up for each event" 0 buffer_percent -e sched_switch -s 0
seen "-s 1000: when a ring is half full" 50 buffer_percent -e sched_switch -s 1000

# ---- a tracer, if the kernel lets instances have one

remove_instance()
{
	rmdir "$tracing/instances/recorder-test-$$"
	tap_exit
}
mkdir "$tracing/instances/recorder-test-$$"
trap remove_instance EXIT
if echo function 2>/dev/null >"$tracing/instances/recorder-test-$$/current_tracer"; then
	seen "-p" function current_tracer -p function
	seen "-l" vfs_read set_ftrace_filter -p function -l vfs_read
	record -p function -l vfs_read -O func_stack_trace ./see trace_options
	like "-O of a tracer" "$out" $'\nfunc_stack_trace(\n|$)' || diag "$err"
	seen "-n" vfs_read set_ftrace_notrace -p function -n vfs_read
	if [ -e "$tracing/instances/recorder-test-$$/max_graph_depth" ]; then
		seen "--max-graph-depth" 3 max_graph_depth -p function --max-graph-depth 3
	else
		record -p function --max-graph-depth 3 true
		is "--max-graph-depth" "$status" 0 || diag "$err"
	fi
	module=$(sed -n 's/.* \[\(.*\)\]$/\1/p' $tracing/available_filter_functions | head -n 1)
	if [ -n "$module" ]; then
		record -p function --module "$module" ./see set_ftrace_filter
		unlike "--module" "$out" $'(^|\n)[^[]*(\n|$)'
	else
		skip "--module" "no function of a module can be traced here"
	fi
else
	refused "-O of a tracer, and the kernel has none: the tracer is set first" "cannot set the tracer \\(-p\\) to 'function': " \
		-p function -O func_stack_trace touch started
	refused "-p, and the kernel will not" "cannot set the tracer \\(-p\\) to 'function': " -p function touch started
	refused "-l" "cannot set the function filter 'vfs_read' \\(-l\\): " -p function -l vfs_read touch started
	refused "-n" "cannot set the function filter 'vfs_read' \\(-n\\): " -p function -n vfs_read touch started
fi
refused "--module, of none" "cannot trace functions of the module 'nosuch' alone" -p function --module nosuch touch started
refused "--module -n" "cannot trace functions of the module 'nosuch' alone" -p function --module nosuch -n vfs_read touch started
rmdir "$tracing/instances/recorder-test-$$"
trap tap_exit EXIT

# ---- whose events

# The threads whose events a file has.
threads()
{
	"$RECORDER" report out.dat | sed -nE 's/^.*-([0-9]+) +\[[0-9]+\].*$/\1/p' | sort -u
}

cat >family <<'END'
#!/bin/bash
echo $$
/bin/true
END
chmod +x family
record -e raw_syscalls -F ./family
is "-F: the command alone" "$(threads)" "$out"
record -e raw_syscalls -F -c ./family
is "-F -c: and its child" "$(threads | wc -l)" 2
# The kernel forgets threads that have ended; the file lists COMMAND all the same.
for ((i = 0; i < 5; i++)); do
	record -e sched -F -c sh -c 'echo $$; /bin/sleep 0.02; exec /bin/true'
	ok "-F -c $i: the file notes whose switches it has" grep -aqE "switches of some threads alone: ([0-9]+ )*$out[ ;]" out.dat
done
record -e raw_syscalls -F ./see set_event_pid
is "with the pid of the command" "$out" "$(threads)"
# Another process, which writes what the command reads.
mkfifo lines
while :; do echo; done >lines &
other=$!
like "without -F others have events, too" "$(record -e raw_syscalls head -n 3 lines && threads)" "(^|"$'\n'")$other("$'\n'"|$)"
kill $other 2>/dev/null
wait $other 2>/dev/null
# record() ran in a subshell.
pid=$(<pid)
unlike "but the recorder has none" "$("$RECORDER" report out.dat | grep -w "recorder-$pid ")" .

# waits PID COMMAND FILE: it is COMMAND, whose standard input is FILE, and sleeps
waits()
{
	[ "$(cut -d ' ' -f 2,3 "/proc/$1/stat")" = "($2) S" ] && [ "$(readlink "/proc/$1/fd/0")" = "$3" ]
}
mkfifo fifo
bash -c 'read -r <>fifo' &
first=$!
sleep 1000 </dev/null &
second=$!
# Both are in their last system call.
wait_until waits "$first" bash "$PWD/fifo"
wait_until waits "$second" sleep /dev/null
for which in "$first" "$first,$second"; do
	"$RECORDER" record -o out.dat -e raw_syscalls -P "$which" 2>log &
	recorder=$!
	wait_until traces "$recorder"
	is "-P $which" "$(paste -sd, $tracing/instances/recorder-"$recorder"-*[0-9]/set_event_pid)" \
		"$(tr , '\n' <<<"$which" | sort -n | paste -sd,)"
	kill -INT "$recorder"
	wait "$recorder"
	is "Ctrl-C ends it" $? 1
	like "nothing has happened" "$(tail -n 1 log)" "nothing was recorded, .*: none of the kernel's events occurred"
done
"$RECORDER" record -o out.dat -e raw_syscalls -P "$first" 2>log &
recorder=$!
wait_until traces "$recorder"
echo >fifo
wait "$recorder"
is "-P ends with the process" $? 0
is "and has its events" "$(threads)" "$first"
kill "$second"

# -c: a program begins threads while the recorder starts. Each calls the kernel again and again.
cat >growing.py <<'END'
import os, threading, time
def live():
    while True:
        os.getppid()
        time.sleep(0.05)
while len(os.listdir("/proc/self/task")) < 300:
    threading.Thread(target=live, daemon=True).start()
    time.sleep(0.002)
live()
END
# The number of times that each thread of the program has slept.
slept()
{
	grep -H '^voluntary' /proc/"$growing"/task/*/status
}
all_called()
{
	awk 'NR == FNR { n[$1] = $2; next } $1 in n && $2 < n[$1] + 2 { late = 1 } END { exit late }' at_begin <(slept)
}
python3 growing.py &
growing=$!
has_begun() { [ "$(ls /proc/$growing/task | wc -l)" -ge 20 ]; }
wait_until has_begun
"$RECORDER" record -o out.dat -e raw_syscalls -P $growing -u none -c 2>log &
recorder=$!
wait_until traces "$recorder"
slept >at_begin
wait_until all_called
kill -INT "$recorder"
wait "$recorder"
is "-P -c while threads begin: status" $? 0
kill $growing
is "threads without events" "$(comm -23 <(sed 's|.*/task/\([0-9]*\)/.*|\1|' at_begin | sort) <(threads | sort))" ""

# ---- programs by name

# named ARGUMENT...: records the named programs while the program writes ten of each event; the recorder's messages are
# in log
named()
{
	"$RECORDER" record -o out.dat -e raw_syscalls "$@" 2>log &
	recorder=$!
	wait_until traces "$recorder"
	[ "$attached" = 0 ] || wait_until is_attached out.dat.spool "$told"
	tell go
	kill -INT "$recorder"
	wait "$recorder"
	status=$?
}
start_told
program=$pid
for which in told "$program"; do
	attached=1
	named -P "$which"
	is "-P $which -e: its events" "$status $(counts out.dat)" "0 get 10 idle 10 put 10"
	is "-P $which -e: the kernel's of its threads alone" "$("$RECORDER" report out.dat | grep sys_enter: |
		sed -nE 's/^.*-([0-9]+) +\[[0-9]+\].*$/\1/p' | sort -u)" "$program"
	attached=0
	named -P "$which" -u none
	is "-P $which -e -u none: the kernel's alone" "$status $(counts out.dat) $(threads)" "0  $program"
done
cp "$(command -v sleep)" nameless
./nameless 1000 &
other=$!
# Before it is executed, the process is a copy of this shell.
# shellcheck disable=SC2016
wait_until eval '[ "$(readlink "/proc/$other/exe")" = "$PWD/nameless" ]'
attached=0
"$RECORDER" record -o out.dat -e raw_syscalls -P nameless 2>log &
recorder=$!
wait_until traces "$recorder"
is "-P NAME -e, of a program without librecorder" "$(cat $tracing/instances/recorder-"$recorder"-*[0-9]/set_event_pid)" "$other"
kill "$other"
wait "$recorder"
unlike "which is no matter" "$(<log)" "no running program"
attached=1
named -P "$program,$$"
is "a program and another process" "$status $(counts out.dat)" "0 get 10 idle 10 put 10"
end_told

# ---- how long

record -e sched_switch --duration 1
like "the kernel alone, for a while" "$status $err" '^0 .*recorded [1-9][0-9]* kernel events'
for signal in TERM HUP; do
	"$RECORDER" record -o out.dat -e sched_process_exec 2>log &
	recorder=$!
	wait_until traces "$recorder"
	/bin/true
	kill -s $signal "$recorder"
	wait "$recorder"
	is "until SIG$signal" $? 0
	like "it is recorded" "$(<log)" 'recorded [0-9]+ kernel event'
	is "and nothing is left" "$(left "$recorder")" ""
done

# ---- with programs

producer=$top_builddir/tests/programs/producer
record -e sched_process_exec -u none "$producer" 1 10
is "-u none: programs stay as they are" "$("$RECORDER" report out.dat | grep -c 'count:')" 0
is "the command has no buffer directory of ours" "$(RECORDER_DIR=/nowhere "$RECORDER" record -q -o out.dat -e sched_switch -u none \
	printenv RECORDER_DIR)" /nowhere
for which in "" "-u *"; do
	set -f
	# shellcheck disable=SC2086
	record -e sched_process_exec $which "$producer" 1 10
	set +f
	is "-e $which: a program's events" "$("$RECORDER" report out.dat | grep -c 'count:')" 10
	like "and the kernel's" "$("$RECORDER" report out.dat)" "sched_process_exec: .*producer"
done
record -e sched_process_exec -x test:count "$producer" 1 10
is "-e -x: without it" "$status $("$RECORDER" report out.dat | grep -c 'count:')" "0 0"
record -e sched_process_exec true
is "a command that does not use librecorder is nothing special" "$status $(grep -c librecorder <<<"$err")" "0 0"
record -e sched_process_exec -F -u test:count -f 'number < 5' "$producer" 1 10
is "-f after -u is the program's" "$("$RECORDER" report out.dat | grep -c 'count:')" 5
is "nothing is left" "$(left "$pid")" ""

done_testing
