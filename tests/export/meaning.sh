#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder export --perfetto: spans, keyed spans, counters, states, flows and tasks, as Perfetto shows them.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/export/perfetto.sh"

cd "$TMP" || exit 1
. "$top_srcdir/tests/export/meaning.bash"

ok "export" "$RECORDER" export --perfetto meaning.dat -o meaning.pftrace

# slices WHERE: name, number of enclosing slices, and arguments, in the order of time
slices()
{
	echo "select s.name, s.depth, coalesce((select group_concat(replace(key, 'debug.', '') || '=' || display_value, ',') from (select * from args a where a.arg_set_id = s.arg_set_id and key like 'debug.%' order by a.id)), '') from slice s join $1 order by s.ts, s.id"
}
sql spans "$(slices "thread_track k on s.track_id = k.id join thread t using(utid) where t.tid = $main and s.category = 'io' and k.name is not 'io:step'")"
sql server "$(slices "thread_track k on s.track_id = k.id join thread t using(utid) where t.tid = $server and s.category in ('io', 'queue')")"
sql times "select ts, ts + dur from slice where name = 'request' and dur >= 0 order by ts"
sql rpc "$(slices "track k on s.track_id = k.id where k.name = 'net:rpc'")"
sql rpctimes "select ts, ts + dur from slice s where name = 'rpc' and extract_arg(arg_set_id, 'debug.id') in (10, 11) order by ts"
sql rpctracks "select count(distinct track_id) from slice where name = 'rpc'"
sql open "select name, extract_arg(arg_set_id, 'debug.id') from slice where dur = -1 and category in ('io', 'net') order by ts"
sql early "$(slices "track k on s.track_id = k.id where k.name = 'io:step'")"
sql counter "select k.name, value, coalesce((select group_concat(substr(key, 7) || '=' || display_value, ',') from (select * from args a where a.arg_set_id = c.arg_set_id and key like 'debug.%' order by a.id)), '') from counter c join process_counter_track k on c.track_id = k.id order by ts"
sql states "select k.name, s.name, s.dur = -1 from slice s join track k on s.track_id = k.id where k.name like 'conn:state %' order by k.name, s.ts"
sql levels "$(slices "track k on s.track_id = k.id where k.name = 'conn:level -1'")"
sql statetimes "select ts, ts + dur from slice where name = 'OPEN' and dur >= 0"
sql flow "select a.name, b.name from flow f join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id order by a.ts"
sql timed "select s.name, s.dur, extract_arg(arg_set_id, 'debug.bytes') from slice s where s.category = 'disk'"
sql tasks "select k.name, s.name, extract_arg(s.arg_set_id, 'debug.tid') from slice s join track k on s.track_id = k.id where s.category = 'task' order by s.ts"
sql oftask "select extract_arg(arg_set_id, 'debug.n'), (select display_value from args a where a.arg_set_id = s.arg_set_id and key = 'debug.task') from slice s where name = 'step' and extract_arg(arg_set_id, 'debug.task') is not null order by ts"
ask meaning.pftrace

# at NAME [WORDS]: the times of report's lines of that event
at()
{
	"$RECORDER" report -t meaning.dat | sed -nE "s/.* ([0-9]+)\.([0-9]{9}): $1: +${2-}.*/\1\2/p"
}

expected=
for i in 0 1 2; do
	expected+="request 0 id=$i,path=/index,result=$i;step 1 n=$i;step 2 n=1$i;"
done
is "spans of a thread nest, with the fields of begin and end" "$(answer spans)" \
	"${expected}request 0 id=50,path=jump,result=0;step 1 n=99,incomplete=cut: its end, or events inside, were not seen;step 0 n=5,task=5;step 0 n=6,task=18446744073709551615;request 0 id=60,path=never ended"
is "and those of another thread; hostile texts" "$(answer server)" 'take 0 id=7;request 0 id=2,path=</script>"\,result=-5'
is "begins and ends are those of the events" "$(answer times)" \
	"$(paste -d ' ' <(at request_begin | head -n 5) <(at request_end) | paste -s -d ';')"
is "what is not ended is open" "$(answer open)" "request 60"
is "what began before the trace has a track of its own" "$(answer early)" "step 0 incomplete=its begin was not seen"
is "keyed spans" "$(answer rpc)" \
	"rpc 0 id=99,status=404,incomplete=its begin was not seen;rpc 0 id=10,to=a,status=100;rpc 0 id=11,to=b,status=200"
is "their times" "$(answer rpctimes)" "$(paste -d ' ' <(at rpc_begin) <(at rpc_end | head -n 2) | paste -s -d ';')"
is "overlap on several tracks" "$(answer rpctracks)" 3
is "counters, with their further fields" "$(answer counter)" "mem:heap -500 ;mem:heap 500 ;mem:heap 1500 ;mem:pool 64 owner=cache,cause=8"
is "states by key and name" "$(answer states)" \
	"conn:state 1 OPEN 0;conn:state 1 CLOSED 1;conn:state 18446744073709551615 OPEN 1"
is "a negative key, negative states, further fields" "$(answer levels)" \
	"-20 0 tid=$main,reason=overload,cause=8;20 0 tid=$main,reason=,cause=0"
is "their times" "$(answer statetimes)" "$(at state 'x*id=1 ' | paste -s -d ' ')"
is "flows of events, states and counters; the flow 0 links nothing" "$(answer flow)" "-20 pool;put take"
is "a span written at its end" "$(answer timed)" "flush $("$RECORDER" report meaning.dat | sed -nE 's/.* dur=([0-9]+) bytes=4096$/\1/p') 4096"
is "which thread worked for a task" "$(answer tasks)" \
	"task 5 parse meaning $main;task 6 meaning $main;task 5 parse meaning $main;task 18446744073709551615 last meaning $main"
is "spans know their task" "$(answer oftask)" "5 5;6 18446744073709551615"

done_testing
