#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder report --spans: the tree of a program whose spans are known; its durations are those that the times of the plain
# report give, computed by a script of its own.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

cat >spans.c <<'END'
#include <librecorder/event.h>
#include <pthread.h>
#include <setjmp.h>
REC_EVENT(io, request_begin, u64(id), string(path));
REC_EVENT(io, request_end, s32(result));
REC_EVENT(io, step_begin, u32(n));
REC_EVENT(io, step_end);
REC_EVENT(io, note, u32(n));
static jmp_buf out;
static void step(unsigned int n)
{
	REC(io, step_begin, n);
	REC(io, note, n);
	if (n == 2)
		longjmp(out, 1);
	REC(io, step_end);
}
static void *work(void *arg)
{
	REC(io, step_begin, 70);
	return arg;
}
int main(void)
{
	pthread_t thread;

	REC(io, request_end, -5);
	for (volatile unsigned int i = 0; i < 3; i++) {
		REC(io, request_begin, i, "a b.db");
		if (!setjmp(out)) {
			step(i);
			step(i + 10);
		}
		REC(io, request_end, (int)i);
	}
	if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		return 1;
	REC(io, request_begin, 9, "\033open");
	REC(io, step_begin, 90);
	REC(io, step_end);
	return 0;
}
END
# shellcheck disable=SC2086
ok "a program with spans" $CC $CFLAGS_FOR_TEST spans.c $LDADD_FOR_TEST -lpthread -o spans
ok "is recorded" "$RECORDER" record -q -u 'io:*' -o trace.dat ./spans
ok "report --spans" "$RECORDER" report --spans -t trace.dat
tree=$out

is "the tree" "$(sed -n 's/^[^|]*|  //p' <<<"$tree")" "io:request(result=-5); /* begin not seen */
io:request(id=0 path=a b.db) {
  io:step(n=0);
  io:step(n=10);
} /* io:request = result=0 */
io:request(id=1 path=a b.db) {
  io:step(n=1);
  io:step(n=11);
} /* io:request = result=1 */
io:request(id=2 path=a b.db) {
  io:step(n=2); /* cut: end not seen */
} /* io:request = result=2 */
io:step(n=70) {
io:request(id=9 path=$(printf '\033')open) {
  io:step(n=90);
} /* io:request(id=9 path=$(printf '\033')open); end not seen */
} /* io:step(n=70); end not seen */"

sed -n 's/^[^|]*|  //p' <<<"$tree" >whole

# "thread name duration own" of each whole span, computed from the lines of the plain report.
"$RECORDER" report -t trace.dat | awk '
	function ns(time,   parts) { split(time, parts, /[.:]/); return parts[1] % 100000 * 1000000000 + parts[2] }
	/_begin:/ {
		tid = $1; depth = ++top[tid]
		name[tid, depth] = substr($4, 1, index($4, "_begin") - 1); since[tid, depth] = ns($3); inner[tid, depth] = 0
	}
	/_end:/ {
		tid = $1; which = substr($4, 1, index($4, "_end") - 1); d = top[tid]
		while (d > 0 && name[tid, d] != which) d--
		if (!d) next
		for (; top[tid] > d; top[tid]--) inner[tid, top[tid] - 1] += ns($3) - since[tid, top[tid]]
		took = ns($3) - since[tid, d]
		printf "%s io:%s %d %d\n", tid, which, took, took - inner[tid, d]
		inner[tid, d - 1] += took
		top[tid]--
	}' >by_events
sed -n -e 's/^ *\([^ ]*\) [^|]*: *\([0-9]*\)\.\([0-9]*\) us *\([0-9]*\)\.\([0-9]*\) us |  *} \/\* \([a-z:]*\).*/\1 \6 \2\3 \4\5/p' \
	-e 's/^ *\([^ ]*\) [^|]*: *\([0-9]*\)\.\([0-9]*\) us *\([0-9]*\)\.\([0-9]*\) us |  *\([a-z:]*\)(.*);$/\1 \6 \2\3 \4\5/p' <<<"$tree" |
	awk '{ printf "%s %s %d %d\n", $1, $2, $3, $4 }' >by_spans
is "whole spans" "$(wc -l <by_spans)" 8
is "durations and own times are those of the events" "$(cat by_spans)" "$(cat by_events)"
is "a span that is not whole has no duration" "$(grep 'not seen' <<<"$tree" | grep -c ' us ')" 0

# A line that begins a span, or has all of it, shows the time of the span's begin.
is "times" "$(grep -v '} /' <<<"$tree" | sed -n 's/.* \([0-9]*\.[0-9]*:\) .*step(n=\([0-9]*\)).*/\1 n=\2/p')" \
	"$("$RECORDER" report -t trace.dat | sed -n 's/.* \([0-9]*\.[0-9]*:\) step_begin: *\(.*\)/\1 \2/p')"

"$RECORDER" report --spans -F 'io:step_begin if n < 11' trace.dat | sed -n 's/^[^|]*|  //p' >some_steps
is "-F selects spans by their begins" "$(cat some_steps)" "  io:step(n=0);
  io:step(n=10);
  io:step(n=1);
  io:step(n=2); /* cut: end not seen */"
ok "-F of an event that is inside" "$RECORDER" report --spans -F io:note trace.dat
unlike "selects no spans" "$out" '[|]'

# ---- the first and the last spans

# body FILE OPTION...: the texts of the spans
body()
{
	"$RECORDER" report --spans "${@:2}" "$1" | sed -n 's/^[^|]*|  //p'
}
count=$(grep -vc '^ *}' whole)
is "the number of spans" "$count" 12
bad=0
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
	for option in --head --tail; do
		body trace.dat $option $n >some
		[ "$(grep -vc '^ *}' some) $(grep -c '{$' some)" = "$((n < count ? n : count)) $(grep -c '^ *}' some)" ] ||
			{ diag "$option $n: $(<some)"; bad=1; }
	done
done
is "--head and --tail: whole spans, as many as requested" $bad 0
is "--head: a span without those inside it" "$(body trace.dat --head 2)" "io:request(result=-5); /* begin not seen */
io:request(id=0 path=a b.db) = result=0;"
is "--head: a span with one of those inside it" "$(body trace.dat --head 3)" "io:request(result=-5); /* begin not seen */
io:request(id=0 path=a b.db) {
  io:step(n=0);
} /* io:request = result=0 */"
is "--head of many: all" "$(body trace.dat --head 100)" "$(<whole)"
is "--tail" "$(body trace.dat --tail 3)" "$(tail -n 5 whole)"
is "--tail of many: all" "$(body trace.dat --tail 100)" "$(<whole)"
is "--tail of the spans that a filter selects" "$(body trace.dat --tail 2 -F 'io:step_begin if n < 11')" "$(tail -n 2 some_steps)"

# The losses of a part of the file are those that the lines of its events have.
"$top_builddir/tests/golden/mkdat" v7-lost >lost.dat
drops()
{
	"$RECORDER" report "$@" lost.dat 2>/dev/null | grep -c 'EVENTS DROPPED\]$'
}
time=$("$RECORDER" report -t lost.dat | awk '/EVENTS DROPPED/ { nr++; next } nr == 2' | sed -nE '1s/.*\] +([0-9.]+): .*/\1/p')
ok "there are losses after a time" test "$(drops --since "$time")" -gt 1
is "--since: losses" "$(drops --spans --since "$time")" "$(drops --since "$time")"
is "--until: losses" "$(drops --spans --until "$time")" 2
is "all losses" "$(drops --spans)" "$(drops)"

# ---- the macros of spans: the example makes a known number of each, and writes no other spans

# shellcheck disable=SC2086
ok "the example" $CC $CFLAGS_FOR_TEST "$top_srcdir/examples/07_storage.c" $LDADD_FOR_TEST -lpthread -o storage
ok "is recorded" "$RECORDER" record -q -u 'storage:*' -o storage.dat ./storage 50
ok "its spans" "$RECORDER" report --spans -t storage.dat
tree=$out
# COUNT of lines that match.
lines()
{
	grep -c "$1" <<<"$tree"
}
is "requests, which begin on one thread and end on another or the same" "$(lines 'us  *|  } /\* storage:request = id=[0-9]* result=')" 50
is "jobs" "$(lines 'us |  } /\* storage:job = result=')" 50
is "disk reads, each inside a job" "$(lines 'us |    storage:disk(dur=')" 50
is "checksums, each inside a job" "$(lines 'us |    \(storage:checksum(.*);\|} /\* storage:checksum\)')" 50
unlike "all are whole" "$tree" 'not seen|lost'
is "a timed span has the duration that its event has" \
	"$(sed -n 's/.* \([0-9]*\)\.\([0-9]*\) us |  *storage:disk.*/\1\2/p' <<<"$tree" | sed 's/^0*//')" \
	"$("$RECORDER" report storage.dat | sed -n 's/.* disk: *dur=\([0-9]*\) .*/\1/p')"

fails "a file that does not exist" "$RECORDER" report --spans no.dat
fails "a full disk" bash -c '"$1" report --spans trace.dat >/dev/full' bash "$RECORDER"
like "is reported" "$err" 'cannot write the report'
like "on a terminal, control characters are escaped" \
	"$(script -qec "PAGER= '$RECORDER' report --spans --color=never trace.dat" /dev/null)" 'path=\\033open'
# --debug prints lines about pages. There are none with --spans, and in JSON and CSV there are only events.
ok "--spans --debug" "$RECORDER" report --spans --debug trace.dat
for form in --json --csv; do
	"$RECORDER" report $form trace.dat >plain
	"$RECORDER" report $form --debug -V3 trace.dat >debug
	ok "$form --debug -V3 is that without them" cmp plain debug
done

# ---- fields that the begin has, too

cat >same.c <<'END'
#include <librecorder/event.h>
REC_SPAN(io, file, u32(file), end(u32(file), string(name), s32(result)));
REC_SPAN_KEYED(net, rpc, key(u64(id)));
int main(void)
{
	REC_BEGIN(io, file, 5);
	REC_END(io, file, 5, "a result=3", 0);
	REC_BEGIN(io, file, 6);
	REC_END(io, file, 7, "b", 1);
	REC_BEGIN(net, rpc, 9);
	REC_END(net, rpc, 9);
	return 0;
}
END
# shellcheck disable=SC2086
ok "a program whose ends repeat fields" $CC $CFLAGS_FOR_TEST same.c $LDADD_FOR_TEST -o same
ok "is recorded" "$RECORDER" record -q -u 'io:*,net:*' -o same.dat ./same
is "the number is printed once, if it is the same" "$("$RECORDER" report --spans same.dat | sed -n 's/^[^|]*|  //p')" \
	"io:file(file=5) = name=a result=3 result=0;
io:file(file=6) = file=7 name=b result=1;
net:rpc(id=9);"

# ---- a buffer for each process

ok "both programs are recorded" "$RECORDER" record -q --buffers split -u 'io:*,net:*' -o two.dat sh -c './spans; ./same; :'
is "-B selects the spans of a buffer" "$(body two.dat -B 'spans-*')" "$(<whole)"
is "and of another one" "$(body two.dat -B 'same-*')" "$(body same.dat)"
is "-B twice: all spans" "$(body two.dat -B 'spans-*' -B 'same-*')" "$(body two.dat)"

# ---- a thread without a saved name has the one that an event states

cat >named.c <<'END'
#define _GNU_SOURCE
#include <librecorder/event.h>
#include <librecorder/span.h>
#include <sys/prctl.h>
#include <unistd.h>
REC_SPAN(io, request, u64(id));
REC_EVENT(sched, sched_switch, string(prev_comm), s32(prev_pid), string(next_comm), s32(next_pid));
int main(void)
{
	if (prctl(PR_SET_NAME, "saved"))
		return 1;
	REC_BEGIN(io, request, 1);
	REC_END(io, request);
	REC(sched, sched_switch, "swapper", 0, "worker", (int)gettid());
	return 0;
}
END
# shellcheck disable=SC2086
ok "a program that names its thread in an event" $CC $CFLAGS_FOR_TEST named.c $LDADD_FOR_TEST -o named
ok "is recorded" "$RECORDER" record -q --file-version 6 -o named.dat ./named
like "its saved name" "$("$RECORDER" report --spans named.dat)" ' saved-[0-9]+ '
sed '/ saved$/s/[0-9]/9/g' named.dat >unsaved.dat
like "it is another thread's" "$("$RECORDER" report --spans unsaved.dat)" ' worker-[0-9]+ '

done_testing
