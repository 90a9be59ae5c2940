#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Signals to a recorder: which of them end the recording, and what happens to those that come later.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/told.sh"
cd "$TMP" || exit 1
mkdir tmp
export TMPDIR=$TMP/tmp
mkfifo words

# begin_words NAME DISPOSITION...: starts a recording of $told, with these options of env, that reads from descriptor 7
begin_words()
{
	exec 7<>words
	env "${@:2}" "$RECORDER" record -o "$1.dat" "$told" <words >log 2>"$1.err" 7>&- &
	recorder=$!
	# The spool has the command, and then the program.
	wait_until is_attached "$1.dat.spool" "$told" 2
	child=$(pgrep -P $recorder)
}

# end_words: the program ends, and then the recorder; $status is its status
end_words()
{
	exec 7>&-
	status=0
	wait $recorder || status=$?
}

# ---- before the command was started

if ! strace -qq -o calls -e inject=getpid:signal=CONT:when=1 true 2>/dev/null; then
	skip "signals before the command was started" "strace is not installed, or cannot trace here"
else
	for signal in TERM INT; do
		: >calls
		env --default-signal=INT,TERM strace -D -qq -o calls -e trace=/^mkdir \
			-e inject=/^mkdir:signal=STOP:when=1 "$RECORDER" record -o early.dat touch started 2>err &
		recorder=$!
		ok "SIG$signal: the recording is being prepared" wait_until grep -q 'stopped by SIGSTOP' calls
		kill -$signal $recorder
		kill -CONT $recorder
		status=0
		wait $recorder || status=$?
		is "SIG$signal before the command was started: the status" "$status" $((128 + $(kill -l $signal)))
		is "the command was not started, and nothing is left" "$(ls -d started early.dat* run/* 2>/dev/null)" ""
		like "which is reported" "$(<err)" "^recorder record: stopped by [A-Z][a-z]+ before 'touch' was started$"
	done
fi

# ---- the terminal hangs up

begin_words nohup --ignore-signal=HUP
kill -HUP $recorder
echo go >&7
end_words
is "with nohup, a recording continues after SIGHUP" "$status $(counts nohup.dat)" "0 get 10 idle 10 put 10"
begin_words hangup --default-signal=HUP
echo go >&7
kill -HUP $recorder
ok "otherwise SIGHUP ends it" wait_until is_gone $recorder
like "which is reported" "$(<hangup.err)" "stopped by Hangup, '.*told' keeps running, unrecorded"
end_words
is "as is its status" "$status" 129

# Another process holds the lock of the program's buffer, by which processes take turns to switch events.
begin_words locked --default-signal=TERM
echo go >&7
exec 6<"$(echo run/session-*/"$child"-*.rec)"
ok "the lock of a program's buffer is taken" flock -n 6
kill -TERM $recorder
ok "the recording of that program ends" wait_until is_gone $recorder
like "and it is reported that the events are still on" "$(<locked.err)" \
	"1 program is still running, and some of its events could not be switched off"
exec 6<&-
end_words
is "the status is still that of the signal" "$status" 143

# ---- the command ends together with a signal to the recorder

begin_words both --default-signal=TERM
echo go >&7
kill -STOP $recorder
wait_until grep -q '^State:.T' /proc/$recorder/status
kill -TERM $recorder
kill -KILL "$child"
wait_until is_gone "$child"
kill -CONT $recorder
end_words
is "a command that has ended: its status" "$status" 137
unlike "it is not reported as running" "$(<both.err)" "keeps running"

# ---- signals after the recording, while the file is written

for signals in TERM "INT INT" "QUIT HUP TERM"; do
	mkfifo out
	exec 8<>out
	env --default-signal=INT,QUIT,TERM,HUP "$RECORDER" record -o - sh -c '"$0" 2 10000; exit 7' \
		"$top_builddir/tests/programs/producer" >&8 2>err 8>&- &
	recorder=$!
	# The pipe is full now, because nothing reads from it.
	wait_until eval 'test -e tmp/recorder-*/trace.dat'
	for signal in $signals; do
		kill -$signal $recorder
	done
	cat out >late.dat 8>&- &
	reader=$!
	exec 8>&-
	status=0
	wait $recorder || status=$?
	wait $reader
	is "$signals, when the command has ended: the status is the command's" "$status" 7
	is "$signals: the file is complete" "$("$RECORDER" report late.dat | grep -c ' count: ')" 20000
	rm out
done

done_testing
