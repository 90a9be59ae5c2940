#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Exhausted memory, /dev/shm and disk; Ctrl-C; programs that outlive the recording.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"
. "$top_srcdir/tests/told.sh"

producer=$top_builddir/tests/programs/producer
cd "$TMP" || exit 1

in_file()
{
	"$RECORDER" report "$1" | grep -cE ' (count|seq): '
}

# numbers_of [-u] FILE...: how many numbers are not one more than the one before, and how many numbers there are
numbers_of()
{
	local same=

	[ "$1" != -u ] || { same=-u; shift; }
	for file; do
		"$RECORDER" report "$file"
	done | sed -n 's/.*number=//p' | sort -n $same | awk '$1 != n++ { bad++ } END { print bad + 0, n + 0 }'
}

# ---- the limit of a process: room for one lane, four threads

export RECORDER_MAX_KB=1200
ok "four threads with memory for one" "$RECORDER" record "$producer" 4 1000000
unset RECORDER_MAX_KB
is "each event is recorded or lost" "$(($(events_in "$err") + $(lost_in "$err")))" 4000000
is "those recorded are in the file" "$(in_file trace.dat)" "$(events_in "$err")"
like "the reason is reported" "$err" "[1-9][0-9]* of threads without a lane \\(the program's memory for lanes is used up"

# ---- a full file system

if [ "$(id -u)" != 0 ] || ! mkdir small || ! mount -t tmpfs -o size=3m none small; then
	skip "full file systems" "only root can mount a small one"
else
	tap_unmount()
	{
		umount -l "$TMP/small"
		umount -l "$TMP/tiny" 2>/dev/null
		tap_exit
	}
	trap tap_unmount EXIT
	mkdir -m 0700 small/run
	export RECORDER_DIR=$TMP/small/run
	ok "four threads with room for two" "$RECORDER" record "$producer" 4 100000
	is "each event is recorded or lost in little room" "$(($(events_in "$err") + $(lost_in "$err")))" 400000
	dd if=/dev/zero of=small/fill bs=4096 status=none 2>/dev/null
	fails "a program without room for its buffer is not recorded" "$RECORDER" record "$producer" 4 1000
	is "it runs all the same" "$out" "produced 4000"
	like "the recorder reports why there is nothing" "$err" "no room for buffers in '$TMP/small/run/session-"
	rm small/fill
	export RECORDER_DIR=$TMP/run

	# The output's disk is full. A single thread writes, so the numbers in the file are 0, 1, 2 ...
	run "$RECORDER" record -b 65536 -o small/full.dat "$producer" 1 1000000
	is "a full disk is a failure" "$status" 1
	is "it is reported on one line" "$(wc -l <<<"$err")" 1
	like "and what to do" "$err" "cannot write '.*full.dat.spool': No space left on device; .*'recorder recover -o FILE .*full.dat.spool', with FILE on another disk, makes"
	is "the program ran to its end" "$out" "produced 1000000"
	run "$RECORDER" recover small/full.dat.spool
	is "the file system has no room for the file besides the spool" "$status" 1
	ok "the spool is still there" test -s small/full.dat.spool
	# Another disk with as little room: the spool stays, and no copy of it is left.
	mkdir tiny
	mount -t tmpfs -o size=64k none tiny
	run "$RECORDER" recover -o tiny/full.dat small/full.dat.spool
	is "another disk without room" "$status" 1
	like "is named" "$err" "^recorder recover: cannot write 'tiny/full.dat': No space left on device; 'recorder recover -o FILE .*/small/full.dat.spool', with FILE on another disk, tries again$"
	is "no copy of the spool is left there" "$(ls -A tiny)" ""
	umount tiny
	if strace -qq -o trace -e inject=write:delay_enter=1:when=1 true 2>/dev/null; then
		run strace -qq -o trace -P "$PWD/one.dat.spool" -e inject=pwritev:signal=KILL:when=20 \
			"$RECORDER" recover -o one.dat small/full.dat.spool
		is "a recovery killed while it copies the spool to another disk" "$status" 137
		ok "leaves a part of the copy" test -s one.dat.spool
		cp one.dat.spool part.dat.spool
		fails "which cannot be recovered" "$RECORDER" recover part.dat.spool
		like "the reason is reported" "$err" "^recorder recover: '.*/part.dat.spool' is removed: it is an incomplete copy of another spool"
		is "it is removed" "$(ls part.*)" ""
	else
		skip "a recovery killed while it copies the spool" "strace is not installed, or cannot trace here"
	fi
	ok "there is room elsewhere" "$RECORDER" recover -o one.dat small/full.dat.spool
	like "nothing was lost" "$err" "^recovered 1000000 events from 1 process, 1 thread; 0 lost"
	is "every event is in the file, once" "$(numbers_of one.dat)" "0 1000000"
	is "no spool and no buffer is left" "$(ls small run) $(ls ./*.spool 2>/dev/null)" "$(printf 'run:\n\nsmall:\nrun') "

	# No copy of the spool can be made: a file is in its place.
	run "$RECORDER" record -b 65536 -o small/full.dat "$producer" 1 1000000
	is "a full disk once more" "$status" 1
	echo mine >one.dat.spool
	fails "a spool that cannot be copied" "$RECORDER" recover -o one.dat small/full.dat.spool
	like "the reason is reported" "$err" "^recorder recover: '.*/one.dat.spool' exists already; remove it or choose another output"
	like "and that the file is not complete" "$err" \
		"the file lacks the rest of the buffers, for which '.*full.dat.spool' has no room: 'recorder recover -o FILE (.*/session-[A-Za-z0-9]*)' makes another file of it"
	is "the other file is as it was" "$(<one.dat.spool)" mine
	rm one.dat.spool
	first=$(events_in "$err")
	ok "one command" "$RECORDER" recover -o two.dat "${BASH_REMATCH[1]}"
	# No event is missing between the two files; at most one page is in both.
	is "together they have all events" "$(numbers_of -u one.dat two.dat)" "0 1000000"
	ok "and at most one page's twice" test "$((first + $(events_in "$err")))" -le 1000300
	is "nothing is left" "$(ls small run)" "$(printf 'run:\n\nsmall:\nrun')"

	# The same with --all: only the output's disk has room.
	run "$RECORDER" record -b 65536 -o small/full.dat "$producer" 1 1000000
	is "a full disk" "$status" 1
	fails "recover alone" "$RECORDER" recover
	like "lists the buffer" "$out" " producer +$RECORDER_DIR/session-[^ ]*\\.rec($|"$'\n'")"
	like "and the spool that it belongs to" "$out" " \\(recording\\) +$PWD/small/full.dat.spool$"
	ok "is no obstacle for --all, if the output's disk has room" "$RECORDER" recover --all -o all.dat
	like "nothing was lost" "$err" "^recovered 1000000 events from 1 process, 1 thread; 0 lost"
	is "every event is in the file, once" "$(numbers_of all.dat)" "0 1000000"
	is "no spool and no buffer is left" "$(ls small run) $(ls ./*.spool 2>/dev/null)" "$(printf 'run:\n\nsmall:\nrun') "

	# A command that runs on after the error.
	# shellcheck disable=SC2016
	"$RECORDER" record -b 65536 -o small/long.dat sh -c '"$0" 1 1000000; until [ -e go ]; do sleep 0.1; done' \
		"$producer" >out 2>err &
	recorder=$!
	ok "a full disk is reported while the command runs" wait_until grep -q 'No space left' err
	touch go
	wait $recorder
	is "the status" $? 1
	like "what to do" "$(<err)" \
		"^recorder record: cannot write '.*long.dat.spool': No space left on device; 'sh' keeps running, and its events stay in its lanes; once these are full, events are lost; .*'recorder recover -o FILE .*long.dat.spool', with FILE on another disk, makes"
	is "the line is not repeated at the end" "$(wc -l <err)" 1
	is "the command ran to its end" "$(<out)" "produced 1000000"
	ok "what was recorded is recovered" "$RECORDER" recover -q -o long.dat small/long.dat.spool
	is "all of it" "$(numbers_of long.dat)" "0 1000000"
	is "nothing is left of it" "$(ls small run)" "$(printf 'run:\n\nsmall:\nrun')"
	rm -f go
	trap tap_exit EXIT
	umount small
fi

# ---- Ctrl-C: SIGINT to the whole process group

rm -f count trace.dat
env --default-signal=INT setsid "$RECORDER" record -b 65536 "$victim" count 1000000000000 2>err &
recorder=$!
ok "a program runs at the terminal" wait_until has_size trace.dat.spool 1000000
kill -INT -- -$recorder
status=0
wait $recorder || status=$?
err=$(cat err)
is "SIGINT ends the program and the recording" "$status" 130
like "the file is written" "$err" "recorded [1-9][0-9]* events from 1 process, 1 thread; 0 lost"
is "the file has all of it" "$(in_file trace.dat)" "$(events_in "$err")"

rm -f count trace.dat
env --default-signal=INT setsid "$RECORDER" record -b 65536 sh -c 'trap "" INT; exec "$@"' - "$victim" count 1000000000000 2>err &
recorder=$!
ok "a program ignores SIGINT" wait_until has_size trace.dat.spool 1000000
pid=$(pgrep -P $recorder -x victim)
kill -INT -- -$recorder
ok "the recording continues after a first one" wait_until has_size trace.dat.spool 4000000
kill -INT -- -$recorder
status=0
wait $recorder || status=$?
err=$(cat err)
is "a second one ends it" "$status" 130
like "it reports that" "$err" "stopped by Interrupt, 'sh' keeps running, unrecorded"
is "this file has all of it, too" "$(in_file trace.dat)" "$(events_in "$err")"
ok "the program lives" kill -0 "$pid"
kill -KILL "$pid"
# It may have been within an event when its events were switched off.
rm -f "$RECORDER_DIR/$pid"-*

# ---- no descriptor left at the end of a recording

rm -f count trace.dat
"$RECORDER" record -b 65536 "$victim" count 100000 2>err &
recorder=$!
wait_until has_written count 100000
prlimit --pid $recorder --nofile=3
pkill -P $recorder
wait $recorder
is "that is a failure" "$?" 143
like "and is reported as such" "$(cat err)" "cannot continue: Too many open files; what was recorded is in '.*spool': 'recorder recover"
ok "nothing is lost by it" "$RECORDER" recover trace.dat.spool
is "it is all there" "$(events_in "$err")" 100000

# ---- signal dispositions that a command inherits

ignored='grep SigIgn /proc/self/status'
for how in default ignore; do
	run env --$how-signal=XFSZ $ignored
	expected=$out
	run env --$how-signal=XFSZ "$RECORDER" record -o none.dat $ignored
	is "SIGXFSZ: $how: the command has it, too" "$out" "$expected"
done

# ---- programs that outlive the recording

rm -f count trace.dat
ok "the command ends, its child does not" "$RECORDER" record -b 65536 sh -c '
	"$0" count 100000 & echo $! >pid
	(until [ -e go ]; do sleep 0.1; done; "$1" 1 10 >after; "$1" 1 10 fork 2 >>after; touch done) &
	until [ "$(od -A n -t u8 -N 8 count 2>/dev/null | tr -d " ")" = 100000 ]; do sleep 0.1; done' "$victim" "$producer"
is "what the child wrote until then is in the file" "$(events_in "$err") $(in_file trace.dat)" "100000 100000"
ok "the child lives" kill -0 "$(cat pid)"
touch go
ok "a program starts after the recording" wait_until test -e done
is "it does its work" "$(cat after)" "$(printf 'produced 10\nproduced 20')"
like "the buffer directory has only the child's buffer" "$(ls "$RECORDER_DIR")" "^$(cat pid)-[0-9]+\\.rec$"
ok "the child is found" "$RECORDER" ps -P "$(cat pid)"
like "its events are off" "$out" "$(cat pid) +[^ ]+ +0/1"
kill -KILL "$(cat pid)"

mkfifo words
exec 7<>words
"$RECORDER" record -q -u 'kv:*' -u net:idle --rate 5 -o first.dat "$told" <words >answers 7>&- &
recorder=$!
wait_until is_attached first.dat.spool "$told" 2
pid=$(pgrep -P $recorder)
kill -TERM $recorder
wait $recorder
echo go >&7
ok "the command itself continues" wait_until grep -q go answers
ok "and is found" "$RECORDER" ps -P "$pid"
like "its events are off, too" "$out" "$pid +started +0/3"
"$RECORDER" record -o second.dat -P "$pid" 2>err &
recorder=$!
wait_until is_attached second.dat.spool "$told"
echo save >&7
wait_until grep -q saved answers
echo go >&7
echo end >&7
wait_until grep -q end answers
kill -INT $recorder
wait $recorder
is "it is recorded again" "$(counts second.dat)" "get 10 idle 10 put 10"
is "it finds its buffer at the new place" "$(grep saved answers)" "saved 0"
exec 7>&-
wait_until is_gone "$pid"
run "$RECORDER" ps
is "when it has ended, nothing is left of it" "$(ls "$RECORDER_DIR")" ""

# Programs that begin after the end: one forked by a program of the recording, and one that a shell starts.
mkfifo fork begin leave
exec 7<>words
# shellcheck disable=SC2016
"$RECORDER" record -q -o late.dat sh -c '"$0" wait fork heir wait leave leaf & (read -r _ <begin; exec "$1" <words) & wait' \
	"$top_builddir/tests/programs/family" "$told" >answers 2>err 7>&- &
recorder=$!
wait_until is_attached late.dat.spool programs/family
kill -TERM $recorder
wait $recorder
: >fork
ok "a child that was forked after the recording has a buffer" \
	wait_until eval '[ "$("$RECORDER" ps -P family 2>/dev/null | grep -c " 0/3 ")" = 2 ]'
: >begin
ok "and so has a program that was started after it" \
	wait_until eval '[ "$("$RECORDER" ps -P told 2>/dev/null | grep -c " 0/3 ")" = 1 ]'
exec 7>&-
: >leave
ok "nothing is left of them" wait_until eval '"$RECORDER" ps >ps 2>&1; [ -z "$(ls "$RECORDER_DIR")" ]'

# ---- a terminal

if command -v script >/dev/null; then
	script -qec "$RECORDER record -b 65536 -o tty.dat $producer 2 3000000" /dev/null >typescript
	like "progress is shown on a terminal" "$(tr '\r' '\n' <typescript)" "(recording: [0-9]+ events, |weaving: [0-9]+%)"
	script -qec "$RECORDER record -q -b 65536 -o tty.dat $producer 2 1000" /dev/null >typescript
	is "and nothing with -q" "$(tr -d '\r' <typescript)" "produced 2000"
else
	skip "progress on a terminal" "script is not installed"
fi

done_testing
