#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder record -B: events in several buffers of the kernel and of the file, as with trace-cmd's option.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"
. "$top_srcdir/tests/told.sh"

calls=$(realpath "$top_builddir/tests/programs/calls")

# The command that is recorded: shows a file of an instance of the recorder that started it.
cat >see <<'END'
#!/bin/bash
cat /sys/kernel/tracing/instances/recorder-$PPID-*[0-9]"$1/$2"
END
chmod +x see

# seen NAME EXPECTED SUFFIX FILE ARGUMENT...
seen()
{
	local name=$1 expected=$2 suffix=$3 file=$4

	shift 4
	record "$@" ./see "$suffix" "$file"
	is "$name" "$out" "$expected" || diag "$err"
}

# The buffers of a file, each with its events: "irq: irq_handler_entry". `|` for none.
buffers()
{
	"$1" report -i "$2" 2>/dev/null | sed -nE 's/^ *(([a-z]+):)? +[^:]*-[0-9]+ +\[[0-9]+\] +[0-9.]+: +([a-z_]+):.*/\2|\3/p' |
		sort -u | paste -sd ' '
}

# ---- each event in its buffer, in both versions of the file

for version in 6 7; do
	record --file-version $version -e sched_switch -B wakes -e sched_waking -e sched_wakeup -B timers -e hrtimer_start sleep 0.05
	told=$err
	is "version $version: status" "$status" 0
	is "version $version: each event is in its buffer" "$(buffers "$RECORDER" out.dat)" \
		"timers|hrtimer_start wakes|sched_wakeup wakes|sched_waking |sched_switch"
	is "version $version: and in trace-cmd" "$(buffers trace-cmd out.dat)" "$(buffers "$RECORDER" out.dat)"
	trace-cmd report -i out.dat >theirs 2>/dev/null
	"$RECORDER" report -i out.dat >ours
	ok "version $version: the reports are the same" cmp theirs ours
	like "version $version: the statistics name them" "$("$RECORDER" report --stat -i out.dat)" "Buffer: timers"
	ok "version $version: all counts add up" "$RECORDER" verify out.dat
	is "version $version: the summary counts all" "$(sed -n 's/^recorded \([0-9]*\) kernel events.*/\1/p' <<<"$told")" \
		"$(grep -cE '\[[0-9]{3}\] +[0-9.]+: ' ours)"
	is "version $version: nothing is left" "$(left "$pid")" ""
done

record -B only -e sched_switch sleep 0.01
is "no event before the first -B" "$(buffers "$RECORDER" out.dat)" "only|sched_switch"
is "as in trace-cmd" "$(buffers trace-cmd out.dat)" "only|sched_switch"

# ---- options belong to the last -B before them

seen "-e: the top buffer's" "sched:sched_switch" "" set_event -e sched_switch -B one -e irq:softirq_entry -B two
seen "-e: the first one's" "irq:softirq_entry" -bufferaa set_event -e sched_switch -B one -e irq:softirq_entry -B two
seen "-e: none in the second one" "" -bufferab set_event -e sched_switch -B one -e irq:softirq_entry -B two
seen "-v ends with -B" "irq:softirq_entry" -bufferaa set_event -e sched -v -e sched_switch -B one -e irq:softirq_entry
seen "-f: of the -e before it" "prev_pid == 7" -bufferaa events/sched/sched_switch/filter \
	-e sched_switch -f 'prev_pid == 1' -B one -e sched_switch -f 'prev_pid == 7'
seen "-f: not of another buffer" "prev_pid == 1" "" events/sched/sched_switch/filter \
	-e sched_switch -f 'prev_pid == 1' -B one -e sched_switch -f 'prev_pid == 7'
seen "-R" "stacktrace:unlimited" -bufferaa events/sched/sched_wakeup_new/trigger \
	-e sched_switch -B one -e sched_wakeup_new -R stacktrace
# The kernel rounds sizes up to whole pages.
record -b 512 -e sched_switch -B one -b 128 -e sched_switch ./see -bufferaa buffer_size_kb
like "-b" "$out" '^1[23].$'
record -b 512 -e sched_switch -B one -b 128 -e sched_switch ./see "" buffer_size_kb
like "-b: the top buffer's" "$out" '^51.$'
seen "-M" 1 -bufferaa tracing_cpumask -e sched_switch -B one -M 1 -e sched_switch
seen "-O" 0 -bufferaa options/overwrite -e sched_switch -B one -O nooverwrite -e sched_switch
seen "-O: not of another buffer" 1 "" options/overwrite -e sched_switch -B one -O nooverwrite -e sched_switch
seen "-T" 1 -bufferaa options/stacktrace -e sched_switch -B one -T -e sched_switch
seen "-C: of all" "$(cat $tracing/trace_clock | tr -d '[]' | sed 's/\bmono\b/[mono]/')" -bufferaa trace_clock \
	-C mono -e sched_switch -B one -e sched_switch

# -F applies to all, -P to its buffer.
cat >pids <<'END'
#!/bin/bash
for suffix in '' -bufferaa; do
	grep -qx $$ /sys/kernel/tracing/instances/recorder-$PPID-*[0-9]$suffix/set_event_pid && echo "$suffix."
done
END
chmod +x pids
record -F -e sched_switch -B one -e sched_switch ./pids
is "-F: of all buffers" "$out" $'.\n-bufferaa.'
sleep 1000 &
sleeper=$!
"$RECORDER" record -q -u none -o pid.dat -e sched_switch -B one -P $sleeper -e sched_switch >log 2>&1 &
recorder=$!
# The second buffer is made last and switched on last.
is_second_on()
{
	grep -qx 1 $tracing/instances/recorder-$recorder-*-bufferaa/tracing_on && traces $recorder
}
wait_until is_second_on
is "-P: of its buffer" "$(cat $tracing/instances/recorder-$recorder-*-bufferaa/set_event_pid)" $sleeper
is "-P: not of another one" "$(cat $tracing/instances/recorder-$recorder-*[0-9]/set_event_pid)" ""
kill $sleeper
wait $recorder
is "-P: it ends with the process" "$?" 0
ok "-P: its buffer has its last switch" grep -q "one: .*sleep-$sleeper" <("$RECORDER" report -i pid.dat)

# ---- programs' events: in the top buffer, beside the kernel's

for raw in "" --raw "--buffers split"; do
	# shellcheck disable=SC2086 # none or several words
	record $raw -e sched_switch -B calls -e raw_syscalls:sys_enter "$top_builddir/tests/programs/producer" 2 100
	is "programs $raw: status" "$status" 0
	like "programs $raw: the summary has both" "$err" "recorded [0-9]+ kernel events.*recorded 200 events"
	"$RECORDER" report -i out.dat >ours
	trace-cmd report -i out.dat >theirs 2>/dev/null
	ok "programs $raw: as trace-cmd has it" cmp ours theirs
	is "programs $raw: all of their events" "$(grep -c ' count: ' ours)" 200
	ok "programs $raw: the buffer has its own" test "$(grep -c '^ *calls: .*sys_enter' ours)" -gt 5
done

# ---- what a killed recorder leaves

"$RECORDER" record -q -o killed.dat -e sched_switch -B calls -e raw_syscalls:sys_enter "$calls" 0 >log 2>&1 &
recorder=$!
has_grown()
{
	[ -n "$(find . -name 'killed.dat.spool.buffer1.cpu*' -size +255k)" ]
}
wait_until has_grown
child=$(cat /proc/$recorder/task/$recorder/children)
kill -KILL $recorder
# shellcheck disable=SC2086 # one or none
kill -KILL $child
wait $recorder 2>/dev/null
run "$RECORDER" recover killed.dat.spool
is "killed: recovered" "$status" 0
ok "killed: the buffer is there" test "$("$RECORDER" report -i killed.dat | grep -c '^ *calls: .*sys_enter')" -gt 50
is "killed: nothing is left" "$(echo killed*)" killed.dat
# Not with the first one, if the command's process still had the recorder's descriptors or another test swept.
are_swept()
{
	record -e sched_switch true
	! is_left $recorder
}
ok "killed: its instances go with the next recordings" wait_until are_swept

# ---- what is refused

refused "-B without events" "-B is for the kernel's events" -B one touch started
refused "a name twice" "buffer 'one' \(-B\) is given twice" -B one -e sched -B one -e irq touch started
refused "no name" "buffer '' \(-B\) needs a name" -B '' -e sched touch started
refused "a name that is a path" "buffer 'a/b' \(-B\) has a character" -B a/b -e sched touch started
refused "-v before -B" "'-v' needs an -e after it" -v -B one -e sched touch started
refused "an option of a tracer" "-l, -n and -g select functions" -p function -B one -e sched -l do_nanosleep touch started

# Another process has an instance of this name.
remove_instance()
{
	rmdir $tracing/instances/mine-$$
	tap_exit
}
mkdir $tracing/instances/mine-$$
trap remove_instance EXIT
record -B mine-$$ -e sched_switch sleep 0.01
is "another's instance: status" "$status" 0
is "another's instance: is not used" "$(cat $tracing/instances/mine-$$/set_event)" ""
is "another's instance: nothing is left beside it" "$(left "$pid")" ""
ok "another's instance: stays" rmdir $tracing/instances/mine-$$
trap tap_exit EXIT

done_testing
