#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --daemonize: the command returns when the recording has begun, which then continues; it reports why it could
# not begin.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/told.sh"
cd "$TMP" || exit 1

# daemonize ARGUMENT...: $daemon is the process that records
daemonize()
{
	run "$RECORDER" record --daemonize "$@"
	daemon=$(sed -nE 's/^recorder record: process ([0-9]+) records in the background;.*/\1/p' <<<"$err")
}

# ---- a running program

start_told
daemonize -o out.dat -P "$pid"
is "it returns" "$status" 0
like "and names the process and the file" "$err" "^recorder record: process [0-9]+ records .*'out.dat'$"
ok "which is running" kill -0 "$daemon"
is "in a session of its own" "$(ps -o sid= -p "$daemon" | tr -d ' ')" "$daemon"
is "without our standard input" "$(readlink /proc/"$daemon"/fd/0)" /dev/null
# The recording has begun, so the test need not wait.
tell go
ok "it is ended by a signal" kill "$daemon"
wait_until is_gone "$daemon"
is "the file has what was written after the return" "$(counts out.dat)" "get 10 idle 10 put 10"
is "nothing is left" "$(ls out.dat.* 2>/dev/null)" ""

# ---- the summary goes to a file

"$RECORDER" record --daemonize -o file.dat -P "$pid" 2>summary
daemon=$(sed -nE 's/.*process ([0-9]+) records.*/\1/p' summary)
tell go
kill "$daemon"
wait_until is_gone "$daemon"
like "the summary goes to a file" "$(<summary)" 'recorded 30 events from 1 process'

# ---- without a standard input

"$RECORDER" record --daemonize -o closed.dat -P "$pid" 2>summary <&-
daemon=$(sed -nE 's/.*process ([0-9]+) records.*/\1/p' summary)
tell go
kill "$daemon"
ok "a signal ends it also if standard input was closed" wait_until is_gone "$daemon"
is "the file has its events" "$(counts closed.dat)" "get 10 idle 10 put 10"
is_gone "$daemon" || kill -KILL "$daemon"
end_told

# ---- a command

mkfifo words
exec 7<>words
# The output is a pipe to cat, which ends only when the recorder has closed it. The command redirects its own output.
printed=$("$RECORDER" record -q --daemonize -o command.dat sh -c 'exec "$0" >/dev/null 2>&1' "$told" <words 7>&- 2>&1 | cat)
is "a command: it returns, and -q prints nothing" "$printed" ""
is "before the command has ended" "$(ls command.dat 2>/dev/null)" ""
echo go >&7
exec 7>&-
has_file()
{
	[ -e command.dat ]
}
wait_until has_file
is "the file has its events" "$(counts command.dat)" "get 10 idle 10 put 10"

# The command does not get the signal, so the recording does not wait for its end.
mkfifo more
exec 7<>more
daemonize -o interrupted.dat sh -c 'echo $$ >command.pid; exec cat more'
wait_until test -s command.pid
kill -INT "$daemon"
ok "SIGINT ends it, although the command is running" wait_until is_gone "$daemon"
ok "which continues" kill -0 "$(<command.pid)"
kill "$(<command.pid)"
exec 7>&-

# ---- it cannot begin

daemonize -o out.dat -P 999999999
is "no such program: the status" "$status" 1
daemons=$err
run "$RECORDER" record -o out.dat -P 999999999
is "the message is the usual one" "$daemons" "$err"
daemonize -o nosuch/out.dat true
is "no such directory: the status" "$status" 1
daemonize -o c.dat ./nosuch
is "no such command: the status" "$status" 127
is "nothing is left of these" "$(ls c.dat* nosuch 2>/dev/null)" ""
daemonize -o - true
is "no standard output: the status" "$status" 2
like "the message" "$err" '^recorder record: --daemonize needs a file'

# ---- a logout removes the buffer directory, and the recording continues

mkfifo late
exec 7<>late
# shellcheck disable=SC2016
"$RECORDER" record -o late.dat sh -c '"$0" <late; rm -r "$RECORDER_DIR"; exec "$0" </dev/null' "$told" >/dev/null 2>late.err 7>&- &
recorder=$!
echo go >&7
wait_until is_attached late.dat.spool "$told"
exec 7>&-
wait $recorder
is "the directory is removed: the status" $? 0
like "what the recorder had found is recorded" "$(<late.err)" "recorded 30 events from 1 process, 1 thread; 0 lost"
like "and the loss of later programs is reported" "$(<late.err)" \
	"the buffer directory '.*/session-[A-Za-z0-9]*' was removed, .*: processes that started later were not recorded"

start_told
"$RECORDER" record -P "$pid" -o attached.dat 2>late.err &
recorder=$!
wait_until is_attached attached.dat.spool "$told"
rm -r "$RECORDER_DIR"
tell go
kill -INT $recorder
wait $recorder
is "the directory of a running program: the status" $? 0
like "the program is recorded" "$(<late.err)" "recorded 30 events from 1 process, 1 thread; 0 lost"
like "and this is reported, too" "$(<late.err)" "the buffer directory was removed, .*: processes that started later were not recorded"
end_told

done_testing
