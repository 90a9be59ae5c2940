#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record, snapshot and recover with -o -: the file goes to standard output, and nothing else does. What commands print into a full disk, or to
# a reader that goes away.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/told.sh"
cd "$TMP" || exit 1
mkdir tmp
export TMPDIR=$TMP/tmp

status=0
echo go | "$RECORDER" record -o - "$told" 2>err | cat >out.dat || status=$?
is "to a pipe" "$status" 0
is "the events" "$(counts out.dat)" "get 10 idle 10 put 10"
ok "a file that can be read" "$RECORDER" dump out.dat
forget_others err
is "what the command prints goes elsewhere" "$(head -n 1 err)" go
like "and the summary" "$(<err)" $'recorded 30 events from 1 process, 1 thread; 0 lost\nstandard output: '
is "nothing is left" "$(ls tmp; ls -d ./-* trace.dat* 2>/dev/null)" ""
start_told
"$RECORDER" record -o - -P "$pid" >live.dat 2>err &
recorder=$!
wait_until grep -qF "$told" -r tmp
tell go
kill -INT $recorder
wait $recorder
is "of a running program, to a file" "$? $(counts live.dat)" "0 get 10 idle 10 put 10"
end_told
"$RECORDER" record -o - true >none.dat 2>err
is "nothing to write" "$? $(stat -c %s none.dat)" "1 0"
like "is reported" "$(<err)" "nothing was recorded, 'standard output' is not written"
is "nothing is left, again" "$(ls tmp)" ""
run env TMPDIR="/$(printf 'x%.0s' {1..3000})" "$RECORDER" record -o - true
is "a directory with a name that is too long: status" "$status" 1
like "the reason is reported" "$err" "cannot make a directory in '/x+': File name too long$"
echo go | "$RECORDER" record -o - "$told" 2>err >/dev/full
is "no room: status" $? 1
like "the message names the file" "$(<err)" "cannot write to standard output: No space left on device; the file is '$TMP/tmp/recorder-[^/]*/trace.dat'"
is "the file is there" "$(counts tmp/recorder-*/trace.dat)" "get 10 idle 10 put 10"
is "and nothing else" "$(ls tmp/recorder-* run)" "$(printf 'run:\n\n%s:\ntrace.dat' tmp/recorder-*)"
rm -r tmp/recorder-*
# A pipe without a reader: a write to it fails.
mkfifo pipe
exec {reader}<>pipe
exec {writer}>pipe
exec {reader}<&-
echo go | "$RECORDER" record -o - "$told" 2>err >&"$writer"
is "the reader goes away: status" $? 1
like "the message names the file, too" "$(<err)" "standard output: Broken pipe; the file is '$TMP/tmp/recorder-[^/]*/trace.dat'"
is "which is there, and nothing else" "$(counts tmp/recorder-*/trace.dat) $(ls tmp/recorder-* run)" \
	"get 10 idle 10 put 10 $(printf 'run:\n\n%s:\ntrace.dat' tmp/recorder-*)"
echo go | "$RECORDER" record -o next.dat "$told" 2>err >/dev/null
unlike "the next recording finds nothing left" "$(<err)" "is left from an unfinished recording"
rm -r tmp/recorder-*
run script -qec "'$RECORDER' record -o - true" /dev/null
like "a terminal is refused" "$out" "standard output is a terminal \\(-o -\\): redirect it"
is "and nothing is left" "$(ls tmp)" ""

start_told
ok "events are on" "$RECORDER" enable -P "$pid" '*'
tell go
status=0
"$RECORDER" snapshot -P "$pid" -o - 2>err | cat >copy.dat || status=$?
is "a snapshot" "$status $(counts copy.dat)" "0 get 10 idle 10 put 10"
like "its summary" "$(<err)" $'copied 30 events from 1 process, 1 thread; 0 lost\n'
run script -qec "'$RECORDER' snapshot -P $pid -o -" /dev/null
like "a terminal is refused, too" "$out" "standard output is a terminal \\(-o -\\): redirect it"
"$RECORDER" snapshot -P "$pid" -o - 2>err >/dev/full
is "no room for a snapshot" "$? $(counts tmp/recorder-*/trace.dat)" "1 get 10 idle 10 put 10"
rm -r tmp/recorder-*
env --default-signal=PIPE "$RECORDER" snapshot -P "$pid" -o - 2>err >&"$writer"
is "no reader of a snapshot" "$? $(counts tmp/recorder-*/trace.dat)" "1 get 10 idle 10 put 10"
like "the message names its file" "$(<err)" "standard output: Broken pipe; the file is '$TMP/tmp/recorder-[^/]*/trace.dat'"
rm -rf tmp/recorder-*
kill -KILL "$pid"
wait_until is_gone "$pid"
"$RECORDER" recover -o - "$pid" 2>err >/dev/full
is "no room for a recovery" "$? $(counts tmp/recorder-*/trace.dat)" "1 get 10 idle 10 put 10"
rm tmp/recorder-*/trace.dat
status=0
"$RECORDER" recover -o - tmp/recorder-*/trace.dat.spool 2>err | cat >left.dat || status=$?
is "a recovery" "$status $(counts left.dat)" "0 get 10 idle 10 put 10"
is "no file has the name -" "$(ls -d ./-* 2>/dev/null)" ""
rmdir tmp/recorder-* # the directory that was made because /dev/full has no room
is "nothing is left of them" "$(ls tmp)" ""
start_told
ok "events are on, again" "$RECORDER" enable -P "$pid" '*'
tell go
kill -KILL "$pid"
wait_until is_gone "$pid"
env --default-signal=PIPE "$RECORDER" recover -o - "$pid" 2>err >&"$writer"
is "no reader of a recovery" "$? $(counts tmp/recorder-*/trace.dat)" "1 get 10 idle 10 put 10"
like "the message names its file, too" "$(<err)" "standard output: Broken pipe; the file is '$TMP/tmp/recorder-[^/]*/trace.dat'"
exec {writer}>&-
rm -rf tmp/recorder-*

# ---- what is printed of a file

ok "a trace" "$RECORDER" record -q -o trace.dat "$top_builddir/tests/programs/producer" 2 1000
run_lines()
{
	local line words

	while read -r line; do
		read -ra words <<<"$line"
		"$@" "${words[@]}"
	done <<-'END'
		report trace.dat
		report --json trace.dat
		report --summary trace.dat
		hist -e test:count -k number trace.dat
		hist -e test:count -v number trace.dat
		latency trace.dat test:count test:count -k number
		top trace.dat
		profile trace.dat
		assert trace.dat lost==0
		sql trace.dat VALUES(1)
		dump trace.dat
		check trace.dat
	END
}
to_full_disk()
{
	local status=0

	"$RECORDER" "$@" >/dev/full 2>err </dev/null || status=$?
	forget_others err
	[ "$status" = 1 ] || echo "$*: status $status"
	grep -qE '^recorder[a-z ]*: (.*: )?cannot write' err && [ "$(wc -l <err)" = 1 ] || echo "$*: $(<err)"
}
is "a full disk is reported on one line" "$(run_lines to_full_disk)" ""
# The reader has gone when the first byte is written.
to_nobody()
{
	local status=0

	exec {pipe}> >(:)
	wait $!
	"$RECORDER" "$@" >&"$pipe" 2>err </dev/null || status=$?
	exec {pipe}>&-
	forget_others err
	[[ $status = 0 || $status = 141 ]] || echo "$*: status $status"
	[ ! -s err ] || echo "$*: $(<err)"
}
is "a reader that is gone is no failure" "$(run_lines to_nobody)" ""

done_testing
