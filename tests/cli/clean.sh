#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder clean: lists and removes what dead programs and recorders left, and nothing that may be alive. And the quota that
# programs enforce themselves.

. "$top_srcdir/tests/tap.sh"

mortal=$top_builddir/tests/programs/mortal
cd "$TMP" || exit 1

# begin [NAME=VALUE]...: starts a program that writes a thousand events and waits; its pid in $pid.
begin()
{
	rm -f ready
	env RECORDER_ENABLE='*' "$@" "$mortal" 1000 1 wait >ready 2>/dev/null &
	pid=$!
	wait_until grep -q ready ready
}

die()
{
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}

left()
{
	ls "$RECORDER_DIR" | sed 's/-.*//' | sort -n | tr '\n' ' '
}

# in_order PID...: as `left` prints them
in_order()
{
	printf '%s\n' "$@" | sort -n | tr '\n' ' '
}

ok "nothing to clean" "$RECORDER" clean
is "is reported" "$out$err" "nothing is left"

# ---- buffers

begin
die
one=$pid
begin
die
two=$pid
begin
living=$pid
buffer=$(echo "$RECORDER_DIR/$one"-*.rec)
# The age is that of the last event, not that of the file.
touch -d '3 hours ago' "$RECORDER_DIR/$two"-*.rec
size=$(($(stat -c %b "$buffer") * 512))
ok "a list" "$RECORDER" clean -n
is "has a head and a line each" "$(wc -l <<<"$out")" 3
like "the oldest first, with age and size" "$(sed -n 2p <<<"$out")" \
	"^ *$one +[0-9]+ s +$(awk "BEGIN { printf \"%.1f\", $size / 1e6 }") MB  mortal +$buffer$"
like "the other one" "$(sed -n 3p <<<"$out")" "^ *$two +[0-9]+ s +[0-9.]+ MB  mortal +$RECORDER_DIR/$two-"
like "the sum" "$err" "^2 buffers, 0 recordings: [0-9.]+ MB could be freed$"
is "nothing was removed" "$(left)" "$(in_order "$one" "$two" "$living")"
# The buffer of a program that wrote no event is of no use.
begin RECORDER_ENABLE=
die
ok "one without an event" test -e "$RECORDER_DIR/$pid"-*.rec
pid=$living
ok "ps shows the living one" "$RECORDER" ps
like "and what the dead ones left" "$err" "^dead programs left 2 buffers, [0-9.]+ MB, the oldest [0-9]+ s old; 'recorder recover' lists them$"
is "what has no event is gone" "$(left)" "$(in_order "$one" "$two" "$living")"
ok "ps of one program" "$RECORDER" ps -P "$living"
is "shows that one alone" "$err" ""
fails "the living one by its pid" "$RECORDER" clean "$living"
like "has left nothing" "$err" "^recorder clean: process $living has left nothing$"
fails "the living one by its file" "$RECORDER" clean "$RECORDER_DIR/$living"-*.rec
like "stays" "$err" "^recorder clean: '.*/$living-.*.rec' is kept: its program or its recorder is still running"
ok "one by its pid" "$RECORDER" clean "$two"
is "is gone, the other one not" "$(left)" "$(in_order "$one" "$living")"
like "how much was freed" "$err" "^1 buffer, 0 recordings: [0-9.]+ MB freed$"
: >"$RECORDER_DIR/stage-AAAAAA"
ok "one by its file" "$RECORDER" clean "$buffer"
ok "a stage stays, because it was not named" rm "$RECORDER_DIR/stage-AAAAAA"
is "is gone" "$(left)" "$living "
cp "$top_srcdir/LICENSE" "$RECORDER_DIR/1-1.rec"
ok "a file that is not a buffer" "$RECORDER" clean
like "stays, and this is reported" "$err" "1 buffer could not be read: its program is unknown, so it is kept"
ok "is still there" cmp "$top_srcdir/LICENSE" "$RECORDER_DIR/1-1.rec"
fails "nor is it by its name" "$RECORDER" clean "$RECORDER_DIR/1-1.rec"
like "it is damaged" "$err" "it is damaged, and its program is unknown"
rm "$RECORDER_DIR/1-1.rec"

# A program that was killed while it made its buffer.
touch "$RECORDER_DIR/77-7.rec"
ok "one that may be in the making" "$RECORDER" clean
is "stays" "$(left)" "77 $living "
half=$RECORDER_DIR/$$-$(sed 's/.*) //' /proc/$$/stat | cut -d ' ' -f 20)-9.rec
touch -d '2 minutes ago' "$half"
ok "one that is old, but its program lives" "$RECORDER" clean
ok "stays" test -e "$half"
rm "$half"
touch -d '2 minutes ago' "$RECORDER_DIR/77-7.rec"
ok "one that was never finished" "$RECORDER" clean
is "is gone" "$(left)" "$living "

# ---- recordings

"$RECORDER" record -q "$mortal" 100 2 wait >going &
recorder=$!
ok "a recording is running" wait_until grep -q ready going
# The recorder makes its stage after it has started the program.
ok "its stage is there" wait_until eval 'ls -R "$RECORDER_DIR" | grep -q "^stage-"'
before=$(ls -R "$RECORDER_DIR")
ok "clean during it" "$RECORDER" clean
is "touches nothing" "$(ls -R "$RECORDER_DIR")" "$before"
session=$(echo "$RECORDER_DIR"/session-*)
fails "by its name" "$RECORDER" clean "$session"
like "it stays" "$err" "'$session' is kept: its program or its recorder is still running"
program=$(pgrep -P $recorder)
kill -KILL $recorder
wait $recorder 2>/dev/null
ok "a recording whose program is still running" "$RECORDER" clean
like "keeps the program's buffer" "$(ls "$session" | tr '\n' ' ')" "^$program-[0-9]*-1.rec spool $"
kill -KILL "$program"
wait_until is_gone "$program"
ok "a recording whose recorder and program are dead, listed" "$RECORDER" clean -n
like "with its buffers and itself" "$out" "$session/$program-.*"$'\n'" +- +[0-9]+ s +- +\\(recording\\) +$session$"
like "can be recovered" "$err" "'recorder recover $session' still makes a trace.dat of that recording"
ok "and removed" "$RECORDER" clean
like "only the living program's buffer and what the spool needs are left" "$(left)" "^(stage )?$living $"
like "the spool is kept, which is reported" "$err" "'$TMP/trace.dat.spool' is kept: make a trace.dat of it with 'recorder recover', or remove it"
ok "the spool is there" test -s trace.dat.spool
ok "and can be recovered" "$RECORDER" recover
rm -f trace.dat
ok "a file that is neither" test -d "$TMP"
fails "is refused" "$RECORDER" clean "$TMP" "$TMP/going" 4000000
is "with one line each" "$(wc -l <<<"$err")" 3
kill -KILL "$living"
wait "$living" 2>/dev/null
ok "the living one when it is dead" "$RECORDER" clean
is "is gone" "$(left)" ""

# The buffer of a dead program of a running recording, by a path that does not show the recording's directory. The recorder
# is stopped, so it has not found out yet that the program is gone.
rm going
"$RECORDER" record -q -o running.dat "$mortal" 100 2 wait >going &
recorder=$!
ok "a recording whose program dies is running" wait_until grep -q ready going
program=$(pgrep -P $recorder)
kill -STOP $recorder
kill -KILL "$program"
wait_until is_gone "$program"
session=$(echo "$RECORDER_DIR"/session-*)
buffer=$(cd "$session" && echo "$program"-*-1.rec)
fails "its buffer, named in its directory" env -C "$session" "$RECORDER" clean "$buffer"
is "stays" "$err" "recorder clean: '$buffer' is kept: its program or its recorder is still running"
fails "and named with a dot" "$RECORDER" clean "$session/./$buffer"
is "stays, too" "$err" "recorder clean: '$session/./$buffer' is kept: its program or its recorder is still running"
kill -CONT $recorder
wait $recorder 2>/dev/null
ok "the recording is complete" "$RECORDER" verify running.dat

# Of a killed recorder's programs one has ended, and one is still running.
rm going
"$RECORDER" record -q -o two.dat bash -c '"$0" 100 1 wait & exec "$0" 100 1 wait' "$mortal" >going &
recorder=$!
both_are_ready()
{
	[ "$(grep -c ready going)" = 2 ]
}
ok "a recording of two programs is running" wait_until both_are_ready
one=$(pgrep -P $recorder)
other=$(pgrep -P "$one")
kill -KILL $recorder "$one"
wait $recorder 2>/dev/null
wait_until is_gone "$one"
session=$(echo "$RECORDER_DIR"/session-*)
ok "the buffer of the one that has ended, by its file" "$RECORDER" clean "$session/$one"-*.rec
like "is removed, the other program's and the link to the spool stay" "$(ls "$session" | tr '\n' ' ')" "^$other-[0-9]*.rec spool $"
kill -KILL "$other"
wait_until is_gone "$other"
ok "the recording" "$RECORDER" recover two.dat.spool

# A recorder removes the buffer of a program that has ended, once the spool has all of it, and is killed before the file is made.
rm going
"$RECORDER" record -q -o killed.dat "$mortal" 100 2 wait >going &
recorder=$!
ok "another recording is running" wait_until grep -q ready going
program=$(pgrep -P $recorder)
kill -KILL $recorder "$program"
wait $recorder 2>/dev/null
wait_until is_gone "$program"
session=$(echo "$RECORDER_DIR"/session-*)
rm "$session"/*.rec
run "$RECORDER" record -o other.dat true
like "the next recorder reports the recording that has only its spool" "$err" "'recorder recover $session' makes a trace.dat of it"
run "$RECORDER" recover
like "recover lists it" "$out" " +- +[0-9]+ s +[0-9.]+ [kM]?B +\(recording\) +$TMP/killed.dat.spool$"
ok "and makes a file of it" "$RECORDER" recover killed.dat.spool
is "nothing is left of it" "$(left)$(ls ./*.spool 2>/dev/null)" ""

# The spool of a killed recorder is removed by hand, and its name is used again: the new spool is not the old session's.
record_killed()
{
	rm -f going
	"$RECORDER" record -q -o killed.dat "$mortal" 100 2 wait >going &
	recorder=$!
	wait_until grep -q ready going
	program=$(pgrep -P $recorder)
}
record_killed
kill -KILL $recorder "$program"
wait $recorder 2>/dev/null
wait_until is_gone "$program"
session=$(echo "$RECORDER_DIR"/session-*)
rm "$session"/*.rec killed.dat.spool
record_killed
run "$RECORDER" recover
unlike "recover does not list the new recording's spool" "$out" "killed.dat.spool"
run "$RECORDER" record -o other.dat true
unlike "no recorder reports the session, which has nothing left" "$err" "is left from an unfinished recording"
ok "and it is removed" test ! -e "$session"
rm -f killed.dat
kill -KILL "$program"
wait $recorder 2>/dev/null
ok "the new recording is complete" test -s killed.dat
ok "nothing is left of both" "$RECORDER" clean
is "nothing" "$(left)$(ls ./*.spool 2>/dev/null)" ""

# ---- more recordings than files may be open

for i in $(seq 100 199); do
	mkdir -m 700 "$RECORDER_DIR/session-$i"
done
fails "not all can be opened" bash -c 'ulimit -n 64; exec "$0" clean' "$RECORDER"
is "is reported" "$err" "recorder clean: cannot look into '$RECORDER_DIR': Too many open files"
is "and all stay" "$(ls "$RECORDER_DIR" | wc -l)" 100
ok "the limit can be raised" bash -c 'ulimit -Sn 64; exec "$0" clean' "$RECORDER"
is "all are removed" "$(left)" ""

# ---- the quota

kb()
{
	du -k "$1" | cut -f 1
}
begin
living=$pid
dead=
for i in 1 2 3 4; do
	begin
	die
	dead="$dead$pid "
	# The ages are those of the files; the living program's is the oldest.
	touch -d "$((50 - i)) minutes ago" "$RECORDER_DIR/$pid"-*.rec
done
touch -d "1 hour ago" "$RECORDER_DIR/$living"-*.rec
is "four are dead" "$(left)" "$(echo "$living $dead" | tr ' ' '\n' | sort -n | tr '\n' ' ' | sed 's/^ //')"
each=$(kb "$RECORDER_DIR/$pid"-*.rec)
begin RECORDER_DIR_MAX_KB=$((each * 4))
for old in $dead; do
	[ -e "$(echo "$RECORDER_DIR/$old"-*.rec)" ] && echo "$old"
done >remaining
is "of six that exceed the quota the two oldest dead ones are removed, or three to make room for the new one" \
	"$(tail -n 1 remaining)" "$(awk '{ print $4 }' <<<"$dead")"
like "the younger ones stay" "$(wc -l <remaining)" "^[12]$"
ok "and the living one" test -e "$(echo "$RECORDER_DIR/$living"-*.rec)"
die
begin RECORDER_DIR_MAX_KB=1
is "with a quota of nothing only the living are left" "$(left)" "$(printf '%s\n' "$living" "$pid" | sort -n | tr '\n' ' ')"
kill -KILL "$living"
wait "$living" 2>/dev/null
die

# ---- every command that looks for programs removes buffers without an event

begin
living=$pid
for command in list "list -P $living" "ps -P $living" "pages -P $living" "enable -P $living test:seq" "stat -P $living" "snapshot -P $living -o none.dat" "record -q -o none.dat true"; do
	begin RECORDER_ENABLE=
	die
	empty=$(echo "$RECORDER_DIR/$pid"-*.rec)
	ok "a program without an event, before $command" test -e "$empty"
	# shellcheck disable=SC2086
	run "$RECORDER" $command
	ok "$command: its buffer is gone" test ! -e "$empty"
done
pid=$living
die
run "$RECORDER" list
ok "one that holds events stays" test -e "$RECORDER_DIR/$pid"-*.rec

# ---- so does one in 32 starting programs, by its pid, even if no command is ever used

# start_with_pid REST: runs a program whose pid divided by 32 leaves REST
start_with_pid()
{
	python3 - "$1" "$mortal" 0 1 abort <<'END'
import os, sys
for attempt in range(100000):
    pid = os.fork()
    if not pid:
        if os.getpid() % 32 != int(sys.argv[1]):
            os._exit(99)
        os.close(1)
        os.execv(sys.argv[2], sys.argv[2:])
    status = os.waitpid(pid, 0)[1]
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) != 99:
        sys.exit()
END
}
ulimit -c 0
ok "nothing is left" "$RECORDER" clean
begin RECORDER_ENABLE=
die
empty=$(echo "$RECORDER_DIR/$pid"-*.rec)
RECORDER_ENABLE='' start_with_pid 31
ok "other starts take no time for it" test -e "$empty"
RECORDER_ENABLE='' start_with_pid 0
ok "a start that sweeps removes the buffer of a dead program without an event" test ! -e "$empty"
is "and that of the other start, but not its own" "$(left | wc -w)" 1
begin
die
RECORDER_ENABLE='' start_with_pid 0
ok "one that holds events stays" test -e "$RECORDER_DIR/$pid"-*.rec

done_testing
