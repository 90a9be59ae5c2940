#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The loans of recorder record -P: the next recorder restores the events of a killed one, also in a forked child. A
# living recorder's loan is respected: other recorders report that they have to wait for it.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"

family=$top_builddir/tests/programs/family
cd "$TMP" || exit 1

# Waits until ps shows $2 (on/all) for process $1.
wait_for()
{
	wait_until eval "\"\$RECORDER\" ps -P $1 | grep -q ' $2 '"
}

# Starts to record process $1 to $2, and kills the recorder while it does.
killed()
{
	"$RECORDER" record -P "$1" -o "$2" 2>/dev/null &
	recorder=$!
	wait_for "$1" 1/1
	wait_until has_size "$2.spool" 100000
	end $recorder
	ok "its events are still on" grep -q " 1/1 " <("$RECORDER" ps -P "$1")
}

begin one
killed "$pid" first.dat
ok "the next recording, of something else" "$RECORDER" record -o other.dat "$family" leaf
like "reports what it found" "$err" "1 program still had events on for a killed recorder: switched off"
ok "and switches it off" grep -q " 0/1 " <("$RECORDER" ps -P $pid)
ok "once" "$RECORDER" record -o other.dat "$family" leaf
unlike "only those" "$err" "killed"

killed "$pid" second.dat
ok "disable, of another pattern" "$RECORDER" disable -P "$pid" 'other:*'
like "gives back as well" "$out" "switched off the events that a killed recorder left on"
wait_for "$pid" 0/1

# Events that were on before stay on.
ok "enable" "$RECORDER" enable -P "$pid" 'test:*'
killed "$pid" third.dat
ok "the next one" "$RECORDER" record -o other.dat "$family" leaf
like "reports it" "$err" "switched off"
ok "what was on before the killed one stays on" grep -q " 1/1 " <("$RECORDER" ps -P $pid)
"$RECORDER" disable -P "$pid" 'test:*' >/dev/null

# The same program is recorded again: events that it wrote since the kill are in the file.
killed "$pid" fourth.dat
last=$(written one)
go_on one 1000
ok "the same program is recorded again" "$RECORDER" record -P "$pid" --duration 1 -o fifth.dat
like "and reports that its recorder was killed" "$err" "process $pid was being recorded when its recorder was killed: what it has recorded since is kept"
ok "ps" grep -q " 0/1 " <("$RECORDER" ps -P $pid)
ok "the killed one's spool can be recovered" "$RECORDER" recover fourth.dat.spool -o fourth.dat
ok "the new recording continues after it" test "$("$RECORDER" report fifth.dat | sed -n '$s/.*number=//p')" -gt "$last"

# Events of a living recorder's loan stay on.
"$RECORDER" record -P "$pid" -o living.dat 2>/dev/null &
recorder=$!
wait_for "$pid" 1/1
ok "another recording meanwhile" "$RECORDER" record -o other.dat "$family" leaf
unlike "gives nothing back" "$err" "killed"
ok "disable of another pattern" "$RECORDER" disable -P "$pid" 'other:*'
ok "gives nothing back, either" grep -q " 1/1 " <("$RECORDER" ps -P $pid)
kill -INT $recorder
wait $recorder
is "it ends normally" $? 0
wait_for "$pid" 0/1

# Another process holds the lock that switching events takes.
exec {lock}>>"$(find "$RECORDER_DIR" -name "$pid-*.rec")"
flock $lock
fails "a lock that is held" "$RECORDER" disable -P "$pid" 'test:*' {lock}>&-
like "is not waited for without end" "$err" "process $pid: another process keeps switching its events"
fails "nor by a recording" "$RECORDER" record -P "$pid" -o held.dat {lock}>&-
like "which reports it" "$err" "cannot attach to process $pid \\(victim\\): another process keeps switching its events; try again"
ok "and leaves nothing" test ! -e held.dat -a ! -e held.dat.spool
exec {lock}>&-
ok "when the lock is free, it works" "$RECORDER" disable -P "$pid" 'test:*'

# If a name matches several programs, it selects all of them.
first=$pid
begin two
"$RECORDER" record -P victim -o both.dat 2>both.err &
recorder=$!
wait_for "$first" 1/1
wait_for "$pid" 1/1
go_on one 5000
go_on two 5000
kill -INT $recorder
wait $recorder
like "a name of several programs" "$(cat both.err)" "from 2 processes"
wait_for "$first" 0/1
wait_for "$pid" 0/1

# A recorder is killed before its program forks: the child begins with the events that are on loan, and gives them back,
# too.
end "$first" "$pid"
mkfifo fifo go
"$family" wait fifo heir wait go leaf &
pid=$!
wait_until eval '"$RECORDER" ps -P $pid >/dev/null 2>&1'
"$RECORDER" record -P "$pid" -o sixth.dat 2>/dev/null &
recorder=$!
wait_for "$pid" 3/3
end $recorder
: >fifo
wait_until eval '[ "$("$RECORDER" ps -P family | grep -c " 3/3 ")" = 2 ]'
ok "the last recording" "$RECORDER" record -o other.dat "$family" leaf
like "takes both back" "$err" "2 programs still had events on for a killed recorder: switched off"
is "they are off" "$("$RECORDER" ps -P family | grep -c " 0/3 ")" 2
: >go
wait "$pid"
is "all programs end with status 0" $? 0

# Our program starts another one, which another recorder borrows before our recorder finds it.
mkfifo begin
"$family" wait begin patience spawn &
pid=$!
wait_until eval '"$RECORDER" ps -P $pid >/dev/null 2>&1'
"$RECORDER" record -P "$pid" -o ours.dat 2>ours.err &
ours=$!
wait_until is_attached ours.dat.spool "$family"
kill -STOP $ours
: >begin
wait_until eval 'child=$(pgrep -P $pid) && "$RECORDER" ps -P $child >/dev/null 2>&1'
kill -STOP "$child"
"$RECORDER" record -P "$child" -o theirs.dat 2>theirs.err &
theirs=$!
wait_until is_attached theirs.dat.spool "$family"
kill -CONT $ours
kill -INT $ours
wait $ours
is "a recording ends while another recorder has one of its children" $? 0
like "which it reports" "$(cat ours.err)" \
	"1 process that started meanwhile was not recorded, $child \\([a-z]*\\): another recorder records it"
like "it has its own events" "$(cat ours.err)" "recorded 1 event from 1 process"
ok "the other recorder's events stay on" wait_for "$child" 3/3
kill -CONT "$child"
wait "$pid"
is "the program ends with status 0" $? 0
wait $theirs
like "and is recorded by the other one" "$(cat theirs.err)" "recorded 1 event from 1 process, 1 thread; 0 lost"

done_testing
