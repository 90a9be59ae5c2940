#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Live consumers as a user might write them: the example in C, the one in Python that needs only the shared library, and
# a C program that needs only that, too.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"

library=$top_builddir/.libs
reader=$top_srcdir/examples/read_lane.py

cd "$TMP" || exit 1

RECORDER_ENABLE='test:*' begin_to count 5000
buffer=$(ls "$RECORDER_DIR/$pid"-*.rec)
"$top_builddir/examples/05_top" "$buffer" >top &
top=$!
wait_until grep -q seq top
# The first consumer has the lane. The second one prints its counts after the errors of the same round.
"$top_builddir/examples/05_top" "$buffer" >second 2>errors &
second=$!
wait_until grep -q lost second
kill "$pid"
wait "$top"
is "the consumer ends when the program ends" $? 0
wait "$second"
is "so does another one" $? 0
is "which has printed once why it cannot read the lane" "$(cat errors)" "lane 0: Device or resource busy"
is "it has counted each event" "$(awk '/ test:seq$/ { n += $1 } END { print n }' top)" 5000
fails "a file that is not a buffer" "$top_builddir/examples/05_top" /dev/null
like "is reported" "$err" "/dev/null"

if [ ! -e "$library/librecorder.so" ]; then
	skip "functions found by name only" "configured without a shared library"
else
	ok "functions found by name only" "$top_builddir/tests/programs/twins" "$library/librecorder.so"
fi

if ! command -v python3 >/dev/null; then
	skip "another language" "there is no python3"
elif [ ! -e "$library/librecorder.so" ]; then
	skip "another language" "configured without a shared library"
elif grep -qE '__(asan|tsan|ubsan)_' <<<"$(nm -D "$library/librecorder.so")"; then
	skip "another language" "python does not start with a sanitizer's library"
else
	export LD_LIBRARY_PATH=$library PYTHONDONTWRITEBYTECODE=1
	mkfifo end
	python3 "$reader" --write 100 <end >where &
	pid=$!
	exec 3>end
	wait_until test -s where
	buffer=$(ls "$(cat where)/$pid"-*.rec)
	ok "a lane read from Python" python3 "$reader" "$buffer" 0
	is "has what was written from Python" \
		"$(sed -n 's/.* lane 0 tid [0-9]* step: number=\([0-9]*\) text=step \1$/\1/p' <<<"$out")" "$(seq 0 99)"
	exec 3>&-
	wait "$pid"
	is "the writer ends normally" $? 0

	# A lane that was being made when the program died: its subbuf_size is 0 (docs/SHM-LAYOUT.md).
	RECORDER_ENABLE='io:*' RECORDER_BUFFER_KB=16 "$top_builddir/tests/programs/requests" threads >/dev/null &
	pid=$!
	wait_until test -s threads
	end "$pid"
	buffer=$(ls "$RECORDER_DIR/$pid"-*.rec)
	python3 - "$buffer" <<'END'
import struct, sys
with open(sys.argv[1], "r+b") as file:
    file.seek(104)
    lanes, = struct.unpack("=Q", file.read(8))
    file.seek(lanes + 136)
    file.write(bytes(4))
END
	ok "a lane that was being made" python3 "$reader" "$buffer" 0
	unlike "is skipped" "$out" ' lane 0 '
	like "the other one is read" "$out" ' lane 1 tid [0-9]+ (submit|done): '
	ok "05_top skips it, too" "$top_builddir/examples/05_top" "$buffer"
	is "and prints no error" "$err" ""

	# rows QUERY: on one line
	rows()
	{
		"$RECORDER" sql --list jobs.dat "$1" | paste -s -d ';'
	}
	ok "spans, a counter, states and tasks from Python" "$RECORDER" record -q -o jobs.dat python3 "$top_srcdir/examples/spans.py" 30
	if grep -q '^  *sql ' <<<"$("$RECORDER" --help)"; then
		is "all spans are whole" "$(rows "SELECT name, state, count(*) FROM spans GROUP BY 1, 2")" "pause|whole|1;serve|whole|30;wait|whole|30"
		is "with the fields of begin and end" "$(rows "SELECT args FROM spans WHERE name = 'wait' AND key = 7")" '{"id":7,"is_even":0}'
		is "nested and of their task" \
			"$(rows "SELECT count(*) FROM spans WHERE name = 'serve' AND task = json_extract(args, '$.id') AND json_extract(args, '$.name') = 'job ' || task")" 30
		is "states of each job, in order" "$(rows "SELECT group_concat(value_name), count(*) FROM \
			(SELECT * FROM states ORDER BY ts) GROUP BY key HAVING key IN (1, 30)")" "WAITING,RUNNING,DONE|3;WAITING,RUNNING,DONE|3"
		is "values of the counter" "$(rows "SELECT count(*), min(value) >= 0 FROM counters")" "30|1"
		is "the names of tasks" "$(rows "SELECT count(DISTINCT name), min(task), max(task) FROM tasks")" "30|1|30"
	else
		skip "the meaning of Python's events" "configured without sql"
	fi
fi

done_testing
