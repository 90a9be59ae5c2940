#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder snapshot: copies of what lanes hold, one after the other, also while a recording of the same program goes on.

. "$top_srcdir/tests/tap.sh"

victim=$top_builddir/tests/programs/victim

cd "$TMP" || exit 1
export RECORDER_ENABLE='test:*' RECORDER_BUFFER_KB=256

# Starts a program without an end; its pid in $pid.
start()
{
	rm -f count
	"$victim" count 1000000000000 &
	pid=$!
	wait_until eval '[ -s count ] && [ "$(written)" -gt 50000 ]'
}

# What it has counted so far.
written()
{
	od -An -t u8 count | tr -d ' '
}

# Which numbers a file holds: the first, the last, how many.
numbers()
{
	"$RECORDER" report "$1" | sed -n 's/.*number=//p' | awk '
		NR == 1 { first = $1 } { last = $1 } END { print first + 0, last + 0, NR }'
}

# How many a file says are lost.
lost()
{
	"$RECORDER" report "$1" | sed -n 's/.*\[\([0-9]*\) EVENTS DROPPED\].*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

start
before=$(written)
ok "a snapshot" "$RECORDER" snapshot -P "$pid" -o one.dat
like "is told" "$err" "copied [0-9]+ events from 1 process, 1 thread; [0-9]+ lost"
like "with the times of the report" "$err" \
	"  from $("$RECORDER" report one.dat | sed -n '/number=/{s/.* \([0-9]*\.[0-9]*\): seq.*/\1/p;q}') to [0-9]+\.[0-9]{6}, [0-9]+\.[0-9]{6} seconds"
read -r first last nr <<<"$(numbers one.dat)"
# It counts behind the event.
ok "it goes up to when it was asked for" test "$last" -ge $((before - 1))
is "without a hole that it does not tell of" $((last - first + 1 - nr)) "$(lost one.dat)"
ok "a full lane is in it" test "$nr" -gt 5000
one=$last
ok "another" "$RECORDER" snapshot -P victim -o two.dat
read -r first last nr <<<"$(numbers two.dat)"
ok "does not repeat it" test "$first" -gt "$one"
is "and tells what is missing in between" $((last - one - nr)) "$(lost two.dat)"
two=$last

# While somebody else reads the lane.
"$RECORDER" record -P "$pid" -o all.dat 2>err &
recorder=$!
wait_until eval '[ -s all.dat.spool ] && [ "$(stat -c %s all.dat.spool)" -gt 1000000 ]'
ok "during a recording" "$RECORDER" snapshot -P "$pid" -o three.dat
read -r first last nr <<<"$(numbers three.dat)"
ok "what was recorded already is in it" test "$nr" -gt 5000
ok "on from the snapshot before" test "$first" -gt "$two"
is "with what is missing" $((last - two - nr)) "$(lost three.dat)"
kill -INT $recorder
wait $recorder
is "the recording ends in order" $? 0
read -r first last nr <<<"$(numbers all.dat)"
is "and has lost nothing by it" $((last - first + 1 - nr)) "$(lost all.dat)"
kill "$pid"

wait "$pid" 2>/dev/null
fails "a program that is gone" "$RECORDER" snapshot -P "$pid" -o gone.dat
like "is left to recover" "$err" "no running program '$pid' .*'recorder recover' saves what dead ones have left"

# Starts one that writes $1 events and waits.
start_to()
{
	rm -f "count$1"
	"$victim" "count$1" "$1" &
	pids+=($!)
	wait_until test -e "count$1"
	wait_until eval "[ \"\$(od -An -t u8 count$1 | tr -d ' ')\" = $1 ]"
}

pids=()
start_to 1000
start_to 2000
"$RECORDER" snapshot -q -P "${pids[0]}" -o a.dat &
first=$!
ok "two at a time" "$RECORDER" snapshot -q -P "${pids[0]}" -o b.dat
wait $first
is "both end in order" $? 0
read -r _ last nr <<<"$(numbers a.dat)"
read -r _ last2 nr2 <<<"$(numbers b.dat)"
ok "and have all between them" test $((nr + nr2)) -ge 1000 -a $((last > last2 ? last : last2)) -eq 999
is "nothing lost" $(($(lost a.dat) + $(lost b.dat))) 0
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
	skip "a full disk" "only root can mount a small one"
else
	# shellcheck disable=SC2016
	run unshare -m "$BASH" -c 'mkdir -p small && mount -t tmpfs -o size=16k none small &&
		"$1" snapshot -P "$2" -o small/full.dat' full "$RECORDER" "${pids[1]}"
	is "a full disk is a failure" "$status" 1
	like "is said" "$err" "No space left on device"
fi
ok "two programs in one file" "$RECORDER" snapshot -P victim -o both.dat
like "are both told" "$err" "copied 2000 events from 1 process, 1 thread; 0 lost"
start_to 3000
ok "and again" "$RECORDER" snapshot --raw -P victim -o both.dat
like "only what is new" "$err" "copied 3000 events from 1 process, 1 thread; 0 lost"
kill "${pids[@]}"
wait "${pids[@]}" 2>/dev/null

# Lanes that are made larger and smaller, dropped, swapped; threads that come; and the program's end in the midst of it.
RECORDER_BUFFER_KB=32 RECORDER_BUFFER_MAX_KB=512 "$top_builddir/tests/programs/changer" 3 30000000 >produced &
pid=$!
wait_until eval '"$RECORDER" ps | grep -q changer'
nr=0
while "$RECORDER" snapshot -P "$pid" -o some.dat 2>err; do
	"$RECORDER" report some.dat | sed -n 's/.*count: *\(thread=.*\)/\1/p' >>all
	nr=$((nr + 1))
done
wait "$pid"
like "snapshots until the end" "$(cat err)" "no running program"
ok "several" test $nr -gt 2
ok "with events" test "$(wc -l <all)" -gt 1000
is "none twice" "$(sort all | uniq -d | wc -l)" 0

fails "nobody of this name" "$RECORDER" snapshot -P nobody-has-this-name -o none.dat
like "is said" "$err" "no running program 'nobody-has-this-name'"
ok "and nothing is left" test ! -e none.dat -a ! -e none.dat.spool
fails "no program" "$RECORDER" snapshot -o none.dat
like "is said, too" "$err" "missing -P"

done_testing
