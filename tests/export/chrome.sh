#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder export --chrome, read by a JSON parser and by Perfetto's importer of this format: events, spans, values of every
# kind of field, hostile texts.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/export/perfetto.sh"

cd "$TMP" || exit 1
. "$top_srcdir/tests/export/meaning.bash"

json()
{
	python3 "$top_srcdir/tests/export/chrome.py" "$@"
}

# times FILE NAME: the times in report's lines of that event
times()
{
	"$RECORDER" report -t "$1" | sed -nE "s/.* ([0-9]+)\.([0-9]{9}): $2: .*/\1\2/p"
}

# ----------------------------------------------------------------------------------------------------------- meaning

ok "export" "$RECORDER" export --chrome meaning.dat -o meaning.json
ok "it is JSON" json meaning.json
cp .out events
# spans NAME TID: complete ones, by time: their begin, end, and arguments
spans()
{
	awk -v name="$1" -v tid="$2" '$1 == "X" && $5 == name && $4 == tid { printf "%.0f %.0f", $2, $2 + $3
		for (i = 7; i <= NF; i++) printf " %s", $i; print "" }' events | sort -n
}
is "spans have the times of their begin and end" "$(spans io:request "$main" | cut -d ' ' -f 1,2)" \
	"$(paste -d ' ' <(times meaning.dat request_begin | head -n 4) <(times meaning.dat request_end | head -n 4))"
is "and the fields of both" "$(spans io:request "$main" | cut -d ' ' -f 3- | paste -s -d ';')" \
	'id=0 path="/index" result=0;id=1 path="/index" result=1;id=2 path="/index" result=2;id=50 path="jump" result=0'
is "hostile texts" "$(spans io:request "$server" | cut -d ' ' -f 3-)" 'id=2 path="</script>\"\\" result=-5'
ok "no < is in the file" test "$(grep -c '<' meaning.json)" = 0
like "what is not ended is open" "$(grep '^B' events)" "^B [0-9]+ - $main io:request - id=60 path=\"never ended\" incomplete=\"its end was not seen\"\$"
is "keyed spans begin and end by number" "$(sed -nE 's/^([be]) .* net:rpc (span [0-9]+)( id=.*)?$/\1\3/p' events | sort | paste -s -d ';')" \
	'b id=10 to="a" status=100;b id=11 to="b" status=200;b id=99 status=404 incomplete="its begin was not seen";e;e;e'
is "counters" "$(sed -nE 's/^C .* mem:mem:(heap|pool) - value=(.*)/\1 \2/p' events | paste -s -d ';')" "heap -500;heap 500;heap 1500;pool 64"
is "the further fields of a counter are an event" "$(sed -nE 's/^i .* mem:pool - (.*)/\1/p' events)" 'blocks=64 owner="cache" cause=8'
is "states" "$(sed -nE 's/^b .* conn:([A-Z]+) (.*)/\2 \1/p' events | sort | paste -s -d ';')" \
	"conn:state 1 CLOSED;conn:state 1 OPEN;conn:state 18446744073709551615 OPEN"
is "a negative key, negative states, further fields" "$(sed -nE 's/^b .* conn:(-?[0-9]+) (.*)/\1 \2/p' events | paste -s -d ';')" \
	'-20 conn:level -1 reason="overload" cause=8;20 conn:level -1 reason="" cause=0'
is "flows" "$(sed -nE 's/^([st]) ([0-9]+) - ([0-9]+) flow:flow ([0-9]+)$/\4 \1 \2 \3/p' events)" \
	"8 s $(times meaning.dat level | head -n 1) $main
8 t $(times meaning.dat pool) $main
7 s $(times meaning.dat put | head -n 1) $main
7 t $(times meaning.dat take) $server"
is "tasks" "$(sed -nE 's/^b .* task:meaning (task .*)/\1/p' events | sed 's/ *$//' | paste -s -d ';')" \
	"task 5 parse, thread $main;task 6, thread $main;task 5 parse, thread $main;task 18446744073709551615 last, thread $main"

cat >names.c <<'END'
#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <librecorder/span.h>
REC_SPAN(io, job, u32(task), u32(bytes), end(string(incomplete), u32(bytes)));
int main(void)
{
	REC_TASK(7);
	REC_BEGIN(io, job, 1, 10);
	REC_END(io, job, "no", 20);
	REC_END(io, job, "yes", 30);
	REC_BEGIN(io, job, 2, 40);
	return 0;
}
END
# shellcheck disable=SC2086
ok "fields with the names of arguments: compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST names.c $LDADD_FOR_TEST -o names
ok "record" "$RECORDER" record -q -o names.dat ./names
ok "export" "$RECORDER" export --chrome names.dat -o names.json
is "each argument has a name of its own" "$(json names.json job | grep -oE '(task|incomplete)=.*' | paste -sd ';')" \
	'task=1 bytes=10 incomplete="no" end.bytes=20 span.task="7";incomplete="yes" bytes=30 task="7" span.incomplete="its begin was not seen";task=2 bytes=40 span.task="7" incomplete="its end was not seen"'
ok "and in Perfetto's format" "$RECORDER" export --perfetto names.dat -o names.pftrace
sql names "select group_concat(substr(key, 7) || '=' || display_value, ' ') from (select * from args order by id) a join slice s using(arg_set_id) where s.name = 'job' group by s.id order by s.ts"
ask names.pftrace
# Perfetto shows the dots as underscores.
is "they have the same names" "$(answer names)" \
	'incomplete=yes bytes=30 task=7 span_incomplete=its begin was not seen;task=1 bytes=10 span_task=7 incomplete=no end_bytes=20;task=2 bytes=40 span_task=7'

# ------------------------------------------------------------------------------------------------------------ values

# shellcheck disable=SC2086
ok "compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o kinds "$top_srcdir/tests/export/kinds.c" $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q -b 4096 -o kinds.dat ./kinds
cp .out tids
ok "export them" "$RECORDER" export --chrome kinds.dat -o kinds.json
values()
{
	json kinds.json "$1" | sed -E 's/^([^ ]* ){6}//'
}
is "numbers" "$(values numbers)" 'a=255 b=-128 c=65535 d=-32768 e=4294967295 f=-2147483648 g="18446744073709551615" h="-9223372036854775808" i=2748 j=1 k=4660'
is "decimals, names, arrays" "$(values others)" 'ratio=-0.125 mode="WRITE" list=[-1, 0, 32767]
ratio=2.5 mode=7 list=[-1, 0, 32767]'
is "texts and bytes" "$(values texts)" 's="\"</script>\\ \u0001 \u00e4 \\xff" n="cut" b="00ff10"
s="" n="" b=""'
is "printf" "$(values bprint)" 'text="main: text has 42"'
is "all events of the threads" "$(json kinds.json tick | awk '{ nr[$4]++ } END { for (tid in nr) print tid, nr[tid] }' | sort)" \
	"$(sed -nE 's/^(one|two) (.*)/\2 20000/p' tids | sort)"
is "their times" "$(json kinds.json tick | cut -d ' ' -f 2 | sort -n)" "$(times kinds.dat tick | sort -n)"

# ---------------------------------------------------------------------------------------------------------- Perfetto

sql counts "select name, count(*) from slice where category = 'load' group by 1"
sql threads "select t.name, count(*) from slice s join thread_track k on s.track_id = k.id join thread t using(utid) where s.category = 'load' group by 1 order by 1"
ask kinds.json
is "Perfetto's count" "$(answer counts)" "tick 40000"
is "and its threads" "$(answer threads)" "one 20000;two 20000"
sql nested "select s.name, s.depth, s.dur from slice s join thread_track k on s.track_id = k.id join thread t using(utid) where t.tid = $main and s.name = 'step' and s.dur > 0 and s.depth > 0 order by s.ts, s.depth limit 2"
sql flow "select count(*) from flow"
ask meaning.json
like "spans nest there" "$(answer nested)" '^step 1 [0-9]+;step 2 [0-9]+$'

cat >overlap.c <<'END'
#include <librecorder/event.h>
#include <librecorder/span.h>
REC_TIMED(io, wait);
REC_SPAN(io, request);
int main(void)
{
	const uint64_t start = REC_TIMED_START(io, wait);

	REC_BEGIN(io, request);
	REC_TIMED_END(io, wait, start);
	REC_END(io, request);
	return 0;
}
END
# shellcheck disable=SC2086
ok "spans that overlap: compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST overlap.c $LDADD_FOR_TEST -o overlap
ok "record" "$RECORDER" record -q -o overlap.dat ./overlap
ok "export" "$RECORDER" export --chrome overlap.dat -o overlap.json
sql spans "select name, ts, dur from slice where category = 'io' order by ts"
ask overlap.json
is "Perfetto has both, with their times" "$(answer spans)" \
	"$("$RECORDER" sql --list overlap.dat "select name || ' ' || ts || ' ' || dur from spans order by ts" | paste -sd ';')"

cat >workers.c <<'END'
#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <librecorder/span.h>
#include <pthread.h>
static pthread_barrier_t both;
static void *work(void *is_second)
{
	rec_thread_name("worker");
	if (is_second)
		pthread_barrier_wait(&both);
	REC_TASK(7);
	if (!is_second)
		pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	if (is_second)
		pthread_barrier_wait(&both);
	REC_TASK(0);
	if (!is_second)
		pthread_barrier_wait(&both);
	return 0;
}
int main(void)
{
	pthread_t threads[2];

	pthread_barrier_init(&both, 0, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, work, i ? &both : 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return 0;
}
END
# shellcheck disable=SC2086
ok "threads that work for one task: compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread workers.c $LDADD_FOR_TEST -o workers
ok "record" "$RECORDER" record -q -o workers.dat ./workers
ok "export" "$RECORDER" export --chrome workers.dat -o workers.json
sql workers "select name, ts, ts + dur from slice where category = 'task' order by ts"
ask workers.json
is "each thread has its own time" "$(answer workers)" "$(json workers.json | awk '$1 ~ /^[be]$/ { print $4, $2 }' | sort -n |
	awk '{ at[$1] = at[$1] " " $2 } END { for (tid in at) print "worker" at[tid] }' | sort -k 2n | paste -sd ';')"

"$top_builddir/tests/golden/mkdat" v6-kernel >made.dat
ok "the kernel's events" "$RECORDER" export --chrome made.dat -o made.json
json made.json | awk '$1 == "i" { sub(/^[^:]*:/, "", $5); print $5 }' | sort | uniq -c >got
"$RECORDER" report made.dat | sed -nE 's/^.*\[[0-9]+\] +[0-9]+\.[0-9]+: ([a-z_]+): .*/\1/p' | grep -v sched_switch | sort | uniq -c >expected
ok "are all there" diff got expected
# Their format has room for eight addresses; the records end after the last one.
grep -o '"caller":\[[^]]*\]' made.json | tr -d '"' >got
"$RECORDER" report --json made.dat | grep -o '"fields":{[^}]*"caller":\[[^]]*\]' | sed 's/.*"caller"/caller/' >expected
ok "stacks with fewer addresses than their format" diff got expected
ok "there are stacks" test -s got

"$top_builddir/tests/golden/mkdat" v6-lost >lost.dat
ok "losses" "$RECORDER" export --chrome lost.dat -o lost.json
is "have a size if it is known" "$(json lost.json | sed -nE 's/^i .* lost:([^-]*) - (.*)/\1: \2/p' | paste -sd ';')" \
	"42 events lost: cpu=0 lost=42;42 events lost: cpu=1 lost=42;events lost: cpu=0;events lost: cpu=1"

done_testing
