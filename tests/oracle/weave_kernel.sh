#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The running kernel's own pages, alone and with a program's events, in every form of file: compared event by event with
# what the kernel itself shows of them; the program's events are where they belong; and recorder and trace-cmd print the
# same report.

. "$top_srcdir/tests/tap.sh"

# Converts what the kernel shows, or a report, to lines "CPU pid event [seconds] [text]", CPU after CPU. Texts with
# pointers, or with words that only the kernel knows, are left out; so are times that the kernel shows in ticks.
events_of()
{
	local who='^ *(.*)-([0-9]+) +\[0*([0-9]+)\] +([^ ]+ +)?([0-9]+)(\.[0-9]+)?: ' what='([a-z_0-9]+): +(.*[^ ]) *$'
	local shown='^(sched_(switch|wakeup|process_fork)|task_(newtask|rename)|tracing_mark_write|sys_(enter|exit))$'

	sed -nE "s/$who$what/\3 \2 \7 \5\6 \8/p" |
		sed -E 's/ print ([0-9.]+) tracing_mark_write:/ tracing_mark_write \1/' |
		awk -v clock="$1" -v shown="$shown" '
			$3 == "round" { next }
			clock != "mono" || $4 !~ /\./ { $4 = "-" }
			$3 ~ shown { print; next }
			{ print $1, $2, $3, $4 }' |
		sort -s -n -k 1,1
}

check()
{
	local form=$1 version=$2 clock=$3 kb=$4
	local name="$form, version $version, $clock, pages of $kb KiB" file=$TMP/$form-$version-$clock.dat counts

	run "$top_builddir/tests/oracle/weave_kernel" "$file" "$version" "$form" "$clock" "$kb"
	[ "$status" -eq 77 ] && skip_all "$out"
	is "$name: written" "$status" 0
	counts=$out
	like "$name: every event that was read, and no damage" "$counts" \
		'read=([0-9]+) kernel=\1 events=[0-9]+ lost=0 damaged=0 raised=0$'
	trace-cmd report -N "$file" >"$TMP/report" 2>"$TMP/complaints"
	is "$name: trace-cmd reports no fault" "$(cat "$TMP/complaints")" ""
	# In files with instances the buffer's name is at the beginning of each line.
	sed -E 's/^ *(rounds-[0-9]+|lanes): +//' "$TMP/report" | events_of "$clock" >"$TMP/woven"
	events_of "$clock" <"$file.trace" >"$TMP/kernel"
	like "$name: the kernel shows as many" "$counts" "kernel=$(grep -c . "$TMP/kernel") "
	ok "$name: event by event what the kernel shows" cmp "$TMP/kernel" "$TMP/woven"
	if [ "$form" != alone ]; then
		sed -nE 's/.* tracing_mark_write: round=([0-9]+)$/\1/p; s/.* round: +n=([0-9]+)$/\1/p' "$TMP/report" >"$TMP/rounds"
		seq 0 1999 | sed p >"$TMP/expected"
		ok "$name: each round's marker, then its event" cmp "$TMP/expected" "$TMP/rounds"
	fi
	trace-cmd report "$file" >"$TMP/report" 2>/dev/null
	"$RECORDER" report "$file" >"$TMP/ours"
	ok "$name: recorder report prints what trace-cmd prints" cmp "$TMP/report" "$TMP/ours"
	ok "$name: it is valid" "$RECORDER" dump --validate "$file"
	like "$name: a child that renamed itself has its name" "$(cat "$TMP/report")" 'renamed child-[0-9]+ '
	like "$name: kernel functions have names" "$(grep -m 1 'hrtimer_start: ' "$TMP/report")" ' function=[a-z_]+/'
	rm -f "$file" "$file.trace"
}

check alone 6 mono 4
check alone 7 x86-tsc 64
check woven 6 x86-tsc 4
check woven 7 mono 16
check split 6 mono 4
check split 7 x86-tsc 4
check raw 6 x86-tsc 16
check raw 7 mono 4

done_testing
