#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Speed without a clock: no event takes more instructions than bench/instructions.txt records. The numbers hold for one
# version of the compiler; with others only rules for any compiler are checked.

. "$top_srcdir/tests/tap.sh"

recorded=$top_srcdir/bench/instructions.txt

case $(uname -m) in
x86_64) ;;
*) skip_all "instructions are counted on x86-64 only" ;;
esac

run bash "$top_srcdir/bench/instructions.sh"
[ "$status" != 77 ] || skip_all "a process may not trace its child here"
is "every case is counted" "$status" 0
diag "$err"
printf '%s\n' "$out" >"$TMP/counts"

# count COLUMN NAME: 1 instructions, 2 locked ones, 3 readings of the clock
count()
{
	awk -F '\t' -v column="$1" -v name="$2" '$4 == name { print $column }' "$TMP/counts"
}

is "a reader does nothing for each event" "$(count 1 "reader: page taken, 100 events and more on it")" \
	"$(count 1 "reader: page taken, 1 event on it")"
is "an event reads the clock once" "$(count 3 u64)" 1
is "an event locks nothing" "$(count 2 u64)" 0
span=$(count 1 "span: begin and end, each with a u64")
ok "a span takes no more than two events" test "${span:-9999}" -le $((2 * $(count 1 u64)))
off=$(count 1 "scope that is off")
ok "a scope that is off takes what an event takes that is off, and a test" test "${off:-9999}" -le $(($(count 1 off) + 2))
is "a refusal reads no clock" "$(count 3 "dropped (discard mode, lane full)")" 0
is "a refusal locks nothing" "$(count 2 "dropped (discard mode, lane full)")" 0

compiler="$("$CC" -dumpmachine) $("$CC" -dumpfullversion 2>/dev/null)"
if [ "$compiler" != "$(sed -n 's/^# compiler //p' "$recorded")" ]; then
	skip "no event takes more instructions than recorded" "recorded with another compiler than $compiler"
	done_testing
	exit
fi

is "the cases are the recorded ones" "$(cut -f 4 "$TMP/counts")" "$(grep -v '^#' "$recorded" | cut -f 4)"
while IFS=$'\t' read -r all locked clock name; do
	now="$(count 1 "$name") $(count 2 "$name") $(count 3 "$name")"
	diag "$name: $now, recorded $all $locked $clock"
	read -r now_all now_locked now_clock <<<"$now"
	ok "$name: no more than recorded" \
		test "${now_all:-none}" -le "$all" -a "${now_locked:-none}" -le "$locked" -a "${now_clock:-none}" -le "$clock"
done < <(grep -v '^#' "$recorded")

done_testing
