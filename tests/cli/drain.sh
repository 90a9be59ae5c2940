#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The drain of programs: it opens nothing while there are no new events, writes many pages at a time, does not wait for the
# disk, reports when the memory for waiting pages is used up, and runs at the priority asked for where that is permitted. If
# it is killed, nothing is lost.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"

producer=$top_builddir/tests/programs/producer
mortal=$top_builddir/tests/programs/mortal
cd "$TMP" || exit 1
command -v strace >/dev/null || skip_all "strace is not installed"
strace -qq -f -o trace -e inject=write:delay_enter=1:when=1 true 2>/dev/null || skip_all "strace cannot trace here"

rounds()
{
	[ "$(grep -c ppoll calls)" -ge "$1" ]
}

# Traces the system calls of all threads of $recorder for some hundred rounds.
watch_rounds()
{
	: >calls
	strace -qq -f -o calls -p "$recorder" &
	tracer=$!
	ok "its calls are seen" wait_until rounds 400
	kill $tracer
	wait $tracer 2>/dev/null
}

# The calls in the last rounds that open, examine or close a file.
file_calls()
{
	tail -n 200 calls | grep -oE '^[0-9]+ +(open|openat|openat2|stat|lstat|fstat|newfstatat|statx|access|faccessat|faccessat2|readlink|readlinkat|close)\(' |
		sed 's/.* //' | sort -u | tr '\n' ' '
}

# ---- nothing is new

"$RECORDER" record -o idle.dat "$mortal" 10 1 wait >ready 2>err &
recorder=$!
ok "a program waits" wait_until grep -q ready ready
watch_rounds
is "no round opens, examines or closes a file" "$(file_calls)" ""
pkill -KILL -P $recorder
wait $recorder
like "its events are recorded" "$(cat err)" "recorded 10 events from 1 process"

begin count
"$RECORDER" record -P "$pid" -o attached.dat 2>err &
recorder=$!
ok "a program that writes is attached to" wait_until has_size attached.dat.spool 100000
size=$(stat -c %s attached.dat.spool)
watch_rounds
is "the same, while pages arrive" "$(file_calls)" ""
ok "pages arrived" has_size attached.dat.spool $((size + 1))
kill -INT $recorder
wait $recorder
like "they are recorded" "$(cat err)" "recorded [1-9][0-9]* events from 1 process"
end "$pid"
rm -f "$RECORDER_DIR"/*.rec

# ---- many at a time

# All of them are written while the recorder is stopped: how many pages it finds at a time does not depend on the machine.
# shellcheck disable=SC2016
ok "a million events" strace -qq -f -o calls -e trace=pwrite64,pwritev "$RECORDER" record --raw -b 65536 -o many.dat \
	bash -c 'kill -STOP $PPID && "$0" 1 1000000; kill -CONT $PPID' "$producer"
like "none is lost" "$err" "recorded 1000000 events .*; 0 lost"
writes=$(grep -c 'pwrite' calls)
pages=$(($(stat -c %s many.dat) / 4096))
ok "$pages pages take fewer than a tenth as many writes ($writes)" test $((writes * 10)) -lt "$pages"

# Eight threads at full speed: the drain cannot keep up and starts helpers.
ok "eight threads" "$RECORDER" record -o threads.dat "$producer" 8 500000
is "each event is recorded or lost" "$(($(events_in "$err") + $(lost_in "$err")))" 4000000
is "each thread's are in order" "$("$RECORDER" report threads.dat | awk '/ count: / {
	match($0, /thread=[0-9]+/); thread = substr($0, RSTART + 7, RLENGTH - 7)
	match($0, /number=[0-9]+/); number = substr($0, RSTART + 7, RLENGTH - 7) + 0
	if (thread in last && number <= last[thread]) bad++
	last[thread] = number; n++ } END { print bad + 0, n + 0 }')" "0 $(events_in "$err")"

# ---- a slow disk: each write takes five seconds

# read_events PID: the number of events that the recorder has read from the program's lanes
read_events()
{
	"$RECORDER" stat --dir "$(echo "$RECORDER_DIR"/session-*)" 2>/dev/null | awk '/read events:/ { sum += $NF } END { print sum + 0 }'
}

has_read()
{
	[ "$(read_events)" -ge "$1" ]
}

slow()
{
	strace -qq -f -o calls -e trace=pwrite64 -e inject=pwrite64:delay_enter="$1" "${@:2}"
}

rm -f count
slow 5000000 "$RECORDER" record -b 131072 -o slow.dat "$victim" count 400000 2>err &
ok "a program writes, the disk accepts hardly anything" wait_until has_written count 300000
ok "it is drained all the same" wait_until has_read 250000
size=$(stat -c %s slow.dat.spool)
ok "and its pages wait in memory: the spool has $size bytes" test "$size" -lt 3000000
recorder=$(pgrep -f "^$RECORDER record -b 131072 -o slow.dat")
pid=$(pgrep -P "$recorder" -x victim)
end "$recorder"
ok "the program continues without its recorder" wait_until has_written count 400000
end "$pid"
wait
like "what waited in memory is still there" "$(ls "$RECORDER_DIR")" "stage-"
ok "clean leaves it" "$RECORDER" clean -n
like "it is still there" "$(ls "$RECORDER_DIR")" "stage-"
stage=$(echo "$RECORDER_DIR"/stage-*)
mv "$stage" away
fails "a recovery in another mount namespace" "$RECORDER" recover -o part.dat slow.dat.spool
like "names what it lacks" "$err" "cannot find '$stage', whose pages '.*slow.dat.spool' lacks"
is "and keeps the spool" "$(ls slow.dat.spool)" slow.dat.spool
mv away "$stage"
ok "a recovery" "$RECORDER" recover slow.dat.spool
like "finds all of it" "$err" "recovered 400000 events from 1 process, 1 thread; 0 lost"
is "in order" "$("$RECORDER" report slow.dat | awk '/ seq: / { n = $NF; sub(/number=/, "", n)
	if (n + 0 != k++) bad++ } END { print bad + 0, k + 0 }')" "0 400000"
is "nothing is left" "$(ls "$RECORDER_DIR")" ""

# ---- the bound: an eighth of the free room of the file system

if [ "$(id -u)" != 0 ] || ! mkdir small || ! mount -t tmpfs -o size=32m none small; then
	skip "memory that is used up" "only root can mount a small file system"
else
	tap_unmount()
	{
		umount -l "$TMP/small"
		tap_exit
	}
	trap tap_unmount EXIT
	mkdir -m 0700 small/run
	RECORDER_DIR=$TMP/small/run run slow 1000000 "$RECORDER" record -o bound.dat "$producer" 1 1000000
	is "a disk that is too slow for a long time is not a failure" "$status" 0
	like "it is reported, once" "$(grep -c 'is written more slowly' <<<"$err") $err" \
		"^1 .*bound.dat.spool' is written more slowly than the programs write, and [0-9.]+ MB wait in memory, which is the limit"
	is "the counts are exact" "$(($(events_in "$err") + $(lost_in "$err")))" 1000000
	ok "something is lost" test "$(lost_in "$err")" -gt 0
	is "nothing is left there" "$(ls small/run)" ""

	# 6 MB are free: too few for the memory between the lanes and the disk, but enough for a program.
	dd if=/dev/zero of=small/fill bs=1M count=26 status=none
	RECORDER_DIR=$TMP/small/run ok "a recording without that memory" "$RECORDER" record -o direct.dat "$producer" 1 1000
	like "reports it, once" "$(grep -c 'no memory in' <<<"$err") $err" \
		"^1 .*no memory in '$TMP/small/run' for pages that wait for the disk \(No space left on device\): if '.*direct.dat.spool' is written slowly, events are lost"
	like "and is complete" "$err" "recorded 1000 events from 1 process, 1 thread; 0 lost"
	RECORDER_DIR=$TMP/small/run ok "with -q" "$RECORDER" record -q -o direct.dat "$producer" 1 1000
	is "it is not reported" "$err" ""
	trap tap_exit EXIT
	umount small
fi

# ---- files not in use

: >"$RECORDER_DIR/stage-AAAAAA"
ok "a recording" "$RECORDER" record -o none.dat "$producer" 1 1
is "removes a stage without a recorder" "$(ls "$RECORDER_DIR")" ""
: >"$RECORDER_DIR/stage-AAAAAA"
ok "clean" "$RECORDER" clean
is "does, too" "$(ls "$RECORDER_DIR")" ""

# ---- priority

# The recorder does not have the privilege to raise its priority.
common=()
[ "$(id -u)" != 0 ] || common=(setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice)
if [ "$(ulimit -r)" != 0 ] || ! "${common[@]}" true 2>/dev/null; then
	skip "no right to a priority" "it cannot be given up here"
else
	ok "a priority that is not permitted" "${common[@]}" "$RECORDER" record -r 5 -o none.dat "$producer" 1 1
	like "is reported on one line" "$(grep -c 'no real-time' <<<"$err") $err" \
		"^1 .*no real-time priority for the drain \(Operation not permitted\).*'ulimit -r 5'"
	run "${common[@]}" "$RECORDER" record -r 5 -o none.dat no-such-command
	is "only the reason is reported if there is no such command" "$status $err" \
		"127 recorder record: cannot run 'no-such-command': No such file or directory"
	ok "with -q" "${common[@]}" "$RECORDER" record -q -r 5 -o none.dat "$producer" 1 1
	is "is not reported" "$err" ""
	ok "no priority asked for" "${common[@]}" "$RECORDER" record -o none.dat "$producer" 1 1
	unlike "nothing is reported" "$err" "real-time"
fi
if [ "$(id -u)" != 0 ] || ! chrt -f 1 true 2>/dev/null; then
	skip "a priority that is permitted" "it is not, here"
else
	: >ready
	"$RECORDER" record -r 3 -o none.dat "$mortal" 10 1 wait >ready 2>err &
	recorder=$!
	ok "a priority that is permitted" wait_until grep -q ready ready
	has_priority()
	{
		chrt -p "$recorder" | tr '\n' ' ' | grep -q 'SCHED_FIFO.*priority: 3'
	}
	ok "is the drain's" wait_until has_priority
	like "and not the program's" "$(chrt -p "$(pgrep -P $recorder)")" "SCHED_OTHER"
	pkill -KILL -P $recorder
	wait $recorder
fi

done_testing
