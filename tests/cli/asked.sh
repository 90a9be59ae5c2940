#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A recording has exactly the requested events, even if other processes have switched on others; those stay on.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/told.sh"
cd "$TMP" || exit 1

# attached ARGUMENT...: records the program while it writes ten of each event; the recorder's messages are in the file
# err.
attached()
{
	rm -f out.dat
	"$RECORDER" record -P "$pid" -o out.dat "$@" 2>err &
	recorder=$!
	wait_until is_attached out.dat.spool "$told" || cat err
	tell go
	kill -INT $recorder
	wait $recorder
	status=$?
}

start_told
ok "another process has events on" "$RECORDER" enable -P "$pid" 'kv:*'
attached -u net:idle
is "with -u: these alone" "$(counts out.dat)" "idle 10"
like "and no others are counted" "$(<err)" "recorded 10 events from 1 process, 1 thread; 0 lost"
ok "ps" "$RECORDER" ps -P "$pid"
like "what was on stays on" "$out" " 2/3"
tell go
run "$RECORDER" snapshot -P "$pid" -o others.dat
like "and was recorded all the time for the process that wanted it" "$(counts others.dat)" "^get [1-9]0( idle 10)? put [1-9]0$"
attached -u net:idle --raw
is "as well with --raw" "$(counts out.dat)" "idle 10"
is "and the numbers are right" "$("$RECORDER" report out.dat | sed -n 's/.*number=//p' | paste -sd ' ')" "0 1 2 3 4 5 6 7 8 9"
ok "the file passes verify" "$RECORDER" verify out.dat
attached -u net:idle -u kv:put -f 'number < 3'
is "with a filter" "$(counts out.dat)" "idle 10 put 3"
attached
is "without -u: all" "$(counts out.dat)" "get 10 idle 10 put 10"
attached -x kv:put
is "-x leaves out" "$(counts out.dat)" "get 10 idle 10"
attached -u 'kv' -x 'kv:p*' -x net
is "of what -u has" "$(counts out.dat)" "get 10"
attached -x 'kv:get,net:*'
is "several in one" "$(counts out.dat)" "put 10"
attached -u net:idle -x tset
like "a mistake in it is named" "$(<err)" "no process has an event that matches 'tset'"
attached -u nosuch:x
is "a pattern that no event matches: no event is recorded" "$status" 1
like "which is reported" "$(<err)" "nothing was recorded, 'out.dat' is not written: no event matches"
ok "and nothing is left" test ! -e out.dat -a ! -e out.dat.spool
ok "ps, once more" "$RECORDER" ps -P "$pid"
like "all is as it was before" "$out" " 2/3"

# The file recovered from a killed recorder also has only the requested events.
"$RECORDER" record -P "$pid" -o killed.dat -u net:idle -x kv:put 2>err &
recorder=$!
wait_until is_attached killed.dat.spool "$told"
for _ in $(seq 100); do
	tell go
done
wait_until has_size killed.dat.spool 40000
kill -KILL $recorder
wait $recorder 2>/dev/null
end_told
ok "recover" "$RECORDER" recover killed.dat.spool
like "it has what was asked for" "$(counts killed.dat)" "^idle [1-9][0-9]*$"

# A program that is started.
ok "a program that is started" bash -c "echo go | '$RECORDER' record -o new.dat -u kv -x kv:get '$told'"
is "writes these alone" "$(counts new.dat)" "put 10"
fails "exclusions alone are refused" "$RECORDER" record -u '!kv' "$told"
like "on one line" "$err" "'!kv' is not a pattern of events"

done_testing
