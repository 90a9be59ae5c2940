#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder why: the spans that it explains, names and numbers as in the file, and its reports of missing data. The
# programs write the scheduler's events themselves, so that no rights are needed. tests/kernel/why.sh has real ones.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

cat >spans.c <<'END'
#define _GNU_SOURCE
#include <librecorder/event.h>
#include <librecorder/span.h>
#include <sched.h>
#include <sys/prctl.h>
#include <stdio.h>
#include <unistd.h>
REC_SPAN(io, request, u64(id), end(s32(status)));
REC_SPAN_KEYED(job, piece, key(s32(number)));
REC_SPAN(xxsystemxx, xxnamexx, s16(n));
REC_SPAN(part, outer, u64(id));
REC_SPAN(part, inner, u64(id));
REC_EVENT(sched, sched_switch, s32(prev_pid), s32(prev_prio), s64(prev_state), s32(next_pid), s32(next_prio));
REC_EVENT(sched, sched_waking, s32(pid), s32(prio), s32(target_cpu));
int main(void)
{
	const int self = (int)gettid(), other = self + 100000;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || prctl(PR_SET_NAME, "gr\303\266\303\237e\377"))
		return 1;
	REC(sched, sched_switch, 0, 120, 0, self, 120);
	for (unsigned int id = 1; id <= 4; id++) {
		REC_BEGIN(io, request, id);
		for (unsigned int i = 0; i < id && id < 4; i++) {
			REC(sched, sched_switch, self, 120, 1, other, 120);
			REC(sched, sched_waking, self, 120, 0);
			REC(sched, sched_switch, other, 120, 0, self, 120);
		}
		REC_END(io, request, 0);
	}
	for (int number = -2; number <= 1; number++) {
		REC_BEGIN(job, piece, number);
		REC_END(job, piece, number);
	}
	/* One that an outer one cuts, and one that stays open. */
	REC_BEGIN(part, outer, 1);
	REC_BEGIN(part, inner, 2);
	REC_END(part, outer);
	REC_BEGIN(part, inner, 3);
	REC_BEGIN(xxsystemxx, xxnamexx, -7);
	REC_END(xxsystemxx, xxnamexx);
	return printf("%d\n", self) < 0;
}
END
# shellcheck disable=SC2086
ok "a program with spans" $CC $CFLAGS_FOR_TEST spans.c $LDADD_FOR_TEST -o spans
run "$RECORDER" record -q --file-version 6 -o trace.dat ./spans
is "is recorded" "$status$err" 0
ok "with the scheduler's events" python3 -B "$top_srcdir/tests/view/as_kernel.py" trace.dat "$out" sched_switch sched_waking

# why ARGUMENT...: the objects of --json, as "id" or as what $show makes of them
why()
{
	"$RECORDER" why --json "$@" | python3 -c 'import json, sys
for line in sys.stdin.buffer.read().decode("utf-8").splitlines():
    span = json.loads(line)
    assert sum(span["classes"].values()) == span["dur"] == sum(piece["dur"] for piece in span["path"])
    print('"${show:-span[\"id\"]}"')'
}

# ---- which ones

is "one" "$(why --span io:request | wc -l)" 1
is "the slowest two" "$(why --span io:request --slowest 2 | wc -l)" 2
is "all over a time" "$(why --span io:request --over 0ns | sort)" $'1\n2\n3\n4'
is "the slowest two over a time" "$(why --span io:request --over 0ns --slowest 2)" "$(why --span io:request --slowest 2)"
is "the slowest of those with an id" "$(why --span io:request --id 3 --slowest 1)" 3
is "negative keys" "$(why --span job:piece --over 0ns | sort -n)" $'-2\n-1\n0\n1'
is "by its number" "$(why --span job:piece --id -2)" -2
fails "a number is not the one with the same bits" "$RECORDER" why --span job:piece --id 18446744073709551614
fails "nor is an unsigned one negative" "$RECORDER" why --span io:request --id -1
like "which is reported" "$err" "^recorder why: no span 'io:request' has this id$"
ok "as text" "$RECORDER" why --span job:piece --id -1
like "the number" "$out" "^job:piece id -1, "
fails "the one with an id was faster" "$RECORDER" why --span io:request --id 3 --over 1000s
like "which is reported" "$err" "^recorder why: no span 'io:request' took longer than that$"
is "a field that is negative" "$(why --span xxnamexx)" -7
is "how complete they are" "$(show='span["id"], span["state"]' why --span part:inner --over 0ns | sort) $(show='span["state"]' why --span outer)" \
	$'2 cut\n3 open whole'
ok "as text" "$RECORDER" why --span part:inner --slowest 2
like "the one that is cut" "$out" $'(^|\n)part:inner id 2, [^\n]*, cut short, or with losses inside'
like "the one that is open" "$out" $'(^|\n)part:inner id 3, [^\n]*, its end is not in the trace'
for bad in - 1- 1x ''; do
	run "$RECORDER" why --span io:request --id "$bad"
	is "--id '$bad'" "$status $err" "2 recorder why: --id: a number expected, not '$bad'"
done

# ---- a clock that does not count nanoseconds

sed 's/\[mono\]/[tick]/g' trace.dat >ticks.dat
ok "times of another clock" "$RECORDER" why --span io:request --id 3 --path ticks.dat
like "are numbers" "$out" '^io:request id 3, [^,]*, at [0-9]+: +[0-9]+(,|'$'\n'')'
unlike "without units" "$out" '[0-9] [num]?s([^a-z]|$)'
is "this is reported" "$err" "recorder why: ticks.dat: the clock 'tick' does not count nanoseconds; times are in its ticks"
is "--over is a number, too" "$(why --span io:request --over 0 ticks.dat 2>/dev/null | sort)" $'1\n2\n3\n4'
longest=$(show='span["dur"]' why --span io:request ticks.dat 2>/dev/null)
is "of ticks" "$(why --span io:request --over $((longest - 1)) ticks.dat 2>/dev/null | wc -l)" 1
run "$RECORDER" why --span io:request --over 5ms ticks.dat
is "a time is refused: the status" "$status" 2
like "the reason" "$err" "^recorder why: --over: a whole number of the clock's ticks expected, not '5ms'"
for bad in 5x 1.5.5 ''; do
	run "$RECORDER" why --span io:request --over "$bad"
	is "--over '$bad'" "$status $err" "2 recorder why: --over: a time such as 5ms expected, not '$bad'"
done
run "$RECORDER" why --span io:request --over 99999999999
is "a time that is too long" "$status ${err%%$'\n'*}" "2 recorder why: --over: a time such as 5ms expected, not '99999999999'"

# ---- names

is "UTF-8 stays in JSON, other bytes are visible" "$(show='span["path"][0]["task"].rsplit("-", 1)[0]' why --span io:request)" 'größe\xff'
sed 's/xxsystemxx/xx"\x1b[2J"xx/g' trace.dat >names.dat
is "a system whose name is not one" "$(show='span["span"].encode("unicode_escape").decode()' why --span xxnamexx names.dat)" \
	'xx"\x1b[2J"xx:xxnamexx'
ok "as text" "$RECORDER" why --span xxnamexx names.dat
like "control characters are escaped" "$out" '^xx"\\033\[2J"xx:xxnamexx id -7, '

# ---- what is missing

run "$RECORDER" why --span io:request --id 2
like "only what a span lacked is to be recorded" "$out" $'\nFor better answers record these events, too: raw_syscalls$'
is "and nothing is reported" "$err" ""
run "$RECORDER" why --span io:request --id 2 --json
is "with --json on standard error" "$err" "recorder why: for better answers record these events, too: raw_syscalls"
unlike "not among the objects" "$out" "For better"
run "$RECORDER" why --span io:request --id 4
unlike "a span that ran lacks nothing" "$out" "For better"
run "$RECORDER" record -q --file-version 6 -o without.dat ./spans
run "$RECORDER" why --span io:request without.dat
like "without switches" "$out" $'\nFor better answers record these events, too: sched_switch sched_waking raw_syscalls irq timer block$'

# change FILE OFFSET BYTE...: changes the last page, whose records begin at 16
change()
{
	cp trace.dat "$1"
	python3 - "$@" <<'END'
import os, sys
with open(sys.argv[1], "r+b") as file:
    file.seek(os.path.getsize(sys.argv[1]) - 4096 + int(sys.argv[2]))
    file.write(bytes(int(byte, 16) for byte in sys.argv[3:]))
END
}
change lost.dat 11 80
# shellcheck disable=SC2046
change damaged.dat 600 $(printf '00 %.0s' {1..64})
change unreadable.dat 8 ff 7f
for command in "why --span io:request --slowest 4" "why --span io:request --json" top "top --json" profile; do
	run "$RECORDER" $command lost.dat
	like "$command: losses are reported" "$err" \
		"(^|"$'\n'")recorder ${command%% *}: lost.dat: at least 0 events were lost at 1 place; results may lack them$"
done
while read -r command operands; do
	# shellcheck disable=SC2086
	run "$RECORDER" "$command" $operands
	is "$command: a damaged page is a failure" "$status" 1
	like "$command: it is reported" "$err" "^recorder $command: damaged.dat: 1 damaged page; results may lack their events$"
	ok "$command: the rest is read" test -n "$out"
done <<'END'
hist -e sched:sched_switch damaged.dat
latency damaged.dat io:request
latency --json damaged.dat io:request
why --span io:request damaged.dat
assert --junit out.xml damaged.dat count(io:request)>0
END
run "$RECORDER" sql --list damaged.dat 'SELECT count(*) > 0 FROM events; SELECT count(*) > 0 FROM request_begin; SELECT 7'
is "sql: a damaged page is a failure, and all statements run" "$status $(xargs <<<"$out")" "1 1 1 7"
reported="recorder sql: damaged.dat: 1 damaged page; results may lack their events"
is "sql: it is reported after each result" "$err" "$reported"$'\n'"$reported"
run "$RECORDER" sql --save saved.sqlite damaged.dat
is "sql --save: it is a failure" "$status $err" "1 $reported"
ok "sql --save: the rest is saved" test -s saved.sqlite
run "$RECORDER" sql --list damaged.dat 'SELECT 7'
is "sql: a statement that reads no page does not fail" "$status $out $err" "0 7 "
like "assert: the trace is a test case with an error" "$(<out.xml)" \
	'tests="2" failures="0" errors="1" .*name="the trace is whole">[^<]*<error message="1 damaged page"/>'
run "$RECORDER" why --span io:request unreadable.dat
like "also if there is no such span" "$err" $'^recorder why: the trace has no span [^\n]*\nrecorder why: unreadable.dat: 1 damaged page; results'

done_testing
