#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --duration: with a command, too; in seconds, parts of a second, and other units.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/told.sh"
cd "$TMP" || exit 1

# If the program gets too little of a CPU in the given time, its events are not all recorded, and a longer time is tried. Each
# attempt has a FIFO of its own, because the program of the former attempt still reads the former one.
for time in 0.5 3s 15000ms 1m; do
	rm -f out out.dat
	mkfifo "in.$time"
	exec {input}<>"in.$time"
	echo go >&"$input"
	run timeout 300 "$RECORDER" record -o out.dat --duration "$time" sh -c "echo \$\$ >out; exec '$told' <in.$time"
	[ ! -e out.dat ] || [ "$(counts out.dat)" != "get 10 idle 10 put 10" ] || break
	wait_until test -s out
	kill "$(<out)"
done
is "a command is recorded that long" "$status" 0 || diag "$err"
like "the recorder reports that it keeps running" "$err" "the time is over \\(--duration\\), 'sh' keeps running, unrecorded"
is "it is running" "$(cat "/proc/$(<out)/comm")" told
is "what it wrote is there" "$(counts out.dat)" "get 10 idle 10 put 10"
kill "$(<out)"
wait_until is_gone "$(<out)"
ok "a command that ends before" timeout 60 "$RECORDER" record -o out.dat --duration 1h sh -c "echo go | '$told'"
unlike "ends the recording" "$err" "time is over"
run timeout 60 "$RECORDER" record -o out.dat --duration 1h sh -c "echo go | '$told'; exit 9"
is "and its status" "$status" 9

start_told
run timeout 60 "$RECORDER" record -o out.dat -P "$pid" --duration 300ms
like "without a command, too" "$err" "nothing was recorded, 'out.dat' is unchanged: none of the selected events occurred"
end_told

for time in 0 '' x -1 1e3 1.2.3 5d '1 s' inf 0x10 99999999h .; do
	run "$RECORDER" record --duration "$time" touch started
	is "'$time' is refused" "$status $err" "2 recorder record: option '--duration' takes a time such as 10, 0.5, 500ms or 2m, not '$time' (see 'recorder record --help')"
done
ok "nothing was started" test ! -e started

done_testing
