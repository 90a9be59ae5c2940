#!/bin/bash
# SPDX-License-Identifier: MIT
#
# KernelShark opens what we write. Its library loads each kind of file without its window: rows, times, CPUs, tasks,
# event names and texts must be those of trace-cmd, the numbers must be those that the recorded program counted itself.
# Then the window is opened on a woven and on a raw file; the pictures stay in the build directory.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/peer.sh"

packer=$top_builddir/examples/packer
rows=$top_builddir/tests/oracle/kshark_rows
pictures=$top_builddir/tests/oracle
events="open read queue compress_begin compress_end write error done"
tab=$'\t'

# trace-cmd's report as kshark_rows prints rows, without the event's system and without the gaps: ns CPU pid task event
# text.
trace_cmd_rows()
{
	trace-cmd report -t "$1" 2>/dev/null | sed -nE \
		's/^ *(.*)-([0-9]+) +\[0*([0-9]+)\] +([0-9]+)\.([0-9]{9}): +([^ ]+): *(.*)$/\4\5\t\3\t\2\t\1\t\6\t\7/p' |
		sort
}

kernelshark_rows()
{
	grep -v "${tab}missed_events$tab" "$1" | sed -E "s|^(([^$tab]*$tab){4})[a-z]+/|\1|" | sort
}

# The figures that packer prints: name=number.
counted()
{
	sed -n "s/.* $2=\([0-9]*\).*/\1/p" "$1"
}

# The same from a list of rows.
rows_of()
{
	cut -f 5 "$1" | grep -c "^packer/$2\$"
}

mkdir "$TMP/tree"
for i in $(seq 150); do
	seq "$i" $((i * 40)) >"$TMP/tree/file-$i"
done
truncate -s 65M "$TMP/tree/too-large"

record()
{
	local name=$1
	shift

	ok "$name: recorded" "$RECORDER" record -q -o "$TMP/$name.dat" "$@" -- \
		"$packer" -j 3 -o "$TMP/$name.zst" "$TMP/tree" || return 1
	cp "$TMP/.out" "$TMP/$name.counts"
}

check()
{
	local name=$1 event got="" expected="" threads

	ok "$name: KernelShark's library loads it" "$rows" "$TMP/$name.dat" || return
	cp "$TMP/.out" "$TMP/$name.rows"
	for event in $events; do
		got="$got $event=$(rows_of "$TMP/$name.rows" "$event")"
		expected="$expected $event=$(counted "$TMP/$name.counts" "$event")"
	done
	is "$name: the rows are the events that the program counted" "$got" "$expected"
	is "$name: and no others" "$(grep -c . "$TMP/$name.rows")" "$(counted "$TMP/$name.counts" total)"
	# On a loaded machine a worker may start so late that the others have done all the work.
	threads=$(cut -f 4 "$TMP/$name.rows" | sort -u | tr '\n' ' ')
	like "$name: the threads by their names" "$threads" '^packer/walk (packer/zstd-[012] ){1,3}$'
	is "$name: each thread by one name" "$(cut -f 3,4 "$TMP/$name.rows" | sort -u | wc -l)" "$(wc -w <<<"$threads")"
	trace_cmd_rows "$TMP/$name.dat" >"$TMP/$name.trace-cmd"
	kernelshark_rows "$TMP/$name.rows" >"$TMP/$name.kernelshark"
	ok "$name: row by row what trace-cmd reports" diff "$TMP/$name.trace-cmd" "$TMP/$name.kernelshark"
	like "$name: one stream" "$("$rows" -s "$TMP/$name.dat")" '^streams=1 rows=[0-9]+ gaps=0 lost=0 '
}

window()
{
	beside_peer "$1: the window" window_attempt "$@"
}

window_attempt()
{
	local name=$1
	shift

	if ! ok "$name: the window opens" bash "$top_srcdir/tests/oracle/screenshot.sh" "$TMP/$name.dat" \
		"$pictures/kernelshark-$name.png" "$@"; then
		[ "$status" != 3 ] || peer_fault=$(head -n 1 <<<"$err")
		return
	fi
	like "$name: its title names the file" "$out" "title: Kernel Shark.*$name.dat"
	unlike "$name: KernelShark reports nothing" \
		"$(grep -v -e 'plugin ".*" failed to initialize' -e 'Loading ' <<<"$out")" \
		'([Ww]arning|[Ee]rror|ERROR|[Ff]ailed|libtraceevent)'
}

for version in 6 7; do
	record "woven-v$version" --file-version "$version" && check "woven-v$version"
	record "raw-v$version" --file-version "$version" --raw && check "raw-v$version"
done

# A program that saves its own lanes long after they were full: it has 230631 requests of two events each (see its
# source).
ok "lost: recorded" "$top_builddir/examples/02_flight_recorder" "$TMP/lost.dat"
ok "lost: KernelShark's library loads it" "$rows" -s "$TMP/lost.dat"
like "lost: the gap is shown" "$out" 'rows=([0-9]+) gaps=[1-9][0-9]* lost=([0-9]+) '
is "lost: rows and lost events are all that were written" "$((${BASH_REMATCH[1]-0} + ${BASH_REMATCH[2]-0}))" 461262
like "lost: the newest are there" "$("$rows" "$TMP/lost.dat" | tail -n 1)" 'server/reply.*id=230630 steps=442$'

# Recordings with the kernel's scheduler: there are the same threads, and their events lie between the switches. The
# program's events are in the top buffer, or in a buffer of their own.
check_kernel()
{
	local name=$1 streams=$2
	shift 2

	record "$name" -e sched -u 'packer:*' "$@" || return
	ok "$name: KernelShark's library loads it" "$rows" "$TMP/$name.dat" || return
	cp "$TMP/.out" "$TMP/$name.rows"
	is "$name: the program's rows are the events that it counted" "$(cut -f 5 "$TMP/$name.rows" | grep -c '^packer/')" \
		"$(counted "$TMP/$name.counts" total)"
	trace-cmd report -N -t "$TMP/$name.dat" 2>/dev/null | sed -E 's/^ *packer-[0-9]+: +//' >"$TMP/$name.text"
	sed -nE 's/^ *(.*)-([0-9]+) +\[0*([0-9]+)\] +([0-9]+)\.([0-9]{9}): +([^ ]+): *(.*)$/\4\5\t\3\t\2\t\1\t\6\t\7/p' \
		"$TMP/$name.text" | sort >"$TMP/$name.trace-cmd"
	kernelshark_rows "$TMP/$name.rows" >"$TMP/$name.kernelshark"
	ok "$name: row by row what trace-cmd reports" diff "$TMP/$name.trace-cmd" "$TMP/$name.kernelshark"
	like "$name: streams" "$("$rows" -s "$TMP/$name.dat")" "^streams=$streams rows=[0-9]+ gaps=0 lost=0 "
	ok "$name: the threads were switched to by the names that they gave themselves" \
		grep -q "${tab}packer/zstd-0${tab}sched_switch$tab" "$TMP/$name.kernelshark"
}

if [ "$(id -u)" -eq 0 ]; then
	check_kernel kernel-woven 1
	window kernel-woven --pid "$(sed -nE "s/^([^$tab]*$tab){2}([0-9]+)${tab}packer\/.*/\2/p" "$TMP/kernel-woven.rows" |
		sort -u | paste -s -d ,)"
	check_kernel kernel-split 2 --buffers=split
else
	skip "the kernel's events" "needs root"
fi

window woven-v6
window raw-v7
window lost

done_testing
