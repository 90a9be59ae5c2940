#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder record -P: running programs are recorded without a restart, and afterwards their events are on or off as
# before.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"
. "$top_srcdir/tests/told.sh"
cd "$TMP" || exit 1
large_lanes

# recording FILE ARGUMENT...: starts a recorder, its pid in $recorder, and waits until its spool holds some events. Its
# messages go to the file err.
recording()
{
	local file=$1

	shift
	"$RECORDER" record "$@" -o "$file" 2>err &
	recorder=$!
	wait_until has_size "$file.spool" 100000
}

begin count
before=$(written count)
recording one.dat -P "$pid"
kill -INT $recorder
wait $recorder
is "attach to a running program" $? 0
like "events are recorded" "$(cat err)" "recorded [0-9]+ events from 1 process, 1 thread; 0 lost"
read -r first last nr missing <<<"$(numbers one.dat)"
ok "from the time of the attachment on" test "$first" -ge "$before"
ok "many" test "$nr" -gt 1000
is "all between the first and the last" "$missing" 0
ok "only the file is left" test ! -e one.dat.spool
ok "ps" "$RECORDER" ps -P "$pid"
like "its events are off again" "$out" "$pid +started +0/1"
ok "the program continues" kill -0 "$pid"
briefly "for a second" "$RECORDER" record -P "$pid" -o second.dat
is "all between the first and the last, again" "$(numbers second.dat | cut -d ' ' -f 4)" 0

ok "enabled before" "$RECORDER" enable -P "$pid" 'test:*'
recording two.dat -P victim
fails "a second recorder is refused" "$RECORDER" record -P "$pid" -o three.dat
like "the message names the first one" "$err" "cannot inspect program $pid: another recorder reads it"
ok "and leaves nothing" test ! -e three.dat -a ! -e three.dat.spool
kill -INT $recorder
wait $recorder
is "Ctrl-C ends a recording normally" $? 0
like "by name" "$(cat err)" "recorded [0-9]+ events from 1 process"
read -r _ _ nr missing <<<"$(numbers two.dat)"
ok "many are in it" test "$nr" -gt 1000
is "and none is missing" "$missing" 0
ok "ps again" "$RECORDER" ps -P "$pid"
like "what was on stays on" "$out" "$pid +started +1/1"
ok "one pid that exists, one that does not" "$RECORDER" ps -P "$pid,1"
like "the message names the missing one" "$err" "no running program '1' uses librecorder: continuing without it"

# A pattern that matches no event: the recording runs to its end, reports it, and fails.
fails "a pattern that matches nothing" "$RECORDER" record -P "$pid" --duration 1 -u 'other:*' -o none.dat
like "it is named" "$err" "no process has an event that matches 'other:\\*'"
ok "disabled" "$RECORDER" disable -P "$pid" 'test:*'

# Two programs; both end during the recording.
first_pid=$pid
begin second
recording both.dat -P "$first_pid,$pid"
# The events of both are on, but one of the programs may not have run since then.
go_on count 5000
go_on second 5000
kill -KILL "$first_pid" "$pid"
wait $recorder
is "the end of the programs ends the recording" $? 0
like "both are in it" "$(cat err)" "from 2 processes, 2 threads"
for each in "$first_pid" "$pid"; do
	ok "events of $each" test "$("$RECORDER" report both.dat | grep -c "victim-$each ")" -gt 0
done
# All events committed before the kill are in the file.
last=$("$RECORDER" report both.dat | grep "victim-$pid " | sed -n '$s/.*number=//p')
ok "to the last one" test "$last" -ge $(($(written second) - 1))
is "and none is missing of $pid" "$("$RECORDER" report both.dat | grep "victim-$pid " | sed -n 's/.*number=//p' |
	awk 'NR > 1 && $1 != last + 1 { n++ } { last = $1 } END { print n + 0 }')" 0

# ---- a program that the recorder of a command records, and that has no lane yet

start_told "$RECORDER" record -o command.dat
recorder=$told_program_PID
fails "a program that another recorder has started is refused" "$RECORDER" record -P "$pid" --duration 1 -o none.dat
like "although nothing was read yet" "$err" "cannot inspect program $pid: another recorder reads it"
unlike "the other recorder is alive" "$err" "was killed"
tell go
end_told
wait "$recorder"
is "the recording of the command succeeds" $? 0
is "with all events" "$(counts command.dat)" "get 10 idle 10 put 10"

# ---- losses from before the recording

RECORDER_ENABLE='*' start_told
tell vfork
like "a program has lost an event" "$("$RECORDER" stat -P "$pid")" "events of threads without a lane: 1"
"$RECORDER" record -P "$pid" -o later.dat 2>err &
recorder=$!
ok "it is recorded later" wait_until is_attached later.dat.spool "$told"
tell go
kill -INT $recorder
wait $recorder
like "that loss is not the recording's" "$(cat err)" "recorded 30 events from 1 process, 1 thread; 0 lost"
unlike "and has no reason" "$(cat err)" "without a lane"
end_told

# The search for what others left comes before the events are switched on, or after the first round.
if ! strace -qq -o calls -e inject=getpid:signal=CONT:when=1 true 2>/dev/null; then
	skip "when the recorder looks for leftovers" "strace is not installed, or cannot trace here"
else
	RECORDER_KEEP=1 RECORDER_ENABLE='*' "$top_builddir/tests/programs/producer" 1 10 >/dev/null &
	dead=$!
	wait $dead
	start_told
	run strace -y -qq -o calls -e trace=openat,fcntl,mmap \
		"$RECORDER" record -P "$pid" --duration 0.1 -o order.dat
	end_told
	# The loan; then the stage's file, the permission to grow, and the dead program's buffer.
	is "first the lanes, then the leftovers" "$(sed -n '/F_OFD_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=1,/,$p' calls |
		sed -nE "s|^openat.*/stage-.*|stage|p; s|^mmap.*PROT_WRITE.*/$pid-.*, 0\\) = .*|grow|p; s|^openat.*\"$dead-.*|dead|p" |
		sed -n '/stage/,$p; /dead/p' | uniq | head -n 3 | paste -sd ' ')" "stage grow dead"
fi

done_testing
