#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder sql on a recording of the kernel: names of functions are those of report, and neither they nor the tables cost
# anything before a query needs them.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"
cd "$TMP" || exit 1

ok "a recording with stacks" "$RECORDER" record -q -b 65536 -T -e sched_switch -e sched_waking -e timer -o stacks.dat sh -c 'sleep 0.01; :'
is "functions of stacks are those of report" \
	"$("$RECORDER" sql --list stacks.dat "SELECT printf('=> %s (%x)', symbol, address) FROM stacks WHERE symbol IS NOT NULL" | sort -u)" \
	"$("$RECORDER" report stacks.dat | grep -E '^=> [^ ]+ \([0-9a-f]+\)$' | sort -u)"
ok "there are some" test "$("$RECORDER" sql --list stacks.dat 'SELECT count(DISTINCT symbol) FROM stacks')" -gt 10
is "functions in the text of an event are those of report" \
	"$("$RECORDER" sql --list stacks.dat 'SELECT _text FROM hrtimer_start')" \
	"$("$RECORDER" report stacks.dat | sed -nE 's/.* hrtimer_start: +//p')"
like "an event has them" "$("$RECORDER" sql --list stacks.dat 'SELECT _text FROM hrtimer_start LIMIT 1')" " function=[a-z_]+"

# The stack of an event is the next event of its CPU and context, if that is a stack.
"$RECORDER" report --json stacks.dat >stacks.json
cat >owners.py <<'EOF'
import json
last = {}
for line in open("stacks.json"):
    event = json.loads(line)
    context = event["cpu"], event["fields"]["common_flags"] & 0x58
    if event["event"] == "kernel_stack" and context in last:
        print(last[context]["ts"], event["cpu"], event["ts"], last[context]["event"], sep="|")
    else:
        last[context] = event
EOF
is "the event of each stack" \
	"$("$RECORDER" sql --list stacks.dat "SELECT event_ts, s.cpu, s.ts, e.name FROM stacks s JOIN events e ON e.rowid = s.event WHERE depth = 0" | sort)" \
	"$(python3 owners.py | sort)"
ok "saved in a database" "$RECORDER" sql --save saved.sqlite stacks.dat
is "stacks know their events there, too" \
	"$(sqlite3 saved.sqlite "SELECT event_ts, s.cpu, s.ts, e.name FROM stacks s JOIN events e ON e.rowid = s.event WHERE depth = 0" | sort)" \
	"$(python3 owners.py | sort)"
# Take a pair of events of sh, because the file has switches of the recorder's own threads, but not their stacks.
pair=$("$RECORDER" sql --list stacks.dat "SELECT start.TIMESTAMP, start.common_cpu, start.STACKTRACE FROM sched_switch AS start
	JOIN sched_switch AS end ON start.prev_pid = end.next_pid WHERE start.prev_comm = 'sh' LIMIT 1")
is "the stack of the first event of a pair, as one text" "${pair##*|}" "$("$RECORDER" sql --list stacks.dat "SELECT group_concat(symbol, ' <- ')
	FROM stacks WHERE kind = 'kernel' AND event_ts = $(cut -d'|' -f1 <<<"$pair") AND cpu = $(cut -d'|' -f2 <<<"$pair")")"
# The stack of a thread that was preempted begins at __schedule itself.
like "which begins where the switch was" "$pair" '( <- |\|)(__schedule|schedule|preempt_schedule[a-z_]*) <- '
is "histograms of threads and functions are those of recorder hist" \
	"$("$RECORDER" sql --list stacks.dat 'SELECT CAST(common_pid AS EXECNAME), CAST(function AS SYM) FROM hrtimer_start' | sort)" \
	"$("$RECORDER" hist stacks.dat -e hrtimer_start -k common_pid.execname,function.sym |
		sed -nE 's/^[{] common_pid: (.*[^ ]) *\[ *([0-9]+)\], function: (.*[^ ]) +[}] hitcount: +([0-9]+)$/\1 [\2]|\3|\4/p' | sort)"

# calls FUNCTION QUERY: the instructions of the function, and of what it calls, in a query
calls()
{
	valgrind --tool=callgrind --toggle-collect="$1" --callgrind-out-file=/dev/null "$RECORDER" sql --list stacks.dat "$2" >out 2>log &&
		awk '/ Collected : / { n += $NF } END { print (n > 0 ? "some" : "none") }' log
}
if command -v valgrind >/dev/null; then
	is "functions are parsed" "$(calls function_list_add 'SELECT count(symbol) FROM stacks')" some
	is "only if a query needs them" "$(calls function_list_add 'SELECT count(*), max(tid), max(name) FROM events')" none
	is "a table is connected" "$(calls table_open 'SELECT count(*) FROM clocks')" some
	is "only if a query needs it" "$(calls table_open 'SELECT 1')" none
else
	skip "what the start of a query costs" "valgrind is not installed"
fi

done_testing
