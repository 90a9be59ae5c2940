#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# There are more programs than files that the recorder may open at the same time.

. "$top_srcdir/tests/tap.sh"

mortal=$top_builddir/tests/programs/mortal
programs=60
cd "$TMP" || exit 1

# Starts programs that all wait until the last one has written, and are killed then.
cat >crowd <<'END'
for ((i = 0; i < $2; i++)); do
	"$1" 10 1 wait >"written.$i" &
done
for ((i = 0; i < $2; i++)); do
	until grep -q ready "written.$i"; do
		sleep 0.05
	done
done
kill -KILL $(jobs -p)
wait
END

# recorded LIMIT: records with this limit of open files; $waited is the number of buffers that waited
recorded()
{
	ok "$programs programs, and $1 files" bash -c "ulimit -n $1; exec \"\$@\"" - \
		"$RECORDER" record -b 64 -o "$1.dat" bash ./crowd "$mortal" $programs
	is "all events are there" "$(events_in "$err") $(lost_in "$err")" "$((programs * 10)) 0"
	unlike "no buffer is skipped" "$err" "skipped"
	waited=$(sed -nE "s/^recorder record: ([0-9]+) buffers waited for a file descriptor; the limit is $1 \\(ulimit -Hn\\): .*/\1/p" <<<"$err")
}

recorded 1024
is "with enough there is no word of it" "$waited" ""
recorded 48
ok "with too few there is one line" test "${waited:-0}" -gt 12

# ---- a limit that is high, but not the maximum

is_raised()
{
	grep -q '^Max open files  *9000  *9000 ' "/proc/$recorder/limits"
}

if [ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 9000 ]; then
	mkfifo words
	exec 7<>words
	bash -c 'ulimit -Sn 8800; ulimit -Hn 9000; exec "$@"' - "$RECORDER" record -o raised.dat \
		bash -c 'ulimit -Sn >soft; exec "$0"' "$top_builddir/tests/programs/told" <words >/dev/null 2>&1 7>&- &
	recorder=$!
	ok "the recorder raises a high limit, too" wait_until is_raised
	exec 7>&-
	wait $recorder
	is "the command keeps its own" "$(<soft)" 8800
else
	skip "the recorder raises a high limit, too" "the maximum is too low"
fi

done_testing
