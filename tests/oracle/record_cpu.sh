#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The CPU of each event is the CPU that it was written on, and its time is the time at which it was written.

. "$top_srcdir/tests/tap.sh"

programs=$top_builddir/tests/programs
cd "$TMP" || exit 1
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

same_text()
{
	trace-cmd report cpu.dat 2>/dev/null | cmp text -
}

# In each stay on a CPU, a thread writes one event, a few, or several sub-buffers of them.
for stay in 1 7 500; do
	rounds=$((20000 / stay > 2000 ? 2000 : 20000 / stay))
	ok "threads move with $stay events a stay" "$RECORDER" record -b 16384 -o cpu.dat "$programs/pinned" "$rounds" "$stay"
	expected=$((2 * rounds * stay))
	like "nothing is lost with $stay" "$err" "recorded $expected events from 1 process, 2 threads; 0 lost"
	"$RECORDER" report cpu.dat >text
	is "each event of stays of $stay is on its CPU" "$(awk '/ place: / {
		match($0, /\[[0-9]+\]/); cpu = substr($0, RSTART + 1, RLENGTH - 2) + 0
		match($0, /cpu=[0-9]+/); said = substr($0, RSTART + 4, RLENGTH - 4) + 0
		if (cpu == said) good++ } END { print good + 0 }' text)" "$expected"
	ok "trace-cmd shows the same for stays of $stay" same_text
done
is "more than one CPU was used, unless there is only one" "$(grep -oE '\[[0-9]{3}\]' text | sort -u | wc -l)" \
	"$(nproc)"

for clock in tsc mono; do
	if [ "$clock" = tsc ] && ! grep -q tsc /sys/devices/system/clocksource/clocksource0/available_clocksource; then
		continue
	fi
	ok "bracketed events, $clock" "$RECORDER" record -C "$clock" -o time.dat "$programs/bracket" 20000
	bound=$(sed -n 's/.*times within \([0-9]*\) ns of CLOCK_MONOTONIC$/\1/p' <<<"$err")
	like "record states the bound with $clock" "$bound" '^[0-9]+$'
	diag "$clock: bound $bound ns"
	# The bound is 1 ns larger here, because both times are rounded down to whole nanoseconds.
	"$RECORDER" report -t time.dat | awk -v bound="$((bound + 1))" '
		/ bracket: / {
			match($0, /[0-9]+\.[0-9]+:/); t = substr($0, RSTART, RLENGTH - 1)
			split(t, part, "."); time = part[1] * 1000000000 + part[2]
			match($0, /before=[0-9]+/); before = substr($0, RSTART + 6, RLENGTH - 6) + 0
			match($0, /after=[0-9]+/); after = substr($0, RSTART + 6, RLENGTH - 6) + 0
			if (time < before - bound) early++
			if (n && last > after + bound) late++
			last = time
			n++
		}
		END { print n + 0, early + 0, late + 0 }' >verdict
	is "no event with $clock is outside of its bracket by more than the bound" "$(cat verdict)" "20000 0 0"
done

done_testing
