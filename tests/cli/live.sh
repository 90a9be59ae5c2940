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
kill "$pid"
wait "$top"
is "the consumer ends when the program ends" $? 0
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
elif nm -D "$library/librecorder.so" | grep -qE '__(asan|tsan|ubsan)_'; then
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
fi

done_testing
