#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SIGKILL of the program, of the recorder, of both: what was committed is in the file, and the program never notices.

. "$top_srcdir/tests/tap.sh"

victim=$top_builddir/tests/programs/victim
cd "$TMP" || exit 1
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

# What the victim has committed so far.
count()
{
	local n

	n=$(od -A n -t u8 -N 8 count 2>/dev/null)
	echo $((n))
}

count_reaches()
{
	[ "$(count)" -ge "$1" ]
}

spool_reaches()
{
	[ "$(stat -c %s trace.dat.spool 2>/dev/null || echo 0)" -ge "$1" ]
}

victim_pid()
{
	pgrep -P "$1" -x victim
}

is_gone()
{
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

# whole NAME LEAST: the file holds the events 0, 1, 2 ... without a gap, at least so many.
whole()
{
	local got

	got=$("$RECORDER" report trace.dat | awk '/ seq: / {
		n = $NF; sub(/number=/, "", n); if (n + 0 != next_number) bad++; next_number++ }
		END { print bad + 0, next_number + 0 }')
	is "$1: no gap, no repetition" "${got% *}" 0
	ok "$1: what was committed is in the file (${got#* } of $2)" test "${got#* }" -ge "$2"
	"$RECORDER" report trace.dat >text
	trace-cmd report trace.dat >text2 2>/dev/null
	ok "$1: trace-cmd prints the same" cmp text text2
	rm -f text text2
}

# ---- the program

rm -f count
"$RECORDER" record -b 131072 "$victim" count 2000000 2>err &
recorder=$!
ok "the program writes" wait_until count_reaches 200000
kill -KILL "$(victim_pid $recorder)"
status=0
wait $recorder || status=$?
is "the status says that SIGKILL ended the program" "$status" 137
like "the summary of a killed program" "$(cat err)" "recorded [0-9]+ events from 1 process, 1 thread; 0 lost"
whole "killed program" "$(count)"
is "nothing but the file is left" "$(echo *)" "count err run trace.dat"
is "no session is left" "$(ls "$RECORDER_DIR")" ""

# ---- the recorder

rm -f count trace.dat
"$RECORDER" record -b 131072 "$victim" count 2000000 2>err &
recorder=$!
ok "there is a spool" wait_until spool_reaches 1000000
pid=$(victim_pid $recorder)
kill -KILL $recorder
wait $recorder 2>/dev/null
before=$(count)
ok "the program goes on without its recorder" wait_until count_reaches $((before + 1))
ok "there is no file yet" test ! -e trace.dat
cp trace.dat.spool first.spool
fails "another recording does not take the spool's place" "$RECORDER" record true
like "it says what to do" "$err" "trace.dat.spool' is left from a recorder that was killed; 'recorder recover"
ok "the spool is as it was" cmp trace.dat.spool first.spool
ok "the program comes to its end" wait_until count_reaches 2000000
ok "its spool and its lanes are recovered while it lives" "$RECORDER" recover
like "the summary of a recovery" "$err" "recovered 2000000 events from 1 process, 1 thread; 0 lost"
whole "killed recorder" 2000000
ok "the program still lives" kill -0 "$pid"
is "the spool is gone" "$(echo *)" "count err first.spool run trace.dat"
like "its buffer is not" "$(echo run/session-*/*.rec)" "^run/session-[A-Za-z0-9]*/$pid-[0-9]*.rec$"
kill -KILL "$pid"
wait_until is_gone "$pid"
ok "until it is dead and cleaned away" "$RECORDER" clean
is "then it is" "$(ls run)" ""

# What was drained is all there is: cut off anywhere, the spool gives the events up to there.
size=$(stat -c %s first.spool)
last=0
for cut in 8191 8192 $((size / 3)) $((size / 2)) $((size - 4097)) $((size - 1)) "$size"; do
	head -c "$cut" first.spool >cut.spool
	rm -f cut
	run "$RECORDER" recover cut.spool
	case $cut in
	8191 | 8192)
		is "a spool of $cut bytes is refused in one line" "$status $(wc -l <<<"$err")" "1 1"
		rm -f cut.spool
		;;
	*)
		is "a spool cut off at $cut is recovered" "$status" 0
		n=$("$RECORDER" report cut | awk '/ seq: / { n = $NF; sub(/number=/, "", n)
			if (n + 0 != k++) bad++ } END { print bad ? "gap" : k + 0 }')
		ok "its $n events are in order, and no fewer than those of a shorter one ($last)" test "$n" -ge "$last"
		last=$n
		;;
	esac
done

# ---- both

rm -f count trace.dat
"$RECORDER" record -b 131072 "$victim" count 2000000 2>err &
recorder=$!
ok "there is a spool again" wait_until spool_reaches 1000000
pid=$(victim_pid $recorder)
kill -KILL $recorder "$pid"
wait $recorder 2>/dev/null
n=$(count)
session=$(echo "$RECORDER_DIR"/session-*)
ok "from the session's directory" "$RECORDER" recover "$session"
whole "both killed" "$n"
is "all is gone again" "$(echo *.spool run/*)" "first.spool run/*"

# ---- a recovery that is killed

rm -f count trace.dat
"$RECORDER" record -b 131072 "$victim" count 2000000 2>err &
recorder=$!
ok "there is a spool once more" wait_until spool_reaches 1000000
pid=$(victim_pid $recorder)
kill -KILL $recorder "$pid"
wait $recorder 2>/dev/null
n=$(count)
"$RECORDER" recover &
kill -KILL $!
wait $! 2>/dev/null
ok "a second recovery finishes what a first has begun" "$RECORDER" recover
whole "killed recovery" "$n"

# ---- a program that nobody recorded

rm -f count trace.dat
RECORDER_ENABLE='*' RECORDER_BUFFER_KB=131072 RECORDER_MAX_KB=1048576 "$victim" count 100000 &
pid=$!
ok "a program writes by itself" wait_until count_reaches 100000
kill -KILL $pid
wait $pid 2>/dev/null
buffer=$(echo "$RECORDER_DIR"/*.rec)
ok "its buffer outlives it" test -f "$buffer"
ok "the buffer is recovered" "$RECORDER" recover -o trace.dat "$buffer"
whole "dead program" 100000
ok "the buffer is gone" test ! -e "$buffer"

# ---- a recording that goes on

rm -f count trace.dat
"$RECORDER" record -b 131072 "$victim" count 2000000 2>err &
recorder=$!
ok "a recording goes on" wait_until spool_reaches 1000000
pid=$(victim_pid $recorder)
fails "its spool is not recovered" "$RECORDER" recover -o other.dat
like "why not" "$err" "belongs to a recording that is still going on"
fails "its session is not recovered" "$RECORDER" recover -o other.dat "$RECORDER_DIR"/session-*
fails "its buffer is not recovered" "$RECORDER" recover -o other.dat "$(echo "$RECORDER_DIR"/session-*/*.rec)"
fails "its file is not recorded to" "$RECORDER" record true
like "why not that" "$err" "'trace.dat' is being written by another recorder"
ok "no other file was written" test ! -e other.dat -a ! -e other.dat.spool
kill -TERM $recorder
status=0
wait $recorder || status=$?
is "SIGTERM ends the recording" "$status" 143
like "the file is written" "$(cat err)" "recorded [0-9]+ events from 1 process, 1 thread; 0 lost"
ok "and the program is left alone" kill -0 "$pid"
whole "stopped recording" 1
kill -KILL "$pid"

done_testing
