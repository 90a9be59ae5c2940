#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The files that a recording of the kernel leaves: normally none; after kill -9 or on a full disk, all pages that were
# drained.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/calls.sh"
. "$top_srcdir/tests/tracefs.sh"

# Checks that numbers count from 0 without a gap; prints the last.
counted()
{
	numbers "$1" | awk '{ if ($1 != sprintf("%x", NR - 1)) bad++ } END { print bad + 0, NR }'
}

# events_of FILE PAGES: the records in the first PAGES pages of a ring, counted from their headers, and 1 if the kernel has noted
# on one of them that it overwrote pages before, 0 otherwise. Read and mapped rings may give pages that are not full, if the program
# gets no CPU for a while.
cat >events_of.py <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
nr = lost = 0
for page in range(0, int(sys.argv[2]) * 4096, 4096):
    at = page + 16
    lost |= struct.unpack_from("<Q", data, page + 8)[0] >> 31 & 1
    end = at + (struct.unpack_from("<Q", data, page + 8)[0] & 0xfffff)
    while at < end:
        head, = struct.unpack_from("<I", data, at)
        kind = head & 31
        if kind == 29 and not head >> 5:
            break
        nr += kind < 29
        at += 8 if kind > 29 else 4 + (4 * kind if 0 < kind < 29 else struct.unpack_from("<I", data, at + 4)[0])
print(nr, lost)
END

side_size()
{
	stat -c %s "$1" 2>/dev/null || echo 0
}

has_grown()
{
	[ "$(side_size "$1")" -ge "$2" ]
}

children()
{
	cat "/proc/$1/task/$1/children" 2>/dev/null
}

# ---- killed, after the side file of one CPU had a random number of pages

RANDOM=${RECORDER_SEED:-1}
repeat_by "RECORDER_SEED=${RECORDER_SEED:-1}"
for round in 1 2 3; do
	way=$(sed -n "${round}p" <<<$'splice\nread\nmmap')
	pages=$((1 + RANDOM % 300))
	"$RECORDER" record -q -b 4096 --drain "$way" -o killed.dat -e raw_syscalls:sys_enter -f "$mine" \
		taskset -c 0 "./$calls" 0 >log 2>&1 &
	recorder=$!
	wait_until has_grown killed.dat.spool.cpu0 $((pages * 4096))
	child=$(children "$recorder")
	kill -KILL "$recorder"
	# shellcheck disable=SC2086 # one or none
	kill -KILL $child
	wait "$recorder" 2>/dev/null
	pages=$(($(side_size killed.dat.spool.cpu0) / 4096))
	# A part of one more page, as if the recorder had been killed while it wrote that page.
	truncate -s $((pages * 4096 + 100 * round)) killed.dat.spool.cpu0
	read -r expected lost <<<"$(python3 events_of.py killed.dat.spool.cpu0 $pages)"
	run "$RECORDER" record -q -o killed.dat -e raw_syscalls:sys_enter true
	like "$way: the next recorder there reports what is left" "$err" "'.*/killed.dat.spool' is left from an unfinished recording"
	run "$RECORDER" recover killed.dat.spool
	is "$way: recovered" "$status" 0
	like "$way: those in the rings are mentioned" "$err" "those still in the rings at the end, if any: the spool has no final counts"
	told=$(sed -n 's/^recovered \([0-9]*\) kernel events from .*/\1/p' <<<"$err")
	read -r bad nr <<<"$(counted killed.dat)"
	ok "$way: without a gap, unless the disk was so slow that the kernel overwrote pages" test "$bad" = 0 -o "$lost" = 1
	is "$way: all of $pages pages" "$nr" "$expected"
	ok "$way: at least one in each" test "$nr" -ge "$pages"
	is "$way: as many as it reports" "$told" "$nr"
	ok "$way: with the kernel's symbols" test "$(trace-cmd dump --kallsyms -i killed.dat | wc -l)" -gt 1000
	is "$way: nothing is left" "$(echo killed*)" killed.dat
	rm killed.dat
done
# The next recorder removes what the killed ones left in tracefs.
ok "a recording" "$RECORDER" record -q -e raw_syscalls:sys_enter -f "$mine" "./$calls" 10

# ---- both halves

"$RECORDER" record -q -o both.dat -u '*' -e sched:sched_switch "$top_builddir/tests/programs/producer" 1 100000000 >log 2>&1 &
recorder=$!
wait_until has_grown both.dat.spool.cpu0 4096
wait_until has_grown both.dat.spool 1000000
child=$(children "$recorder")
kill -KILL "$recorder"
# shellcheck disable=SC2086
kill -KILL $child
wait "$recorder" 2>/dev/null
for each in $child; do
	wait_until is_gone "$each"
done
run "$RECORDER" recover --all -o all.dat
like "--all does not touch the kernel's recordings" "$err" "has the kernel's events as well: 'recorder recover .*/both.dat.spool'"
ok "and in their place" test -s both.dat.spool.cpu0
run "$RECORDER" recover both.dat.spool
is "both halves are recovered" "$status" 0
like "the programs' half" "$err" "recovered [1-9][0-9]* events from 1 process"
like "the kernel's half" "$err" "recovered [1-9][0-9]* kernel events? from [0-9]* CPU"
"$RECORDER" report both.dat >text
ok "program and kernel are in one file" awk '/ count: /{ a++ } / sched_switch: /{ b++ } END { exit !(a && b) }' text
is "nothing is left of both" "$(echo both*) $(ls "$RECORDER_DIR")" "both.dat "

# ---- killed while it removes what it needs no more: the file is complete, and the next recovery removes what is left

if ! command -v strace >/dev/null; then
	skip "killed while it removes" "strace is not installed"
else
	left_behind=0
	for way in record recover; do
		for when in $(seq 20); do
			rm -f gone*
			strace -f -qq -o trace -e trace=unlink,unlinkat -e "inject=unlink,unlinkat:signal=KILL:when=$when" \
				"$RECORDER" record -q -o gone.dat -u none -e raw_syscalls:sys_enter -f "$mine" "./$calls" 10 >log 2>&1
			[ $? = 137 ] || break
			[ ! -e gone.dat ] || [ "$(echo gone*)" = gone.dat ] || left_behind=$((left_behind + 1))
			if [ $way = recover ]; then
				run "$RECORDER" recover gone.dat.spool
			else
				run "$RECORDER" record -q -o gone.dat -u none -e raw_syscalls:sys_enter -f "$mine" "./$calls" 10
				unlike "$when: nothing is in the way" "$err" "exists already"
			fi
			is "$way, killed at removal $when: mended" "$status $(echo gone*)" "0 gone.dat"
			is "$way, killed at removal $when: all events" "$(counted gone.dat)" "0 10"
		done
		ok "$way: killed at $((when - 1)) removals" test "$when" -gt 2 -a "$when" -lt 20
	done
	ok "$left_behind times with a complete file" test "$left_behind" -ge 2
fi

# ---- another file in the way

echo mine >way.dat.spool.cpu0
run "$RECORDER" record -o way.dat -e raw_syscalls:sys_enter true
is "a file where a side file belongs is not written over" "$status $(cat way.dat.spool.cpu0)" "1 mine"
like "it is reported" "$err" "'.*/way.dat.spool.cpu0' exists already; remove it or choose another output \\(-o\\)"
is "nothing else is left" "$(echo way*)" "way.dat.spool.cpu0"

# ---- a full disk

mkdir small
if ! mount -t tmpfs -o size=1m none small; then
	skip "a full disk" "no small file system can be mounted here"
else
	tap_unmount()
	{
		umount -l "$TMP/small"
		tap_exit
	}
	trap tap_unmount EXIT
	run "$RECORDER" record -b 4096 -o small/full.dat -e raw_syscalls:sys_enter -f "$mine" taskset -c 0 "./$calls" 100000
	is "a full disk is a failure" "$status" 1
	# When it happens; the number of lost events is known only at the end, and may follow on a line of its own.
	is "it is reported once" "$(grep -c "cannot write '.*/full.dat.spool.cpu0': No space left on device" <<<"$err") $(
		grep -v 'cannot write' <<<"$err" | grep -vcE 'the recording has failed; [0-9]+ kernel events? (is|are) lost; ')" "1 0"
	like "and what to do" "$err" "cannot write '.*/full.dat.spool.cpu0': No space left on device; .*'recorder recover .*full.dat.spool'"
	unlike "the program's own events are not reported as lost" "$err" "but its events are lost"
	lost=$(sed -n 's/.*; \([0-9]*\) kernel events are lost; .*/\1/p' <<<"$err")
	is "the program ran to its end" "$out" "$getppid"
	run "$RECORDER" recover small/full.dat.spool
	is "there is no room for the file besides the spool" "$status" 1
	ok "what was recorded is still there" test -s small/full.dat.spool.cpu0
	pages=$(($(side_size small/full.dat.spool.cpu0) / 4096))
	ok "there is room elsewhere" "$RECORDER" recover -o one.dat small/full.dat.spool
	read -r bad nr <<<"$(counted one.dat)"
	is "without a gap" "$bad" 0
	ok "all that there was room for: $nr events" test "$nr" -ge $(((pages - 1) * 59)) -a "$nr" -gt 1000
	is "each event is there, or was reported as lost" "$((nr + lost))" 100000
	is "nothing is left on the disk" "$(ls small)" ""
	trap tap_exit EXIT
	umount small
fi

# ---- a page with a wrong size that the disk does not accept: its events are not counted beyond its end

# The bytes of the page in memory are overwritten after the read: a size of 0xfff00 with an event of 0xf0000 bytes.
page=010000000000000000ff0f00000000000000000000000f00
# shellcheck disable=SC2016 # sh expands it, for the recorder's own pid
damage='ring=$1/instances/recorder-$$-$(cut -d " " -f 22 "/proc/$$/stat")/per_cpu/cpu0/trace_pipe_raw
	exec strace -D -f -qq -o strace.log -P "$ring" -P "$2" -e trace=read,pwrite64 -e "inject=read:poke_exit=@arg2=$3" \
		-e inject=pwrite64:error=ENOSPC "${@:4}"'
if ! strace -qq -o strace.log -e inject=getppid:poke_exit=@arg1=00 true 2>/dev/null; then
	skip "a page with a wrong size" "strace is not installed, is older than 5.11, or cannot trace here"
else
	run bash -c "$damage" bash $tracing "$TMP/damaged.dat.spool.cpu0" $page \
		"$RECORDER" record -b 4096 --drain read -M 1 -o "$TMP/damaged.dat" -u none -e raw_syscalls:sys_enter -f "$mine" \
		taskset -c 0 "./$calls" 1000
	is "a page with a wrong size: a failure" "$status" 1
	like "it is reported" "$err" "cannot write '.*/damaged.dat.spool.cpu0': No space left on device"
	rm -f damaged.dat*
fi

# ---- the spool cannot be written: the kernel's events have files of their own

# sides_have BYTES: the side files are larger than that
sides_have()
{
	[ "$(cat apart.dat.spool.cpu* | wc -c)" -gt "$1" ]
}

"$RECORDER" record -o apart.dat -e raw_syscalls:sys_enter sh -c 'until [ -e go ]; do sleep 0.1; done' >said 2>log &
recorder=$!
ok "a recording of the kernel" wait_until traces $recorder
if ! strace -qq -o strace.log -e inject=getppid:error=EIO:when=1 true 2>/dev/null; then
	skip "a spool that cannot be written" "strace is not installed, or cannot trace here"
elif ! grep -q '\[x86-tsc\]' "$tracing/instances/$(left $recorder | head -n 1)/trace_clock"; then
	skip "a spool that cannot be written" "without the TSC nothing is written to it regularly"
else
	strace -qq -f -o strace.log -P "$PWD/apart.dat.spool" -e trace=pwrite64 -e inject=pwrite64:error=ENOSPC -p $recorder &
	tracer=$!
	ok "a spool that cannot be written is reported" wait_until grep -q "cannot write '.*/apart.dat.spool'" log
	like "with what happens to events" "$(<log)" \
		"No space left on device; 'sh' keeps running, and its events stay in its lanes; once these are full, events are lost; "
	unlike "the kernel's are not reported as lost" "$(<log)" "the kernel's events are lost"
	ok "they are still recorded" wait_until sides_have "$(cat apart.dat.spool.cpu* | wc -c)"
	touch go
	wait $recorder
	is "the recording has failed" $? 1
	wait $tracer
	ok "and is recovered" "$RECORDER" recover apart.dat.spool
fi
touch go
wait $recorder 2>/dev/null

# ---- tracing that cannot be switched off: the recorder writes 0 first of all, then 1, and at the end 0

if ! strace -qq -o strace.log true 2>/dev/null; then
	skip "tracing that cannot be switched off" "strace is not installed, or cannot trace here"
else
	inject write error=EIO:when=3 /tracing_on record -o on.dat -u none -e raw_syscalls:sys_enter -f "$mine" "./$calls" 10
	wait $recorder
	is "tracing that cannot be switched off: a failure" $? 1
	forget_others log
	like "it is reported" "$(<log)" \
		"^recorder record: cannot switch the kernel's tracing off: Input/output error; what was recorded is in '.*/on.dat.spool'"
	run "$RECORDER" recover on.dat.spool
	is "the events are recovered" "$status $(counted on.dat)" "0 0 10"
fi

done_testing
