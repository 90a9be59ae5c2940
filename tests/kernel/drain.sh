#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The kernel's rings are drained in three ways, with the same result; every event is recorded or counted as lost.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/calls.sh"

hexadecimal()
{
	seq 0 "$(($1 - 1))" | awk '{ printf "%x\n", $1 }'
}

as=()

# Runs the recorder, with fewer privileges if $as is set, and sets $recorded and $lost from its summary.
record()
{
	run "${as[@]}" "$RECORDER" record "$@"
	summary=$err
	recorded=$(sed -n 's/^recorded \([0-9]*\) kernel event.*/\1/p' <<<"$err")
	lost=$(sed -n 's/^recorded .* kernel event.*; \([0-9]*\) lost$/\1/p' <<<"$err")
}

# ---- three ways, one result: rings that hold all of it, whatever else the machine does

hexadecimal 20000 >expected
for way in splice mmap read; do
	record --drain "$way" -b 4096 -o "$way.dat" -e raw_syscalls:sys_enter -f "$mine" "./$calls" 20000
	is "$way: recorded" "$status" 0
	like "$way: the summary counts them" "$summary" "drained by $way"
	is "$way: as many as there were" "$recorded $lost" "20000 0"
	ok "$way: these, in order" cmp <(numbers "$way.dat") expected
	ok "$way: nothing is left beside the file" test "$(ls "$way.dat"*)" = "$way.dat"
done

# The kernel has no memory for a page, once on each CPU.
as=(strace -f -qq -o strace.log -e trace=splice -e inject=splice:error=ENOMEM:when=1)
record --drain splice -b 4096 -o memory.dat -e raw_syscalls:sys_enter -f "$mine" "./$calls" 20000
as=()
ok "no memory for a page: it happened" grep -q 'ENOMEM.*INJECTED' strace.log
is "no memory for a page: the next turn takes it" "$status $recorded $lost" "0 20000 0"
ok "no memory for a page: these, in order" cmp <(numbers memory.dat) expected

# ---- pages that are taken while they are written to, more than once

hexadecimal 30 >once
cat once once once >expected_thrice
for way in mmap read; do
	# Each sleep takes longer than a drain waits for a ring to fill.
	# shellcheck disable=SC2016 # sh expands it
	record --drain "$way" -e raw_syscalls:sys_enter -f "$mine" \
		taskset -c 0 sh -c 'for i in 1 2; do "$0" 30; sleep 0.4; done; "$0" 30' "./$calls"
	is "$way: slowly, as many as there were" "$recorded $lost" "90 0"
	ok "$way: these, in order" cmp <(numbers trace.dat) expected_thrice
done

# ---- sub-buffers of another size

record --drain splice -b 4096 --subbuf-size 32 -e raw_syscalls:sys_enter -f "$mine" "./$calls" 20000
is "sub-buffers of 32 KB: as many as there were" "$recorded $lost" "20000 0"
ok "sub-buffers of 32 KB: these, in order" cmp <(numbers trace.dat) expected

# ---- losses: the recorder is stopped while 200000 events come to rings of 8 KB, and continues later

lossy()
{
	# shellcheck disable=SC2016 # PPID is the recorder, for the shell that it runs
	record "$@" -e raw_syscalls:sys_enter -f "$mine" -e raw_syscalls:sys_exit -f "$mine" \
		sh -c 'kill -STOP $PPID; "$0" 100000; kill -CONT $PPID' "./$calls"
}

for way in splice mmap read; do
	lossy -b 8 --drain "$way"
	is "$way: a recorder that was stopped continues" "$status" 0
	ok "$way: it has lost something" test "$lost" -gt 0
	is "$way: each event is recorded or lost" "$((recorded + lost))" 200000
	like "$way: and why" "$summary" "  $lost overwritten before they were read"
	is "$way: those recorded are in the file" "$("$RECORDER" report trace.dat | grep -c ': *NR ')" "$recorded"
	# A gap has no number if its page had no room for one.
	ok "$way: the pages report them where they happened" awk -v lost="$lost" '/ EVENTS DROPPED\]/ { told += substr($2, 2) }
		/\[EVENTS DROPPED\]/ { gaps++ }
		/ end: +lost=/ { elsewhere++ }
		END { exit !(told == lost && (gaps || !elsewhere)) }' <("$RECORDER" report trace.dat)
	ok "$way: pages, statistics and events agree" "$RECORDER" verify trace.dat
done

# ---- a ring that is not overwritten keeps the oldest

lossy -b 8 --drain splice -O nooverwrite
is "a ring that is not overwritten: each is recorded or lost" "$((recorded + lost))" 200000
like "the reason is reported" "$summary" "  $lost dropped, the ring was full"
is "the first one is there" "$(numbers trace.dat | head -n 1)" 0

# ---- rings grow when a drain does not keep up: here until one has

cat >until_grown.sh <<'END'
sizes=$(echo /sys/kernel/tracing/instances/recorder-$PPID-*[0-9]/per_cpu/cpu*/buffer_size_kb)
first=$(cat $sizes)
for round in $(seq 100); do
	[ "$(cat $sizes)" = "$first" ] || break
	kill -STOP $PPID
	"$1" 30000
	kill -CONT $PPID
	sleep 0.05
done
echo $round
END
record -b auto -e raw_syscalls:sys_enter -f "$mine" sh until_grown.sh "./$calls"
like "a ring has grown" "$summary" "drained by splice.*, rings grown to [0-9]* KB"
is "-b auto: each event is recorded or lost" "$((recorded + lost))" $((30000 * $(grep -c "^$getppid$" <<<"$out")))

# ---- priorities

record -r 7 -e raw_syscalls:sys_enter -f "$mine" "./$calls" 100
like "the priority asked for" "$summary" "drained by splice, real-time priority 7"
record -r 7 -e raw_syscalls:sys_enter -f "$mine" -u none sh -c 'chrt -p $PPID; "$0" 100' "./$calls"
like "the thread that ends the recording has it, too" "$(tr '\n' ' ' <<<"$out")" "SCHED_FIFO.*priority: 7"
as=(setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice prlimit --rtprio=0)
record -e raw_syscalls:sys_enter -f "$mine" "./$calls" 100
like "one that is not permitted is reported" "$summary" "no real-time priority for the drain \(Operation not permitted\)"
is "and it is drained all the same" "$recorded $lost" "100 0"
record -q -e raw_syscalls:sys_enter -f "$mine" "./$calls" 100
is "without a message, when asked to" "$status '$err'" "0 ''"

done_testing
