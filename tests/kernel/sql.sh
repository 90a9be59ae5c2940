#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder sql on a recording of the kernel: names of functions are those of report, and neither they nor the tables cost
# anything before a query needs them.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"
cd "$TMP" || exit 1

ok "a recording with stacks" "$RECORDER" record -q -T -e sched_switch -e sched_waking -e timer -o stacks.dat true
is "functions of stacks are those of report" \
	"$("$RECORDER" sql --list stacks.dat "SELECT printf('=> %s (%x)', symbol, address) FROM stacks WHERE symbol IS NOT NULL" | sort -u)" \
	"$("$RECORDER" report stacks.dat | grep -E '^=> [^ ]+ \([0-9a-f]+\)$' | sort -u)"
ok "there are some" test "$("$RECORDER" sql --list stacks.dat 'SELECT count(DISTINCT symbol) FROM stacks')" -gt 10
is "functions in the text of an event are those of report" \
	"$("$RECORDER" sql --list stacks.dat 'SELECT _text FROM hrtimer_start')" \
	"$("$RECORDER" report stacks.dat | sed -nE 's/.* hrtimer_start: +//p')"
like "an event has them" "$("$RECORDER" sql --list stacks.dat 'SELECT _text FROM hrtimer_start LIMIT 1')" " function=[a-z_]+"

# calls FUNCTION QUERY: the instructions of the function, and of what it calls, in a query
calls()
{
	valgrind --tool=callgrind --toggle-collect="$1" --callgrind-out-file=/dev/null "$RECORDER" sql --list stacks.dat "$2" >out 2>log &&
		awk '/ Collected : / { n += $NF } END { print (n > 0 ? "some" : "none") }' log
}
if command -v valgrind >/dev/null; then
	is "functions are parsed" "$(calls event_list_functions 'SELECT count(symbol) FROM stacks')" some
	is "only if a query needs them" "$(calls event_list_functions 'SELECT count(*), max(tid), max(name) FROM events')" none
	is "a table is connected" "$(calls table_open 'SELECT count(*) FROM clocks')" some
	is "only if a query needs it" "$(calls table_open 'SELECT 1')" none
else
	skip "what the start of a query costs" "valgrind is not installed"
fi

done_testing
