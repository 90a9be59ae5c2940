#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A file has what CLOCK_MONOTONIC, CLOCK_REALTIME and CLOCK_BOOTTIME showed when the recording began and when it ended. They are
# compared with the clocks that are read before and after.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/told.sh"
cd "$TMP" || exit 1

# The clocks, in nanoseconds.
read_clocks()
{
	python3 -c 'import time as t; print(*(t.clock_gettime_ns(c) for c in (t.CLOCK_MONOTONIC, t.CLOCK_REALTIME, t.CLOCK_BOOTTIME)))'
}

# Each reading of a file, as "monotonic realtime boottime" in nanoseconds.
readings_of()
{
	run "$RECORDER" report --clock "$1"
	printf '%s\n' "$out" | sed -n 's/^MONOTONIC \([0-9]*\)\.\([0-9]\{9\}\): REALTIME \([0-9]*\)\.\([0-9]\{9\}\) (.*), BOOTTIME \([0-9]*\)\.\([0-9]\{9\}\)$/\1\2 \3\4 \5\6/p'
}

# grows FILE LINES: whether the numbers in each column of the file never decrease, and the file has this many lines
grows()
{
	awk '{ for (i = 1; i <= 3; i++) { if ($i + 0 < last[i] + 0) exit 1; last[i] = $i } } END { exit NR != n }' n="$2" "$1"
}

# check NAME FILE READINGS COMMAND...: the command makes the file
check()
{
	local name=$1 file=$2 readings=$3

	shift 3
	echo go >words
	read_clocks >between
	ok "$name" "$@" <words
	readings_of "$file" >shown
	diag "$(cat shown)"
	cat shown >>between
	read_clocks >>between
	is "$name: readings" "$(grep -c . shown)" "$readings"
	ok "$name: they lie between the clocks before and after" grows between $((readings + 2))
	ok "$name: verify finds nothing" "$RECORDER" verify "$file"
}

check "a program" out.dat 2 "$RECORDER" record -q -o out.dat "$told"
ok "the first event comes after the first reading, the last one before the last" sh -c \
	'"$0" report -t out.dat | sed -nE "s/^.* ([0-9]+)\.([0-9]{9}): .*/\1\2/p" | sort -n >times &&
	[ "$(head -1 times)" -ge "$(cut -d " " -f 1 shown | head -1)" ] && [ "$(tail -1 times)" -le "$(cut -d " " -f 1 shown | tail -1)" ]' \
	"$RECORDER"
is "the boot id of this machine" "$(grep -a -o '; boot [0-9a-f-]*' out.dat)" "; boot $(cat /proc/sys/kernel/random/boot_id)"
is "the error of the readings" "$(grep -a -c '; clocks read within [1-9][0-9]* ns' out.dat)" 1
check "CLOCK_MONOTONIC" mono.dat 2 "$RECORDER" record -q -C mono -o mono.dat "$told"
check "raw" raw.dat 2 "$RECORDER" record -q --raw -o raw.dat "$told"
check "with the date" date.dat 2 "$RECORDER" record -q --date -o date.dat "$told"
check "version 7" v7.dat 2 "$RECORDER" record -q --compression zstd -o v7.dat "$told"
ok "converted" "$RECORDER" convert --file-version 6 -i v7.dat -o v6.dat
readings_of v7.dat >shown
is "a converted file has the readings of the first" "$(readings_of v6.dat)" "$(cat shown)"
ok "recordings of one boot are merged" "$RECORDER" merge -o merged.dat out.dat mono.dat date.dat
unlike "by their clock, not by readings" "$out" "moved by"
if can_trace; then
	check "the kernel alone" kernel.dat 2 "$RECORDER" record -q -o kernel.dat -e sched_process_exec -u none true
else
	skip "the kernel alone" "needs root and tracefs"
fi

done_testing
