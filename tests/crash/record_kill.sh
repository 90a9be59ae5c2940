#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SIGKILL of the program, of the recorder, of both: all that was committed is in the file, and the program is not
# affected.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"
. "$top_srcdir/tests/told.sh"
cd "$TMP" || exit 1
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

victim_pid()
{
	pgrep -P "$1" -x victim
}

# recording NAME: starts one that runs until it is ended, and waits until its spool has some megabytes of its victim's
# events; $recorder and $pid
recording()
{
	rm -f count trace.dat
	"$RECORDER" record -b 131072 "$victim" count 400000 2>err &
	recorder=$!
	ok "$1" wait_until has_size trace.dat.spool 1000000
	pid=$(victim_pid $recorder)
}

# whole NAME LEAST: the file holds the events 0, 1, 2 ... without a gap, at least LEAST of them.
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
"$RECORDER" record -b 131072 "$victim" count 400000 2>err &
recorder=$!
ok "the program writes" wait_until has_written count 200000
kill -KILL "$(victim_pid $recorder)"
status=0
wait $recorder || status=$?
is "the status shows that SIGKILL ended the program" "$status" 137
like "the summary after a killed program" "$(cat err)" "recorded [0-9]+ events from 1 process, 1 thread; 0 lost"
whole "killed program" "$(written count)"
is "only the file is left" "$(echo *)" "count err run trace.dat"
is "no session is left" "$(ls "$RECORDER_DIR")" ""

# ---- the recorder

recording "there is a spool"
end $recorder
ok "there is no file yet" test ! -e trace.dat
cp trace.dat.spool first.spool
fails "another recording does not replace the spool" "$RECORDER" record true
like "the message shows what to do" "$err" "trace.dat.spool' is left from an unfinished recording; 'recorder recover .*trace.dat.spool' makes"
ok "the spool is as it was" cmp trace.dat.spool first.spool
ok "the program runs to its end without its recorder" wait_until has_written count 400000
ok "its spool and its lanes are recovered while it lives" "$RECORDER" recover
like "the summary of a recovery" "$err" "recovered 400000 events from 1 process, 1 thread; 0 lost"
whole "killed recorder" 400000
ok "the program still lives" kill -0 "$pid"
is "the spool is gone" "$(echo *)" "count err first.spool run trace.dat"
like "its buffer is not" "$(echo run/session-*/*.rec)" "^run/session-[A-Za-z0-9]*/$pid-[0-9]*.rec$"
end "$pid"
ok "until it has ended and is removed by clean" "$RECORDER" clean
is "now its buffer is gone" "$(ls run)" ""

# The spool holds only what was drained: cut off anywhere, it gives the events up to there.
size=$(stat -c %s first.spool)
last=0
for cut in 8191 8192 $((size / 3)) $((size / 2)) $((size - 4097)) $((size - 1)) "$size"; do
	head -c "$cut" first.spool >cut.spool
	rm -f cut
	run "$RECORDER" recover cut.spool
	case $cut in
	8191 | 8192)
		is "a spool of $cut bytes is refused with one line" "$status $(wc -l <<<"$err")" "1 1"
		rm -f cut.spool
		;;
	*)
		# The stage is missing here, because the recovery above has removed it.
		is "a spool cut off at $cut is recovered, and what it lacks is reported" \
			"$status $(grep -c "^recorder recover: cannot find '.*', whose pages '.*cut.spool' lacks" <<<"$err")" "1 1"
		n=$("$RECORDER" report cut | awk '/ seq: / { n = $NF; sub(/number=/, "", n)
			if (n + 0 != k++) bad++ } END { print bad ? "gap" : k + 0 }')
		ok "its $n events are in order, and no fewer than those of a shorter one ($last)" test "$n" -ge "$last"
		last=$n
		;;
	esac
done
rm -f cut.spool

# ---- the lanes of a program that has grown

# made_lanes: the number of the program's lanes that are made
made_lanes()
{
	"$RECORDER" stat -P "$pid" | grep -c '^lane [0-9]*,'
}

# write_thirty TIMES: that many events, this number of times
write_thirty()
{
	local i

	for ((i = 0; i < $1; i++)); do
		tell go
	done
}

rm -f trace.dat
RECORDER_BUFFER_KB=64 start_told
"$RECORDER" record -q -P "$pid" &
recorder=$!
ok "a program is being recorded" wait_until is_attached trace.dat.spool "$told"
# Its thread may grow from the first round on in which pages are read.
size=$(stat -c %s trace.dat.spool)
write_thirty 100
ok "its pages are read" wait_until has_size trace.dat.spool $((size + 8192))
kill -STOP $recorder
write_thirty 400
made=$(made_lanes)
ok "while its recorder does not read, its thread takes further lanes ($made)" test "$made" -gt 1
kill -CONT $recorder
ok "their pages are read" wait_until has_size trace.dat.spool 150000
end $recorder
# The header's grow_until, at this offset, is set to the past, so no reader permits growth any more.
printf '\1\0\0\0\0\0\0\0' | dd of="$(echo "$RECORDER_DIR"/*.rec)" bs=1 seek=2616 conv=notrunc status=none
write_thirty 200
is "the program keeps its lanes until their last events are read" "$(made_lanes)" "$made"
ok "which a recovery does" "$RECORDER" recover
is "every event that was not overwritten is in the file" \
	"$(($("$RECORDER" report trace.dat | grep -c number=) + $(lost_in "$err")))" $((700 * 30))
"$RECORDER" enable -P "$pid" '*' >enabled
write_thirty 200
is "then the lanes are given up" "$(made_lanes)" 1
is "as stat shows" "$("$RECORDER" stat -P "$pid" | grep -c '^lane [0-9]*: no memory at the moment$')" $((made - 1))
end_told
ok "nothing of it is left" "$RECORDER" clean
rm -f trace.dat enabled

# ---- both

recording "there is a spool again"
end $recorder "$pid"
n=$(written count)
session=$(echo "$RECORDER_DIR"/session-*)
ok "from the session's directory" "$RECORDER" recover "$session"
whole "both killed" "$n"
is "all is removed again" "$(echo *.spool run/*)" "first.spool run/*"

if strace -qq -o calls -e inject=write:delay_enter=1:when=1 true 2>/dev/null; then
	recording "and one to recover while it is listed"
	end $recorder "$pid"
	n=$(written count)
	session=$(echo "$RECORDER_DIR"/session-*)
	ok "another command has the session locked for a moment" \
		strace -qq -o calls -P "$session" -e trace=flock -e inject=flock:error=EAGAIN:when=1..3 "$RECORDER" recover "$session"
	is "so it was tried again" "$(grep -c INJECTED calls)" 3
	whole "locked session" "$n"
	rm calls
else
	skip "another command has the session locked" "strace cannot make calls fail here"
fi

# ---- a recovery that is killed

# While it completes the spool, while it weaves the file, before the file has its name, and before the spool is removed.
for call in pwritev:when=2 pwrite64:when=2 rename:when=1 unlink:when=1; do
	name="a recovery killed at $call"
	if ! strace -qq -o trace -e inject=write:delay_enter=1:when=1 true 2>/dev/null; then
		skip "$name" "strace is not installed, or cannot trace here"
		continue
	fi
	recording "there is a spool once more"
	end $recorder "$pid"
	n=$(written count)
	run strace -qq -o trace -e trace="${call%:*}" -e inject="${call%:*}:signal=KILL:${call#*:}" "$RECORDER" recover
	is "$name" "$status" 137
	ok "$name: a second one finishes what it has begun" "$RECORDER" recover
	whole "$name" "$n"
	rm -f .trace.dat.*
done

# ---- a program that was not recorded

rm -f count trace.dat
RECORDER_ENABLE='*' RECORDER_BUFFER_KB=16384 begin_to count 100000
end $pid
buffer=$(echo "$RECORDER_DIR"/*.rec)
ok "the program's buffer remains after its end" test -f "$buffer"
ok "the buffer is recovered" "$RECORDER" recover -o trace.dat "$buffer"
whole "dead program" 100000
ok "the buffer is gone" test ! -e "$buffer"

# ---- a recording that is still running

recording "a recording is running"
fails "its spool is not recovered" "$RECORDER" recover -o other.dat
like "the message has the reason" "$err" "belongs to a recording that is still running"
fails "its session is not recovered" "$RECORDER" recover -o other.dat "$RECORDER_DIR"/session-*
fails "its buffer is not recovered" "$RECORDER" recover -o other.dat "$(echo "$RECORDER_DIR"/session-*/*.rec)"
fails "its file cannot be recorded to" "$RECORDER" record true
like "the message has the reason" "$err" "'trace.dat' is being written by another recorder"
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
