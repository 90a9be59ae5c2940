#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Events that recorder record -P has on loan: a killed recorder's are given back by the next, a forked child's too; what
# others hold up is told.

. "$top_srcdir/tests/tap.sh"

family=$top_builddir/tests/programs/family
victim=$top_builddir/tests/programs/victim
cd "$TMP" || exit 1

# Starts a program without an end; its pid in $pid.
begin()
{
	"$victim" "$1" 1000000000000 &
	pid=$!
	wait_until eval '"$RECORDER" ps -P $pid >/dev/null 2>&1'
}

# Waits until $2 (on/all) is what ps says of process $1.
wait_for()
{
	wait_until eval "\"\$RECORDER\" ps -P $1 | grep -q ' $2 '"
}

# Records process $1 to $2, and is killed in the middle of it.
killed()
{
	"$RECORDER" record -P "$1" -o "$2" 2>/dev/null &
	recorder=$!
	wait_for "$1" 1/1
	wait_until eval "[ -e $2.spool ] && [ \"\$(stat -c %s $2.spool)\" -gt 100000 ]"
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	ok "its events are still on" eval "\"\$RECORDER\" ps -P $1 | grep -q ' 1/1 '"
}

begin one
killed "$pid" first.dat
ok "the next recording, of something else" "$RECORDER" record -o other.dat "$family" leaf
like "says what it found" "$err" "1 program still recorded for a recorder that was killed: switched off"
ok "and switches it off" eval '"$RECORDER" ps -P $pid | grep -q " 0/1 "'
ok "once" "$RECORDER" record -o other.dat "$family" leaf
unlike "only" "$err" "killed"

killed "$pid" second.dat
ok "disable, of another pattern" "$RECORDER" disable -P "$pid" 'other:*'
like "gives back as well" "$out" "what a recorder that was killed had left on is off"
wait_for "$pid" 0/1

# What was on before stays on.
ok "enable" "$RECORDER" enable -P "$pid" 'test:*'
killed "$pid" third.dat
ok "the next one" "$RECORDER" record -o other.dat "$family" leaf
like "says so" "$err" "switched off"
ok "what was on before the killed one stays on" eval '"$RECORDER" ps -P $pid | grep -q " 1/1 "'
"$RECORDER" disable -P "$pid" 'test:*' >/dev/null

# The very program again: what it has recorded since the kill is there.
killed "$pid" fourth.dat
last=$(od -An -t u8 one | tr -d ' ')
ok "the same program is recorded again" "$RECORDER" record -P "$pid" --duration 1 -o fifth.dat
like "and says whose it was" "$err" "process $pid was being recorded when its recorder was killed: what it has recorded since is kept"
ok "ps" eval '"$RECORDER" ps -P $pid | grep -q " 0/1 "'
ok "the killed one's spool can be recovered" "$RECORDER" recover fourth.dat.spool -o fourth.dat
ok "it goes on after it" test "$("$RECORDER" report fifth.dat | sed -n '$s/.*number=//p')" -gt "$last"

# A living recorder's loan is its own.
"$RECORDER" record -P "$pid" -o living.dat 2>/dev/null &
recorder=$!
wait_for "$pid" 1/1
ok "another recording meanwhile" "$RECORDER" record -o other.dat "$family" leaf
unlike "gives nothing back" "$err" "killed"
ok "disable of another pattern" "$RECORDER" disable -P "$pid" 'other:*'
ok "neither" eval '"$RECORDER" ps -P $pid | grep -q " 1/1 "'
kill -INT $recorder
wait $recorder
is "it ends in order" $? 0
wait_for "$pid" 0/1

# Somebody holds the lock of those who switch.
exec {lock}>>"$(find "$RECORDER_DIR" -name "$pid-*.rec")"
flock $lock
fails "a lock that is held" "$RECORDER" disable -P "$pid" 'test:*' {lock}>&-
like "is not waited for for ever" "$err" "process $pid: somebody else has been switching its events for a second"
fails "nor by a recording" "$RECORDER" record -P "$pid" -o held.dat {lock}>&-
like "which says so" "$err" "cannot attach to the program: somebody else is switching its events"
ok "and leaves nothing" test ! -e held.dat -a ! -e held.dat.spool
exec {lock}>&-
ok "then it goes" "$RECORDER" disable -P "$pid" 'test:*'

# A name that several programs have means all of them.
first=$pid
begin two
"$RECORDER" record -P victim -o both.dat 2>both.err &
recorder=$!
wait_for "$first" 1/1
wait_for "$pid" 1/1
wait_until eval '[ "$(stat -c %s both.dat.spool)" -gt 100000 ]'
kill -INT $recorder
wait $recorder
like "a name of several programs" "$(cat both.err)" "from 2 processes"
wait_for "$first" 0/1
wait_for "$pid" 0/1

# A recorder that is killed before its program forks: the child begins with the loan, and gives it back, too.
kill "$first" "$pid"
mkfifo fifo go
"$family" wait fifo heir wait go leaf &
pid=$!
wait_until eval '"$RECORDER" ps -P $pid >/dev/null 2>&1'
"$RECORDER" record -P "$pid" -o sixth.dat 2>/dev/null &
recorder=$!
wait_for "$pid" 3/3
kill -KILL $recorder
wait $recorder 2>/dev/null
: >fifo
wait_until eval '[ "$("$RECORDER" ps -P family | grep -c " 3/3 ")" = 2 ]'
ok "the last recording" "$RECORDER" record -o other.dat "$family" leaf
like "takes both back" "$err" "2 programs still recorded for a recorder that was killed: switched off"
is "they are off" "$("$RECORDER" ps -P family | grep -c " 0/3 ")" 2
: >go
wait "$pid"
is "the family ends well" $? 0

done_testing
