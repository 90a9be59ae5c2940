#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Threads may write events while their program is in exit(): a recorder takes them until the process is gone.

. "$top_srcdir/tests/tap.sh"

late=$top_builddir/tests/programs/late
# The number of events for each word.
events=2000
cd "$TMP" || exit 1
mkfifo words text || exit 1

# start COMMAND...: runs it with a pipe as its output, which is not read; its pid is in $command
start()
{
	exec 6<>words 7<>text
	"$@" >text 2>err 6>&- 7>&- &
	command=$!
}

say()
{
	printf x >&6
}

# Reads the pipe, so that the program ends.
read_text()
{
	exec 8<text 7>&- 6>&-
	cat <&8 >text.read
	exec 8<&-
}

# read_events [OPTION...]: the number of events that the recorder has read from the program's lanes
read_events()
{
	"$RECORDER" stat "$@" 2>/dev/null | awk '/read events:/ { sum += $NF } END { print sum + 0 }'
}

# The recorder takes whole pages while the program lives, so the last events are still in the lane.
has_read()
{
	[ "$(read_events "${@:2}")" -gt "$1" ]
}

# write_events [OPTION...]: the program is in exit(), and writes events five times; the recorder reads them each time.
write_events()
{
	local words=0

	say
	while [ $words != 5 ]; do
		say
		ok "a program in exit() writes events, and they are read ($((words + 1)))" \
			wait_until has_read $((events * words + events / 2)) "$@" || break
		words=$((words + 1))
	done
}

# is_complete FILE EVENTS
is_complete()
{
	is "each event is in the recording" "$("$RECORDER" report "$1" | sed -n 's/.* count: .*number=//p' |
		awk '$1 != n++ { bad++ } END { print bad + 0, n + 0 }')" "0 $2"
}

# ---- a program that the recorder started

start "$RECORDER" record -o started.dat "$late" words
session=
find_session()
{
	session=$(echo "$RECORDER_DIR"/session-*)
	[ -d "$session" ] && ls "$session" | grep -q '\.rec$'
}
ok "a program starts" wait_until find_session
write_events --dir "$session"
read_text
is "its text is complete" "$(stat -c %s text.read)" 200000
wait $command
is "its end ends the recording" $? 0
like "the events are counted" "$(cat err)" "^recorded $((5 * events + 1)) events from 1 process, 1 thread; 0 lost"
is_complete started.dat $((5 * events + 1))
is "no file is left" "$(ls "$RECORDER_DIR")" ""

# ---- a program that was running

start "$late" words
is_listed()
{
	"$RECORDER" ps -P late >/dev/null 2>&1
}
ok "a program starts" wait_until is_listed
"$RECORDER" record -P late -o attached.dat 2>recorder.err 6>&- 7>&- &
recorder=$!
ok "a recorder attaches to it" wait_until is_attached attached.dat.spool "$late"
write_events
buffer=$(ls "$RECORDER_DIR")
kill -INT $recorder
wait $recorder
is "the recording ends before the program" $? 0
like "the events are counted" "$(cat recorder.err)" "^recorded $((5 * events)) events from 1 process, 1 thread; 0 lost"
# The event that the thread wrote before the recorder had switched it on is not recorded, nor numbered.
is_complete attached.dat $((5 * events))
like "the program had not removed its buffer" "$buffer" "\.rec"
is "so the recorder does" "$(ls "$RECORDER_DIR")" ""
read_text
wait $command
is "the program ends normally" $? 0

done_testing
