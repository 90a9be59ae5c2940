#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A recording, snapshot or recovery without an event: an existing file is kept, the reason is reported, the status is not 0.
# A program that is stopped is named.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/told.sh"
cd "$TMP" || exit 1

ok "a recording" bash -c "echo go | '$RECORDER' record '$told'"
cp -p trace.dat good.dat

# nothing NAME REGEX COMMAND...: records nothing, reports why on one line even with -q, and keeps the existing file.
nothing()
{
	local name=$1 regex=$2

	shift 2
	run "$RECORDER" record "$@"
	is "$name: status" "$status" 1
	like "$name: why" "$(tail -n 1 <<<"$err")" "^recorder record: nothing was recorded, 'trace.dat' is unchanged: $regex"
	ok "$name: the file stays" cmp good.dat trace.dat
	run "$RECORDER" record -q -o none.dat "$@"
	like "$name: -q" "$err" "^recorder record: nothing was recorded, 'none.dat' is not written: $regex"
	is "$name: on one line" "$(wc -l <"$TMP/.err")" 1
	is "$name: nothing is left" "$(ls -d none.dat* ./*.spool run/session* 2>/dev/null)" ""
}

nothing "not linked" "no process of 'sh' uses librecorder" sh -c 'exit 0'
nothing "no event matches" "no event matches" -u 'nosuch:x' sh -c "echo go | '$told'"
like "no event matches: -q names the command that shows events" "$err" "no event matches; 'recorder list PROGRAM' shows a program's events$"
run "$RECORDER" record -u 'nosuch:x' sh -c "echo go | '$told'"
is "no event matches: without -q it is named once" "$(grep -c 'recorder list' <<<"$err")" 1
nothing "all left out" "all selected events are left out \\(-x\\)" -x '*' sh -c "echo go | '$told'"
run "$RECORDER" record -u kv:put,nosuch -u net -x kv:put sh -c "echo go | '$told'"
is "left out, in a recording with other events" "$status $(counts trace.dat)" "0 idle 10"
is "is reported" "$(head -n 1 <<<"$err")" "recorder record: all events that match 'kv:put,nosuch' are left out (-x)"
cp -p good.dat trace.dat
nothing "no event occurred" "none of the selected events occurred" sh -c "echo start | '$told'"
nothing "all off" "all events of the program are off" sh -c "printf 'off\ngo\n' | '$told'"
nothing "stopped" "the program is stopped \\(rec_stop\\(\\)\\)" sh -c "printf 'stop\ngo\n' | '$told'"
nothing "no buffer" "1 process was not recorded: a size or the clock" sh -c "echo go | RECORDER_SUBBUF_KB=5 '$told'"
run "$RECORDER" record sh -c 'exit 7'
is "a command's own status takes precedence" "$status" 7
ok "the file stays then, too" cmp good.dat trace.dat

# ---- snapshot, recover

start_told
cp good.dat trace.dat
fails "a snapshot of a program whose events are off" "$RECORDER" snapshot -q -P "$pid"
is "why" "$err" "recorder snapshot: nothing was copied, 'trace.dat' is unchanged: no lane holds an event ('recorder list' shows which events are on)"
ok "the file stays" cmp good.dat trace.dat
fails "without a file" "$RECORDER" snapshot -q -P "$pid" -o none.dat
like "none is made" "$err $(ls)" "'none.dat' is not written: [^/]*"
is "no spool is left" "$(ls -d none.dat* ./*.spool 2>/dev/null)" ""
"$RECORDER" record -q -P "$pid" 2>err &
recorder=$!
wait_until is_attached trace.dat.spool "$told"
kill -KILL $recorder
wait $recorder
fails "a recording that was killed before an event" "$RECORDER" recover
like "is reported" "$err" "recorder recover: nothing was recovered, '.*/trace.dat' is unchanged: what was left holds no event"
ok "the file stays, too" cmp good.dat trace.dat
is "and its spool is removed" "$(ls -d ./*.spool 2>/dev/null)" ""
end_told

# ---- stopped programs

start_told
tell stop
"$RECORDER" record -P "$pid" 2>err &
recorder=$!
wait_until is_attached trace.dat.spool "$told"
wait_until grep -q 'is stopped' err
like "a stopped program is named" "$(<err)" "process $pid \\(told\\) is stopped: it is not recorded until 'recorder start -P $pid'"
tell go
kill -INT $recorder
wait $recorder
is "and nothing is recorded of it" $? 1
like "for that reason" "$(<err)" "'trace.dat' is unchanged: the program is stopped"
ok "the file stays" cmp good.dat trace.dat
ok "start it" "$RECORDER" start -P "$pid"
kill -STOP "$pid"
wait_until grep -q 'State:.T' "/proc/$pid/status"
"$RECORDER" record -P "$pid" 2>err &
recorder=$!
wait_until grep -q SIGCONT err
like "one that a signal has stopped is named, too" "$(<err)" "process $pid \\(told\\) is stopped by a signal"
wait_until is_attached trace.dat.spool "$told"
kill -INT $recorder
wait $recorder
like "if it stays so, that is the reason" "$(tail -n 1 err)" "'trace.dat' is unchanged: the program is stopped by a signal; SIGCONT continues it\$"
# Here, not by the background shell: the former recording has printed the same.
: >err
"$RECORDER" record -P "$pid" 2>err &
recorder=$!
wait_until grep -q SIGCONT err
kill -CONT "$pid"
wait_until is_attached trace.dat.spool "$told"
tell go
kill -INT $recorder
wait $recorder
is "what it writes later is recorded" "$? $(counts trace.dat)" "0 get 10 idle 10 put 10"
end_told

done_testing
