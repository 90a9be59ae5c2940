#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --date: the file states the time of day, which our report and trace-cmd's add to the times; a recording that was
# killed keeps it.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/told.sh"
cd "$TMP" || exit 1

# The time of day, in microseconds since 1970.
now()
{
	echo $(($(date +%s%N) / 1000))
}

# The times of a file's events, in microseconds, by a command that prints them.
times()
{
	"$@" | sed -nE 's/^.*\] +([0-9]+)\.([0-9]{6}): .*/\1\2/p'
}

# lie_between NAME FROM TO COMMAND...: all times that the command shows
lie_between()
{
	local name=$1 from=$2 to=$3 outside

	shift 3
	outside=$(times "$@" | awk -v from="$from" -v to="$to" '{ n++ } $1 < from || $1 > to { print } END { if (!n) print "none" }')
	is "$name" "$outside" ""
}

# Nothing sets the clock while the test runs, but something may slew it.
slack=20000

# check NAME ARGUMENT...: records a program with these arguments
check()
{
	local name=$1 from to date

	shift
	from=$(now)
	echo go >words
	ok "$name: recorded" "$RECORDER" record -q --date -o out.dat "$@" "$told" <words
	to=$(now)
	lie_between "$name: the times are those of the day" $((from - slack)) $((to + slack)) "$RECORDER" report out.dat
	is "$name: trace-cmd shows the same" "$(times trace-cmd report out.dat 2>/dev/null)" "$(times "$RECORDER" report out.dat)"
	date=$("$RECORDER" dump --options out.dat | grep -i date | grep -oE '0x[0-9a-f]+')
	is "$name: --nodate shows times without the option's" \
		"$(times "$RECORDER" report --nodate out.dat | awk -v date="$((date))" '{ printf "%.0f\n", $1 + date }')" \
		"$(times "$RECORDER" report out.dat)"
	ok "$name: verify finds nothing" "$RECORDER" verify out.dat
}

check "tsc"
check "mono" -C mono
check "raw" --raw
check "version 7" --compression zstd
if can_trace; then
	check "with the kernel" -e sched_process_exec
	check "with the kernel, mono" -e sched_process_exec -C mono
else
	skip "with the kernel" "needs root and tracefs"
fi

# ---- the option, as trace-cmd writes it

like "the option's text" "$("$RECORDER" dump --options out.dat)" 'date.*0x[0-9a-f]+'
ok "without --date" "$RECORDER" record -q -o none.dat "$told" <words
unlike "there is no such option" "$("$RECORDER" dump --options none.dat)" date

# ---- a killed recorder

from=$(now)
start_told
"$RECORDER" record -q --date -o killed.dat -P "$pid" 2>log &
recorder=$!
wait_until is_attached killed.dat.spool told
tell go
kill -9 $recorder
wait $recorder 2>/dev/null
ok "a killed recorder's file" "$RECORDER" recover killed.dat.spool
lie_between "has the time of day, too" $((from - slack)) $(($(now) + slack)) "$RECORDER" report killed.dat
end_told

# ---- command lines

run "$RECORDER" record --date -u none -e sched_switch -C counter true
is "a clock without a known difference: the status" "$status" 2
like "and the message" "$err" '^recorder record: --date needs a clock'

done_testing
