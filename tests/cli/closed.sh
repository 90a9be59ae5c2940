#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The reader of the recorder's messages is gone, or the recorder's descriptors are closed from the start: the recording is
# still complete, and the exit status is the command's.

. "$top_srcdir/tests/tap.sh"

mkdir "$TMP/work"
cd "$TMP/work" || exit 1

# A pipe without a reader: a write to it raises SIGPIPE.
mkfifo pipe
exec {reader}<>pipe
exec {writer}>pipe
exec {reader}<&-

# closed STATUS COMMAND...: records the command with its messages into that pipe.
closed()
{
	local expected=$1 got=0

	shift
	rm -f trace.dat
	# A service of systemd ignores SIGPIPE, and so does everything that it starts, which may include this suite.
	env --default-signal=PIPE "$RECORDER" record "$@" >&"$writer" 2>&"$writer" || got=$?
	is "status of record ${*@Q}" "$got" "$expected"
	ok "the file is complete" "$RECORDER" report trace.dat
	is "nothing is left" "$(ls)" "$(printf 'pipe\ntrace.dat')"
}

producer=$top_builddir/tests/programs/producer
closed 0 sh -c '"$0" 1 10 >/dev/null' "$producer"
closed 7 sh -c '"$0" 1 10 >/dev/null; exit 7' "$producer"
# With the default disposition, the command is killed by SIGPIPE. The suite may have been started to ignore the signal.
closed 141 env --default-signal=PIPE sh -c '"$0" 1 10 >/dev/null; echo text; echo more' "$producer"

# No standard input, output and error: their numbers are not given to the files of the recording.
cat >open <<'END'
#!/bin/sh
for fd in 0 1 2; do
	[ ! -e /proc/$$/fd/$fd ] || open="$open $fd"
done
echo "open:$open" >"$2"
"$1" 1 10 >produced
END
chmod +x open
got=0
"$RECORDER" record ./open "$producer" what <&- >&- 2>&- || got=$?
is "nothing is open: status" "$got" 0
is "all events are recorded" "$("$RECORDER" report trace.dat | grep -c ' count: ')" 10
is "the command has them closed, too" "$(<what)" "open:"
"$RECORDER" report trace.dat >&- 2>err || got=$?
like "what cannot be printed is a failure" "$got $(<err)" "^1 .*cannot write the report: Bad file descriptor$"

done_testing
