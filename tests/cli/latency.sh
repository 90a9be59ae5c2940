#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder latency: every number of a program whose spans and pairs are known, and of the files that tests/golden makes, is
# compared with what a script computes from report --json.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

# agrees NAME FILE KIND ARG... -- OPERAND...: latency OPERAND... has the figures that latency.py computes from the file
agrees()
{
	local name=$1 file=$2 args=()

	shift 2
	while [ "$1" != -- ]; do
		args+=("$1")
		shift
	done
	shift
	"$RECORDER" report --json "$file" >events.json 2>/dev/null
	"$RECORDER" latency --json "$file" "$@" >answer.json 2>stderr.txt
	is "$name" "$(python3 "$top_srcdir/tests/cli/latency.py" events.json answer.json "${args[@]}" 2>&1)" ""
}

# number NAME: the number with this name in the last answer
number()
{
	python3 -c 'import json, sys; print(json.load(open("answer.json"))[sys.argv[1]])' "$1"
}

cat >pairs.c <<'END'
#include <librecorder/event.h>
#include <librecorder/span.h>
#include <pthread.h>
REC_EVENT(io, submit, u64(id), s32(queue), string(path), array(u8, bytes, 4));
REC_EVENT(io, complete, u64(id), s32(queue), string(path));
REC_EVENT(io, other, u32(n));
REC_SPAN(io, request, u32(n));
REC_SPAN(io, step, u32(n));
REC_SPAN_KEYED(io, job, key(u64(id)));
REC_TIMED(io, flush, u64(bytes));
static const unsigned char bytes[4];
static void *complete(void *arg)
{
	for (unsigned int i = 0; i < 900; i++) {
		unsigned int id = i * 7 % 900;
		if (id % 50 == 3)
			continue;
		REC(io, complete, id, -(int)(id % 5), id % 2 ? "a<b>&\"c\"" : "");
		REC_END(io, job, id);
	}
	REC(io, complete, 100000, 0, "never begun");
	return arg;
}
int main(void)
{
	pthread_t thread;
	for (unsigned int i = 0; i < 900; i++) {
		REC(io, submit, i, -(int)(i % 5), i % 2 ? "a<b>&\"c\"" : "", bytes);
		REC_BEGIN(io, job, i);
		REC_BEGIN(io, request, i);
		REC_BEGIN(io, step, i);
		if (i % 3)
			REC_END(io, step);
		REC(io, other, i);
		REC_END(io, request);
		if (i % 20 == 0)
			REC(io, submit, i, -(int)(i % 5), "again", bytes);
		const uint64_t start = REC_TIMED_START(io, flush);
		REC_TIMED_END(io, flush, start, i);
	}
	pthread_create(&thread, 0, complete, 0);
	pthread_join(thread, 0);
	return 0;
}
END
# shellcheck disable=SC2086
ok "a program with pairs" $CC $CFLAGS_FOR_TEST pairs.c $LDADD_FOR_TEST -lpthread -o pairs
ok "is recorded" "$RECORDER" record -q -u 'io:*' -o trace.dat ./pairs

# ---- every number

agrees "events with a key, in any thread" trace.dat pair io:submit io:complete id -- io:submit io:complete -k id
is "those without an end" "$(number no_end)" 63
is "those without a begin" "$(number no_begin)" 1
is "the others" "$(number count)" 882
agrees "with a key that is negative" trace.dat pair io:submit io:complete queue -- io:submit io:complete -k queue
agrees "with a key that is a text" trace.dat pair io:submit io:complete path -- io:submit io:complete -k path
agrees "on one thread" trace.dat pair io:submit io:other - -- io:submit other
is "each has an end" "$(number count) $(number no_end)" "900 45"
agrees "from an event to the next one of its kind" trace.dat pair io:other io:other - -- io:other io:other
is "there is one less" "$(number count) $(number no_begin) $(number no_end)" "899 0 0"
agrees "by two names of the same event, too" trace.dat pair io:other io:other - -- io:other other
agrees "spans" trace.dat span io:request -- io:request
agrees "spans, by the name alone" trace.dat span io:request -- request
agrees "spans that outer ends cut" trace.dat span io:step -- io:step
is "are left out" "$(number count) $(number cut)" "600 300"
agrees "keyed spans" trace.dat keyed io:job id -- io:job
is "those that never end are left out" "$(number no_end)" 18
agrees "timed spans" trace.dat timed io:flush -- io:flush

bad=0
nr=0
for name in $("$top_builddir/tests/golden/mkdat"); do
	"$top_builddir/tests/golden/mkdat" "$name" >made.dat
	"$RECORDER" report --json made.dat >events.json 2>/dev/null || continue
	event=$(sed -nE 's/.*"system":"([^"]*)","event":"([^"]*)".*/\1:\2/p' events.json | sort | uniq -c | sort -rn | sed -nE '1s/^ *[0-9]+ //p')
	[ -n "$event" ] || continue
	nr=$((nr + 1))
	"$RECORDER" latency --json made.dat "$event" "$event" >answer.json 2>/dev/null
	if [ -n "$(python3 "$top_srcdir/tests/cli/latency.py" events.json answer.json pair "$event" "$event" - 2>&1 | tee differences)" ]; then
		diag "$name, $event: $(cat differences)"
		bad=$((bad + 1))
	fi
done
is "from each event to the next one of its thread, in $nr made files with and without losses" $bad 0
ok "there are such files" test $nr -gt 20

# ---- times that were not recorded

ok "is recorded again" "$RECORDER" record -q -u 'io:*' -o later.dat ./pairs
ok "both in one file" "$RECORDER" merge -o both.dat trace.dat later.dat
"$RECORDER" latency --json both.dat io:complete io:submit -k id >answer.json 2>/dev/null
is "no duration spans the time between the recordings" "$(number count) $(number cut)" "0 882"
"$RECORDER" latency --json both.dat io:submit io:complete -k id >answer.json
is "those on either side of it count" "$(number count) $(number cut)" "1764 0"

# ---- text, picture

ok "as text" "$RECORDER" latency trace.dat io:submit io:complete -k id
like "the head" "$out" '^io:submit -> io:complete by id: 882 times'
like "figures" "$out" $'\n  min +[0-9.]+ [num]?s\n  mean +[0-9.]+ [num]?s\n  p50 .*\n  p90 .*\n  p99 .*\n  p99.9 .*\n  max '
like "what was left out" "$out" $'\n  left out: 1 whose begin is not in the trace\n  left out: 63 whose end is not in the trace\n'
is "rows add up" "$(awk '$4 == ".." { sum += $7 } $3 == ".." { sum += $6 } END { print sum }' <<<"$out")" 882
is "without a file it is trace.dat" "$("$RECORDER" latency io:submit io:complete -k id)" "$out"
is "and so with one name" "$("$RECORDER" latency io:request)" "$("$RECORDER" latency trace.dat io:request)"
ok "as a picture" "$RECORDER" latency --svg trace.dat io:request
is "it is XML with its title" "$(python3 -c '
import sys, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.buffer.read())
print(root.tag, root.find("{http://www.w3.org/2000/svg}title").text)' <<<"$out")" "{http://www.w3.org/2000/svg}svg io:request"

# ---- what is wrong

# refused STATUS REGEX OPERAND...
refused()
{
	local want=$1 regex=$2

	shift 2
	fails "refused: $*" "$RECORDER" latency "$@"
	is "status" "$status" "$want"
	like "message" "$err" "^recorder latency: $regex\$"
}
refused 1 "trace.dat: the trace has no span 'nothing'" nothing
refused 1 "trace.dat: 'io:submit' is an event, not a span: give the event that ends it, too" io:submit
refused 1 "trace.dat: the trace describes no event 'io:nothing'" io:submit io:nothing
refused 1 "trace.dat: the trace describes no event 'io:nothing'" io:nothing io:submit
refused 1 "trace.dat: io:other has no field 'id'" io:submit io:other -k id
refused 1 "trace.dat: io:submit: 'bytes' is not a number" io:submit io:submit -k bytes
refused 1 "trace.dat: the trace has no system calls such as 'read'; record them with -e raw_syscalls" sys_read
refused 1 "trace.dat: there is no system call 'nothing'" sys_nothing
refused 1 "trace.dat: the trace has no sched_switch or no sched_waking; record them with -e sched" wakeup
refused 1 "trace.dat: there is nothing to measure" io:complete io:submit -k id
refused 1 "trace.dat: there is nothing to measure; if io:submit and io:complete are on different threads, pair them by a field .-k FIELD." \
	io:submit io:complete
refused 2 "missing: there is no such file; FILE A B expected" missing io:submit io:complete
refused 1 "missing.dat: cannot open: No such file or directory" missing.dat io:submit io:complete
refused 1 "missing.dat: cannot open: No such file or directory" missing.dat io:request
refused 2 "missing SPAN, or A and B, after 'trace.dat' .see 'recorder latency --help'." trace.dat
refused 2 "-k is for two events; SPAN needs no key" io:request -k id
refused 2 "--json and --svg exclude each other" --json --svg io:request
refused 1 "pairs.c: .*" pairs.c io:request
mkdir submit
refused 2 "submit: there is no such file; FILE A B expected" submit io:submit io:complete
ok "a directory with the name of an event" "$RECORDER" latency submit complete -k id
is "is not the file" "$out" "$("$RECORDER" latency trace.dat submit complete -k id)"
rmdir submit

# ---- losses are never silent, cut files

ok "a program that overwrites" env RECORDER_BUFFER_KB=64 RECORDER_ENABLE='*' RECORDER_KEEP=1 "$top_builddir/tests/programs/producer" 1 100000
ok "its last events" "$RECORDER" recover -o lost.dat --all
ok "are measured" "$RECORDER" latency lost.dat count count
like "losses are reported" "$err" '^recorder latency: lost.dat: [0-9]+ events were lost at 1 place; results may lack them$'
agrees "with losses" lost.dat pair count count - -- count count
ok "JSON has them" test "$(number lost)" -gt 1000

# A lane that is full refuses all later events, which is marked at the file's end only: the begin and the end of a pair
# by a key may belong to two pairs.
cat >refused.c <<'END'
#include <librecorder/event.h>
#include <pthread.h>
REC_EVENT(io, submit, u64(id));
REC_EVENT(io, complete, u64(id));
REC_EVENT(io, other, u32(n));
static void *complete(void *arg)
{
	REC(io, complete, 1);
	REC(io, submit, 2);
	REC(io, complete, 2);
	return arg;
}
int main(void)
{
	pthread_t thread;
	REC(io, submit, 1);
	for (unsigned int i = 0; i < 100000; i++)
		REC(io, other, i);
	REC(io, complete, 1);
	REC(io, submit, 1);
	pthread_create(&thread, 0, complete, 0);
	pthread_join(thread, 0);
	return 0;
}
END
# shellcheck disable=SC2086
ok "a program whose events are refused" $CC $CFLAGS_FOR_TEST refused.c $LDADD_FOR_TEST -lpthread -o refused
ok "is run" env RECORDER_BUFFER_KB=64 RECORDER_MODE=discard RECORDER_ENABLE='*' RECORDER_KEEP=1 ./refused
ok "its first events" "$RECORDER" recover -o refused.dat --all
run "$RECORDER" latency --json refused.dat io:submit io:complete -k id
printf '%s\n' "$out" >answer.json
is "no pair by a key spans refused events" "$status $(number count) $(number cut)" "1 0 2"
run "$RECORDER" latency --json refused.dat io:submit io:complete
printf '%s\n' "$out" >answer.json
is "one on a thread that lost nothing counts" "$(number count) $(number cut)" "1 0"
# If they are the kernel's, the thread may have been on the CPU that marks the loss later.
ok "as one that is not compressed" "$RECORDER" convert --file-version 6 -i refused.dat -o calls.dat
tid=$("$RECORDER" sql --list refused.dat "SELECT tid FROM complete WHERE id = 2")
ok "with events of the kernel" python3 -B "$top_srcdir/tests/view/as_kernel.py" calls.dat "$tid" submit complete
run "$RECORDER" latency --json calls.dat io:submit io:complete
printf '%s\n' "$out" >answer.json
is "one of the kernel does not" "$status $(number count) $(number cut)" "1 0 1"
# If only the second event is the kernel's, the lane has not reported yet what it lost before.
"$RECORDER" convert --file-version 6 -i refused.dat -o mixed.dat
ok "with one event of the kernel" python3 -B "$top_srcdir/tests/view/as_kernel.py" mixed.dat "$tid" complete
LC_ALL=C sed -i 's/recorder 1\.0;/recorder 1.0.0;/; s/events of the kernel lost/events of programs lost/' mixed.dat
run "$RECORDER" latency --json mixed.dat io:submit io:complete
printf '%s\n' "$out" >answer.json
is "nor does one from a program's event to the kernel's" "$status $(number count) $(number cut)" "1 0 1"

# A thread whose wake-up may be among the lost events: how long it waited is not known.
cat >wakes.c <<'END'
#define _GNU_SOURCE
#include <librecorder/event.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
REC_EVENT(sched, sched_switch, s32(prev_pid), s32(prev_prio), s64(prev_state), s32(next_pid), s32(next_prio));
REC_EVENT(sched, sched_waking, s32(pid), s32(prio), s32(target_cpu));
REC_EVENT(io, note, u64(n));
int main(void)
{
	const int self = (int)gettid(), other = self + 100000;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		return 1;
	REC(sched, sched_switch, other, 120, 1, self, 120);
	for (unsigned int i = 0; i < 230; i++)
		REC(io, note, i);
	REC(sched, sched_switch, self, 120, 1, other, 120);
	REC(sched, sched_waking, self, 120, 0);
	REC(sched, sched_switch, other, 120, 1, self, 120);
	return printf("%d\n", self) < 0;
}
END
# shellcheck disable=SC2086
ok "a program that wakes" $CC $CFLAGS_FOR_TEST wakes.c $LDADD_FOR_TEST -o wakes
run "$RECORDER" record -q --file-version 6 -o wakes.dat ./wakes
ok "with the scheduler's events" python3 -B "$top_srcdir/tests/view/as_kernel.py" wakes.dat "$out" sched_switch sched_waking
"$RECORDER" latency --json wakes.dat wakeup >answer.json
is "a wake-up, and a switch without one" "$(number count)" 1
# The last page is changed so that it reports lost events before it.
python3 - wakes.dat <<'END'
import os, sys
with open(sys.argv[1], "r+b") as file:
    file.seek(os.path.getsize(sys.argv[1]) - 4096 + 11)
    file.write(b"\x80")
END
"$RECORDER" latency --json wakes.dat wakeup >answer.json 2>err
is "with a loss before both it is one all the same" "$(number count)" 1

# CPUs that were not recorded
cat >moves.c <<'END'
#define _GNU_SOURCE
#include <librecorder/event.h>
#include <sched.h>
REC_EVENT(io, note, u64(n));
int main(void)
{
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all))
		return 1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (CPU_ISSET(cpu, &all) && sched_setaffinity(0, sizeof(one), &one))
			return 1;
		for (unsigned int i = 0; CPU_ISSET(cpu, &all) && i < 3; i++)
			REC(io, note, i);
	}
	return 0;
}
END
# shellcheck disable=SC2086
ok "a program that moves" $CC $CFLAGS_FOR_TEST moves.c $LDADD_FOR_TEST -o moves
ok "is recorded" "$RECORDER" record -q -u 'io:*' -o moves.dat ./moves
run "$RECORDER" latency moves.dat io:note io:note
is "with all CPUs nothing is missing" "$err" ""
cpus=$("$RECORDER" sql --list moves.dat "SELECT DISTINCT cpu FROM note ORDER BY cpu")
if [ "$(wc -l <<<"$cpus")" -gt 1 ]; then
	ok "without its other CPUs" "$RECORDER" split -i moves.dat -o part -C "$(head -n 1 <<<"$cpus")"
	while read -r command operands; do
		# shellcheck disable=SC2086
		run "$RECORDER" "$command" part.1 $operands
		like "$command names them" "$err" \
			"(^|"$'\n'")recorder $command: part\\.1: CPU(s [0-9]+[,-][0-9,-]+ were| [0-9]+ was) not recorded; results may lack events("$'\n'"|$)"
	done <<-'END'
		latency io:note io:note
		assert count(io:note)==3
		hist -e io:note
		top
		profile
		report --profile
		diff part.1
	END
	run "$RECORDER" sql part.1 "SELECT count(*) FROM note"
	like "sql gives a result" "$out" "\\<3\\>"
	like "and names them" "$err" "^recorder sql: part\\.1: CPU(s [0-9]+[,-][0-9,-]+ were| [0-9]+ was) not recorded; results may lack events$"
else
	skip "without its other CPUs" "this machine has one"
fi

size=$(stat -c %s trace.dat)
bad=0
for part in 1 5 20 40 60 70 80 90 95 99; do
	head -c $((size * part / 100)) trace.dat >cut.dat
	run "$RECORDER" latency cut.dat io:request
	# The status is 0 with a warning, or 1 with a reason; the readable part is measured.
	[ "$status" -le 1 ] && [ -n "$err" ] || { bad=$((bad + 1)); diag "$part %: status $status, $err"; }
done
is "files that end early are measured or refused, with a message" $bad 0

done_testing
