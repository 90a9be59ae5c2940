#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# -f, --rate and --tid, for commands and for running programs: what is recorded, and what is reported about filters that
# do not fit.

. "$top_srcdir/tests/tap.sh"

requests=$top_builddir/tests/programs/requests
cd "$TMP" || exit 1

# count FILE REGEX: the number of events of a recording whose line in the report matches.
count()
{
	"$RECORDER" report "$1" | grep -cE "$2"
}

# hardly NAME FILE REGEX: no event matches, except at most one of each of the two threads: the one that was being written
# when the filter was set.
hardly()
{
	ok "$1" test "$(count "$2" "$3")" -le 2
}

# ---- a command

ok "a filter" "$RECORDER" record -o one.dat -u io:submit -f 'id >= 90 && path ~ "*.db"' "$requests" 100
is "what passes is recorded, and nothing else" "$("$RECORDER" report one.dat | sed -n 's/.* id=\([0-9]*\).*/\1/p' | tr '\n' ' ')" "90 92 94 96 98 "
like "only that is counted" "$err" "recorded 5 events from 1 process, 1 thread; 0 lost"
ok "trace-cmd's spelling of an event" "$RECORDER" record -o slash.dat -u 'io/*' -f 'id >= 90' -x io/done "$requests" 100
is "is the same" "$(count slash.dat 'submit:') $(count slash.dat 'done:')" "10 0"
ok "for a program's own choice, too" env RECORDER_ENABLE='io/done if id < 3' RECORDER_KEEP=1 "$requests" 20
ok "and for parts of a file" "$RECORDER" split --event io/submit -o part.dat -i one.dat
is "all of it" "$(count part.dat.1 'submit:')" 5
ok "what it has chosen" "$RECORDER" recover -q -o chosen.dat requests
is "is recorded" "$(count chosen.dat 'submit:') $(count chosen.dat 'done:')" "0 3"
ok "each -f belongs to its -u" "$RECORDER" record -o two.dat -u io:submit -f 'op == OP_WRITE' -u io:done -f 'result < -2' "$requests" 30
is "of the first event" "$(count two.dat 'submit:')" 10
is "of the second" "$(count two.dat 'done:')" 12
ok "a -u without one" "$RECORDER" record -o three.dat -u 'io:*' -f 'id < 4' -u io:done "$requests" 30
is "the last -u that names an event counts" "$(count three.dat 'done:')" 30
is "the other events keep the first" "$(count three.dat 'submit:')" 4
ok "a forked child" "$RECORDER" record -o fork.dat -u io:submit -f 'id < 3' -u io:done "$requests" 20 fork
is "has the same" "$(count fork.dat 'submit:') $(count fork.dat 'done:')" "6 40"
ok "--raw" "$RECORDER" record --raw -o raw.dat -u io:submit -f 'fd == -1' "$requests" 70
is "too" "$(count raw.dat 'submit:.* fd=-1 ')" 10
fails "nothing passes" "$RECORDER" record -o none.dat -u io:submit -f 'id > 1000' "$requests" 70
like "which is no loss" "$err" "recorded 0 events from 0 processes, 0 threads; 0 lost"

# ---- what is refused, before the command is run, on one line

run_record()
{
	run "$RECORDER" record -o refused.dat "$@" "$requests" 5
}

run_record -u io:submit -f 'sise > 3'
is "no such field" "$(head -n 1 <<<"$err")" "recorder record: filter of 'io:submit': no field 'sise'; its fields are id, fd, op, path (column 1)"
is "which is a failure" "$status" 1
is "a caret shows the place" "$(tail -n 2 <<<"$err")" "  sise > 3"$'\n'"  ^"
run_record -u 'io:*' -f 'id > 3 && fd == 2'
is "one of the events has no such field" "$(head -n 1 <<<"$err")" "recorder record: filter of 'io:done': no field 'fd'; its fields are id, result (column 11); it fits io:submit"
run_record -u '*' -f 'id > 3'
like "nor has the event of rec_printf" "$(head -n 1 <<<"$err")" \
	"^recorder record: filter of 'ftrace:bprint': no field 'id'; it has only the common fields \\(column 1\\); it fits io:(submit, io:done|done, io:submit)$"
cp "$requests" true
fails "a filter for a command in PATH" env PATH=".:$PATH" "$RECORDER" record -o refused.dat -u io:submit -f 'sise > 1' true
like "is checked in the file that exec finds" "$err" "filter of 'io:submit': no field 'sise'"
fails "without PATH" env -u PATH "$RECORDER" record -o refused.dat -u io:submit -f 'sise > 1' true
like "exec does not find the file in the current directory" "$err" "no process of 'true' uses librecorder"
rm true
run_record -u io:submit -f 'id >> 3'
is "an invalid filter" "$(head -n 1 <<<"$err")" "recorder record: filter of 'io:submit': expected a value (column 5)"
is "is a wrong command line" "$status" 2
run_record -u io:submit -f 'fd == 2147483648'
like "out of range" "$err" "filter of 'io:submit': 2147483648 is out of range for a signed number of 32 bits \\(column 7\\)"
run_record -u io:submit -f 'path == a.db'
like "a text without quotes" "$err" "expected a text in quotes: path == \"a.db\".*  path == a.db"$'\n'"          \^$"
run_record -u io:submit -f 'comm == "cat"'
like "what only a reader knows" "$err" "'comm' is known only when a recording is read: use it in 'recorder report -F'"
run_record -u io:submit -f 'op == OP_SEEK'
like "no such name" "$err" "'OP_SEEK' is not a value of 'op'; its values are OP_READ, OP_WRITE \\(column 7\\)"
run_record -f 'id == 1' -u io:submit
like "one before its -u" "$err" "a filter \\(-f\\) needs a pattern \\(-u\\) before it$"
run_record -u io:submit -f 'id == 1' -f 'id == 2'
like "two of them" "$err" "there are two filters \\(-f\\) for 'io:submit': join them by &&$"
run_record -u io:submit -f $'id == 1\n|| id == 2'
like "two lines" "$err" "filter of 'io:submit': it must be on one line$"
run_record --rate 0
like "no rate" "$err" "option '--rate' takes a number from 1 to 1000000000, not '0'$"
run_record --tid 1
like "threads of a command" "$err" "^recorder record: --tid needs -P"
ok "nothing is left of them" test ! -e refused.dat -a ! -e refused.dat.spool

# ---- a program that was not known before

ok "a program started by a shell" "$RECORDER" record -o shell.dat -u io:submit -f 'result < 0' -u io:done -f 'id == 3' sh -c "$requests 20; :"
like "the filter that did not fit is reported at the end" "$err" "^recorder record: filter of 'io:submit': no field 'result'; its fields are id, fd, op, path \\(column 1\\); the event was not recorded"
like "with a caret" "$err" "  result < 0"$'\n'"  \\^"
is "the other event is recorded" "$(count shell.dat 'done:') $(count shell.dat 'submit:')" "1 0"

# ---- rates

ok "a rate" "$RECORDER" record -o rate.dat -u io:submit --rate 20 -u io:done "$requests" 5000
is "not of the other event" "$(count rate.dat 'done:')" 5000
some=$(count rate.dat 'submit:')
like "the number suppressed is reported" "$err" "  $((5000 - some)) io:submit suppressed by --rate 20, not counted as lost"
ok "at least one second's events" test "$some" -ge 20
ok "a rate for all, and one of an event's own" "$RECORDER" record -o rates.dat --rate 7 -u io:done -u io:submit -f 'id < 3000' --rate 5 "$requests" 5000
done=$(count rates.dat 'done:')
some=$(count rates.dat 'submit:')
like "of the one" "$err" "  $((5000 - done)) io:done suppressed by --rate 7"
like "of the other, after its filter" "$err" "  $((3000 - some)) io:submit suppressed by --rate 5"

# ---- a running program

# record_some FILE OPTION...: records the program until the recording has some pages of events, or $bytes
record_some()
{
	local file=$1 recorder status=0

	shift
	"$RECORDER" record -P $pid "$@" -o "$file" 2>err &
	recorder=$!
	wait_until has_size "$file.spool" "${bytes:-50000}"
	kill -INT $recorder
	wait $recorder || status=$?
	[ $status = 0 ] || cat err >&2
	return $status
}

"$requests" threads &
pid=$!
wait_until test -s threads
read -r -d '' first second <threads
run "$RECORDER" record -P $pid -u io:submit -f 'result < 0' -o refused.dat
is "no such field in a running program" "$(head -n 1 <<<"$err")" "recorder record: filter of 'io:submit': no field 'result'; its fields are id, fd, op, path (column 1)"
ok "its events are as they were" "$RECORDER" ps -P $pid
like "off" "$out" "$pid +started +0/2"
ok "a filter" record_some attach.dat -u io:submit -f 'path ~ "*.db" && !(id & 0xe)' -u io:done -f 'id == 1'
ok "some pass" test "$(count attach.dat 'submit:')" -gt 10
is "none that should not" "$("$RECORDER" report attach.dat | sed -n 's/.* id=\([0-9]*\).*/\1/p' | awk '$1 % 16 { n++ } END { print n + 0 }')" 0
ok "one thread" record_some tid.dat --tid "$second" -u io:submit -f '!(id & 0xe) && id & 1'
ok "has written" test "$(count tid.dat "requests-$second ")" -gt 10
is "and no other" "$(count tid.dat "requests-$first ")" 0
is "what its filter selects" "$(count tid.dat 'path=.*\.db')" 0
# The first event of the first second is the only one that this rate lets through.
"$RECORDER" record -P $pid --tid "$first,$second" --rate 1 -o tids.dat 2>err &
recorder=$!
wait_until eval '"$RECORDER" stat -P $pid | grep -q "^io:done: at most 1 a second, suppressed: [1-9]"'
kill -INT $recorder
wait $recorder
is "both, at a rate" $? 0 || diag "$(<err)"
ok "the events that it lets through are recorded" test "$(count tids.dat 'done:')" -ge 1
like "a rate there" "$(<err)" " io:done suppressed by --rate 1, not"
fails "no thread id" "$RECORDER" record -P $pid --tid x -o refused.dat
like "is reported" "$err" "option '--tid' takes thread ids separated by commas, not 'x'"

# An event that is on already: its records from before the filter was set are not in the recording, either.
ok "enable" "$RECORDER" enable -P $pid io:done
# An event that is being written when the filter is set is recorded. Then a file is made.
run "$RECORDER" record -P $pid --duration 1 -u io:done -f 'id == 18446744073709551615' -o none.dat
like "it passes nothing new" "$status $err" '^(0 .*recorded [12] events? from|1 .*: nothing was recorded)'
hardly "has what passes alone" none.dat 'done:'
ok "disable" "$RECORDER" disable -P $pid io:done

# After a recording, the program has the same events on as before.
ok "enable with a filter" "$RECORDER" enable -P $pid -f 'id == 18446744073709551615' --rate 3 io:submit
like "one event" "$out" "1 event on"
bytes=300000
ok "a recording without one" record_some all.dat -u io:submit
like "has many" "$(<err)" "recorded [0-9]{4,} events"
# Nothing passes: the lanes hold nothing new, however long the program continues.
"$RECORDER" record -P $pid --duration 1 -u io:done -f 'id == 18446744073709551615' -o none.dat 2>err
like "a recording of nothing" "$? $(<err)" '^(0 .*recorded [12] events? from|1 .*: nothing was recorded)'
ok "a snapshot" "$RECORDER" snapshot -P $pid -o snapshot.dat
ok "has the events of that recording" test "$(count snapshot.dat 'submit:')" -gt 1000
# In the snapshot, only the events after the recording without a filter count.
last=$("$RECORDER" report all.dat | sed -nE '$s/.* ([0-9]+\.[0-9]+): .*/\1/p')
"$RECORDER" report snapshot.dat | sed -nE 's/.* ([0-9]+\.[0-9]+): submit: .*/\1/p' | awk -v last="$last" '$1 > last' >new
ok "the earlier filter holds again" test "$(wc -l <new)" -le 2
ok "stat" "$RECORDER" stat -P $pid
like "shows the rate" "$out" "io:submit: at most 3 a second, suppressed: 0"
fails "a filter that does not fit" "$RECORDER" enable -P $pid -f 'result == 0' io:submit
is "is reported by enable" "$(head -n 1 <<<"$err")" "recorder enable: filter of 'io:submit': no field 'result'; its fields are id, fd, op, path (column 1)"
run "$RECORDER" enable -P $pid -f 'id ==' io:submit
is "and an invalid one" "$(head -n 1 <<<"$err")" "recorder enable: filter of 'io:submit': expected a number (column 6)"
is "is reported as a wrong command line" "$status" 2
fails "disable takes no filter" "$RECORDER" disable -P $pid -f 'id == 1' io:submit
ok "stop" "$RECORDER" stop -P $pid
ok "start" "$RECORDER" start -P $pid
ok "stat again" "$RECORDER" stat -P $pid
like "they keep the rate" "$out" "io:submit: at most 3 a second, suppressed: 0"
ok "enable without a filter" "$RECORDER" enable -P $pid io:submit
ok "stat once more" "$RECORDER" stat -P $pid
fails "shows no rate any more" grep -q "at most" <<<"$out"
grown()
{
	[ "$("$RECORDER" stat -P $pid | awk -F ': ' '$1 == "entries" || $1 == "overrun" { n += $2 } END { print n + 0 }')" -gt 100 ]
}
ok "and everything passes" wait_until grown
kill -KILL $pid
wait $pid 2>/dev/null

done_testing
