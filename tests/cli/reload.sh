#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A server whose master replaces its workers again and again; the recorder attaches to the master alone. Each worker is
# recorded from its first event to its last, and the master's events stay on whichever workers come and go.

. "$top_srcdir/tests/tap.sh"

WORKERS=4
EVENTS=50
RELOADS=8
reloader=$top_builddir/tests/programs/reloader
cd "$TMP" || exit 1

made()
{
	stat -c %s made 2>/dev/null || echo 0
}

has_made()
{
	[ "$(made)" -ge "$1" ]
}

reload()
{
	local nr=$(($(made) + WORKERS))

	kill -HUP "$pid"
	wait_until has_made $nr
}

# Prints the workers from number $2 on of which $1 does not have all events, each once.
incomplete()
{
	"$RECORDER" report "$1" | sed -n 's/.* work: .*worker=\([0-9]*\) number=\([0-9]*\)$/\1 \2/p' |
		awk -v first="$2" -v made="$(made)" -v events=$((EVENTS + 1)) '
			seen[$1, $2]++ || $2 >= events { twice[$1] = 1 }
			{ n[$1]++ }
			END {
				for (i = first; i < made; i++)
					if (n[i] != events || i in twice)
						printf "%d: %d  ", i, n[i]
			}'
}

"$reloader" $WORKERS $EVENTS made &
pid=$!
wait_until has_made $WORKERS
"$RECORDER" record -P $pid -o one.dat 2>err &
recorder=$!
wait_until is_attached one.dat.spool "$reloader"
for ((i = 0; i < RELOADS; i++)); do
	reload
done
kill -INT $recorder
wait $recorder
is "a recording ends between two reloads" $? 0
unlike "it has missed no worker" "$(cat err)" "not recorded"
like "and lost nothing" "$(cat err)" "recorded [0-9]+ events from [0-9]+ processes, .*; 0 lost"
# The workers of the former generation may still be ending.
are_off()
{
	local text

	text=$("$RECORDER" ps 2>/dev/null)
	[ "$(grep -c ' 0/1' <<<"$text") $(grep -c ' 1/1' <<<"$text")" = "$((WORKERS + 1)) 0" ]
}
ok "the events of all are off again" wait_until are_off

# The workers that exist now were started before this recording.
first=$(made)
"$RECORDER" record -P $pid -o two.dat 2>err &
recorder=$!
wait_until is_attached two.dat.spool "$reloader"
for ((i = 0; i < RELOADS; i++)); do
	reload
done
kill -TERM $pid
wait $pid
wait $recorder
is "a recording ends with the last of them" $? 0
unlike "it has missed no worker, either" "$(cat err)" "not recorded"
is "workers without all of their events" "$(incomplete two.dat "$first")" ""
is "number of workers" "$(made)" $((2 * RELOADS * WORKERS + WORKERS))

done_testing
