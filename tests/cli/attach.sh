#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder record -P: running programs are recorded without a restart, and left as they were.

. "$top_srcdir/tests/tap.sh"

victim=$top_builddir/tests/programs/victim
cd "$TMP" || exit 1
# A recorder that is not let run for a while finds it all still there.
export RECORDER_BUFFER_KB=16384

# Starts a program without an end that counts in file $1; its pid in $pid.
start()
{
	"$victim" "$1" 1000000000000 &
	pid=$!
	wait_until eval "[ -s $1 ] && [ \"\$(written $1)\" != 0 ]"
}

# What it has counted so far.
written()
{
	od -An -t u8 "$1" | tr -d ' '
}

# Which numbers a recording holds: the first, the last, how many, and whether one is missing.
numbers()
{
	"$RECORDER" report "$1" | sed -n 's/.*number=//p' | awk '
		NR == 1 { first = $1 } NR > 1 && $1 != last + 1 { holes++ } { last = $1 }
		END { print first + 0, last + 0, NR, holes + 0 }'
}

start count
before=$(written count)
ok "attach to a running program" "$RECORDER" record -P "$pid" --duration 1 -o one.dat
like "events are recorded" "$err" "recorded [0-9]+ events from 1 process, 1 thread; 0 lost"
read -r first last nr holes <<<"$(numbers one.dat)"
ok "from the time on when it was attached to" test "$first" -ge "$before"
is "without a hole" "$holes" 0
ok "many" test "$nr" -gt 1000
is "all between the first and the last" "$nr" $((last - first + 1))
ok "nothing is beside the file" test ! -e one.dat.spool
ok "ps" "$RECORDER" ps -P "$pid"
like "its events are off again" "$out" "$pid +started +0/1"
ok "the program runs on" kill -0 "$pid"

ok "enabled before" "$RECORDER" enable -P "$pid" 'test:*'
"$RECORDER" record -P victim -o two.dat 2>err &
recorder=$!
wait_until eval '[ -s two.dat.spool ]'
fails "a second recorder is told" "$RECORDER" record -P "$pid" -o three.dat
like "by whom it is held up" "$err" "cannot look at program $pid: another recorder reads it"
ok "and leaves nothing" test ! -e three.dat -a ! -e three.dat.spool
wait_until eval '[ "$(stat -c %s two.dat.spool)" -gt 100000 ]'
kill -INT $recorder
wait $recorder
is "Ctrl-C ends a recording in order" $? 0
like "by name" "$(cat err)" "recorded [0-9]+ events from 1 process"
read -r first last nr holes <<<"$(numbers two.dat)"
ok "something is in it" test "$nr" -gt 0
ok "ps again" "$RECORDER" ps -P "$pid"
like "what was on stays on" "$out" "$pid +started +1/1"

# A pattern that no event is like yet; the recording goes on and says so.
ok "a pattern that nothing is like" "$RECORDER" record -P "$pid" --duration 1 -u 'other:*' -o none.dat
like "it is named" "$err" "no process has an event like 'other:\\*'"
ok "disabled" "$RECORDER" disable -P "$pid" 'test:*'

# Two programs; both end during the recording.
first_pid=$pid
start second
"$RECORDER" record -P "$first_pid,$pid" -o both.dat 2>err &
recorder=$!
wait_until eval '[ -s both.dat.spool ] && [ "$(stat -c %s both.dat.spool)" -gt 100000 ]'
# Both are on; but the second one may not have had a CPU since.
on=$(written second)
wait_until eval '[ "$(written second)" -gt $((on + 5000)) ]'
kill -KILL "$first_pid" "$pid"
wait $recorder
is "the end of the programs ends the recording" $? 0
like "both are in it" "$(cat err)" "from 2 processes, 2 threads"
for each in "$first_pid" "$pid"; do
	ok "events of $each" test "$("$RECORDER" report both.dat | grep -c "victim-$each ")" -gt 0
done
# What was committed before the kill is all there.
last=$("$RECORDER" report both.dat | grep "victim-$pid " | sed -n '$s/.*number=//p')
ok "to the last one" test "$last" -ge $(($(written second) - 1))

done_testing
