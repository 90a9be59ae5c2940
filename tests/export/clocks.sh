#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder export --perfetto: the readings of the clocks in a file, as Perfetto has them and converts times by them; files
# without readings, with a date, and with a time of day that was set back.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/export/perfetto.sh"

cd "$TMP" || exit 1
mkdat=$top_builddir/tests/golden/mkdat

readings="select ts, clock_name, clock_value from clock_snapshot where clock_name is not null order by snapshot_id, clock_id"

# export_it NAME: asks NAME.dat for its clocks, the times of its events, and the time of day of the first and the last event
export_it()
{
	ok "$1: export" "$RECORDER" export --perfetto "$1.dat" -o "$1.pftrace"
	sql clocks "$readings"
	sql times "select distinct ts from ftrace_event order by ts"
	sql days "select abs_time_str(ts) from ftrace_event where ts in (select min(ts) from ftrace_event union select max(ts) from ftrace_event) group by ts order by ts"
	sql boot "select ts from clock_snapshot where clock_name = 'REALTIME' and snapshot_id = 0"
	ask "$1.pftrace"
}

times_of()
{
	"$RECORDER" report -t -R "$1" 2>/dev/null | sed -nE 's/.*\] +([0-9]+)\.([0-9]{9}): .*/\1\2/p' | sort -nu | paste -s -d ';'
}

"$mkdat" v6-clocks >made.dat
export_it made
is "each reading is a snapshot" "$(answer clocks)" \
	"5000000000 REALTIME 1700006399999980000;5000000000 MONOTONIC 5000000000;5000000000 BOOTTIME 3605000000000;5000050000 REALTIME 1700006400000080000;5000050000 MONOTONIC 5000050000;5000050000 BOOTTIME 3615000050000;5000000100 MONOTONIC 5000000100"
is "Perfetto's page finds the time of day in the first one" "$(answer boot)" 5000000000
# Perfetto counts from the last reading before a time; it does not draw a line between two.
is "the time of day of the first and the last event" "$(answer days)" \
	"2023-11-14T23:59:59.999980100;2023-11-15T00:00:00.000215384"
ok "there are events" test -n "$(answer times)"
is "the kernel's events have the times of the file, before the machine slept and after it" "$(answer times)" "$(times_of made.dat)"

# Only the time of day of the second reading is changed.
sed 's/realtime 1700006400000080000/realtime 1700002800000080000/' made.dat >back.dat
ok "a time of day that was set back" sh -c '! cmp -s made.dat back.dat'
export_it back
is "the first reading counts for all" "$(answer clocks)" \
	"5000000000 REALTIME 1700006399999980000;5000000000 MONOTONIC 5000000000;5000000000 BOOTTIME 3605000000000;5000000100 MONOTONIC 5000000100"
is "also after the second" "$(answer days)" "2023-11-14T23:59:59.999980100;2023-11-15T00:00:00.000165384"
is "the events have their times" "$(answer times)" "$(times_of back.dat)"

# Readings do not apply to a clock that was not read.
sed 's/\[mono\]/[perf]/g' made.dat >perf.dat
for name in v6-kernel perf; do
	[ -e "$name.dat" ] || "$mkdat" "$name" >"$name.dat"
	export_it "$name"
	is "$name: BOOTTIME is MONOTONIC, and the time of day is not known" "$(answer clocks)" \
		"5000000100 MONOTONIC 5000000100;5000000100 BOOTTIME 5000000100"
	is "$name: the times of the events" "$(answer times)" "$(times_of "$name.dat")"
done

"$mkdat" v6-date >date.dat
ok "export a file with a date" "$RECORDER" export --perfetto date.dat -o date.pftrace
sql clocks "$readings"
ask date.pftrace
is "its clocks" "$(answer clocks)" \
	"5000000100 REALTIME 105000000100;5000000100 MONOTONIC 5000000100;5000000100 BOOTTIME 5000000100"

# The readings of a recording are those that recorder report --clock prints.
ok "record" "$RECORDER" record -q -o told.dat "$top_builddir/tests/programs/producer" 1 100
ok "export it" "$RECORDER" export --perfetto told.dat -o told.pftrace
sql clocks "select m.clock_value, r.clock_value from clock_snapshot m join clock_snapshot r using(snapshot_id) where m.clock_name = 'MONOTONIC' and r.clock_name = 'REALTIME' order by 1"
sql boot "select clock_value from clock_snapshot where clock_name = 'BOOTTIME' and snapshot_id = 0"
ask told.pftrace
"$RECORDER" report --clock told.dat |
	sed -nE 's/^MONOTONIC ([0-9]+)\.([0-9]{9}): REALTIME ([0-9]+)\.([0-9]{9}) .*, BOOTTIME ([0-9]+)\.([0-9]{9})$/\1\2 \3\4 \5\6/p' >readings
is "a recording has two readings" "$(grep -c . readings)" 2
is "they are in the trace" "$(answer clocks)" "$(cut -d ' ' -f 1,2 readings | paste -s -d ';')"
is "with BOOTTIME" "$(answer boot)" "$(sed -n '1s/.* //p' readings)"

if command -v babeltrace2 >/dev/null; then
	ok "--ctf" "$RECORDER" export --ctf made.dat -o made.ctf
	is "the first event has the time of day of the first reading" \
		"$(babeltrace2 --clock-gmt --clock-date made.ctf 2>/dev/null | sed -nE '1s/^\[([^]]*)\].*/\1/p')" "2023-11-14 23:59:59.999980100"
else
	skip "--ctf" "babeltrace2 is not installed"
fi

done_testing
