#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder why: requests are slow for known reasons, which it must find. Every nanosecond is in one class.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"

stalls=$top_builddir/tests/programs/stalls

# reason KIND EVENT...: checks the answer of why for a recorded stall; status 3: other programs took the CPU meanwhile.
reason()
{
	local kind=$1 event options=()

	shift
	for event; do
		options+=(-e "$event")
	done
	"$RECORDER" record -q -b 65536 -o "$kind.dat" "${options[@]}" "$stalls" "$kind" &&
		"$RECORDER" why --json --span request "$kind.dat" >"$kind.json" &&
		python3 "$top_srcdir/tests/kernel/why.py" "$kind" <"$kind.json"
}

# answers NAME KIND EVENT...: the answer is right. If other programs took the CPU, the recording is repeated, at most twice.
answers()
{
	local name=$1 attempt fault="fault of the environment: other programs had the CPU"

	shift
	for attempt in 1 2 3; do
		run reason "$@"
		if [ "$status" != 3 ]; then
			tap_result "$status" "$name" || tap_show_run reason "$@"
			answered+=" $1"
			return
		fi
		diag "$name: attempt $attempt of 3: $fault"
	done
	skip "$name" "$fault, three times in a row"
}

answered=
answers "a request that computes" work sched irq timer
answers "one that sleeps" sleep sched raw_syscalls irq timer
answers "one that waits for a lock" lock sched raw_syscalls irq timer
answers "one whose CPU is taken away" preempt sched irq timer
answers "one that writes to a disk" disk sched raw_syscalls irq timer block
answers "one that waits for a chain of processes" chain sched raw_syscalls irq timer
answers "one that timers interrupt, one after the other" storm sched irq timer
answers "one that waits for a lock whose owner another thread keeps from running" inversion sched raw_syscalls irq timer
answers "one that is woken late" late sched raw_syscalls irq timer
answers "one that moves over three threads" moved sched raw_syscalls irq timer

if [[ "$answered " = *" chain "* ]]; then
	ok "as text" "$RECORDER" why --span request chain.dat
	like "it names the chain" "$out" 'middle-[0-9]+ in read\(\): last-[0-9]+ in clock_nanosleep\(\): timer woke it'
	like "the head" "$out" '^io:request id 42, stalls-[0-9]+, at [0-9.]+: '
else
	skip "as text" "the chain has no answer"
fi
if [[ "$answered " = *" sleep "* ]]; then
	ok "all pieces" "$RECORDER" why --path --span io:request sleep.dat
	like "in time order" "$out" $'\n  \\+ +0 ns  .*blocked      in clock_nanosleep\\(\\): timer woke it'
else
	skip "all pieces" "the sleep has no answer"
fi

# ---- which spans

ok "many requests" "$RECORDER" record -q -o many.dat "$top_builddir/examples/packer"
count=$("$RECORDER" sql --list many.dat "SELECT count(*) FROM spans WHERE name = 'compress'")
slowest()
{
	"$RECORDER" why --json --span packer:compress "$@" many.dat | grep -oE '"dur": [0-9]+, "classes"' | grep -oE '[0-9]+' | tr '\n' ' '
}
is "the slowest" "$(slowest)" "$("$RECORDER" sql --list many.dat "SELECT max(dur) FROM spans WHERE name = 'compress'") "
is "the slowest five, in their order" "$(slowest --slowest 5)" \
	"$("$RECORDER" sql --list many.dat "SELECT dur FROM spans WHERE name = 'compress' ORDER BY dur DESC LIMIT 5" | tr '\n' ' ')"
is "those over a time" "$(slowest --over 1ns | wc -w)" "$count"
is "one by its number" "$(slowest --id 3)" \
	"$("$RECORDER" sql --list many.dat "SELECT dur FROM spans WHERE name = 'compress' AND json_extract(args, '\$.file') = 3" | tr '\n' ' ')"
like "without the kernel's events it names what is missing" "$("$RECORDER" why --span compress many.dat)" \
	'sched_switch was not recorded: add -e sched.*For better answers record these events, too: sched_switch sched_waking raw_syscalls irq timer block'
fails "a span that is not there" "$RECORDER" why --span io:nothing many.dat
like "is named" "$err" "^recorder why: the trace has no span 'io:nothing'"
fails "a number that no span has" "$RECORDER" why --span compress --id 99999999 many.dat
fails "no span at all" "$RECORDER" why many.dat
is "is a wrong command line" "$status" 2
fails "an invalid id" "$RECORDER" why --span compress --id abc many.dat
is "is a wrong command line, too" "$status" 2
fails "an invalid time" "$RECORDER" why --span compress --over 5parsec many.dat

done_testing
