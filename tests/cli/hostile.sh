#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Damaged and truncated buffers: the command skips what is damaged, reports which buffer on one line, and continues with the
# others.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"
cd "$TMP" || exit 1

events()
{
	"$RECORDER" report "$1" | grep -c "$2"
}

# ------------------------------------------------------------------------------------- a lane that its program stops

"$RECORDER" record -o spoilt.dat -- "$top_builddir/tests/programs/spoiler" gate 2>err &
recorder=$!
wait_until test -e gate
session=$(echo "$RECORDER_DIR"/session-*)
ok "stat while it runs" "$RECORDER" stat --dir "$session"
like "reports that the lane is broken" "$out" "lane [0-9]+, .*, broken: nothing more is written to it"
like "and how many events it has refused" "$out" "disabled: 1000"
is "the other lanes are intact" "$(grep -c '^lane .*broken' <<<"$out") $(($(grep -c '^lane ' <<<"$out") > 1))" "1 1"
rm gate
wait $recorder
is "the recording ends normally" $? 0
err=$(cat err)
like "events are lost" "$err" "recorded [0-9]+ events from 1 process, [23] threads; [0-9]{4} lost"
like "and why" "$err" "1000 refused, their lanes had been stopped as damaged"
like "and where" "$err" "1 lanes stopped as damaged"
ok "those of the other threads, before and after it, are there" test "$(events spoilt.dat number=)" -ge 500
ok "report" "$RECORDER" report spoilt.dat
like "shows the loss" "$out" "EVENTS DROPPED|lost="

# ------------------------------------------------------------------------------------------ a file that is cut short

# Starts a program that writes events and then waits; its pid in $pid, its buffer in $buffer.
start()
{
	begin_to "$1" 2000
	buffer=$(echo "$RECORDER_DIR/$pid"-*.rec)
}

export RECORDER_ENABLE='test:*' RECORDER_KEEP=1
for size in 0 4096 90000 4300000; do
	start "count.$size"
	"$RECORDER" record -P "$pid" -o "cut.$size.dat" 2>"err.$size" &
	recorder=$!
	wait_until is_attached "cut.$size.dat.spool" "$victim"
	truncate -s "$size" "$buffer"
	kill -INT $recorder
	wait $recorder
	got=$?
	# If nothing of the buffer is left, nothing was recorded.
	expected=0
	! grep -q 'recorded 0 events' "err.$size" || expected=1
	is "cut to $size while it is recorded: the recorder ends normally" $got $expected
	like "and reports it on one line" "$(grep -c 'truncated meanwhile' "err.$size") $(cat "err.$size")" \
		"1 .*skipped the buffer of program $pid \(victim\), which was truncated meanwhile; the rest is lost"
	if [ $expected = 0 ]; then
		ok "its file is valid" "$RECORDER" report "cut.$size.dat"
	else
		ok "no file is written" test ! -e "cut.$size.dat"
	fi
	end "$pid"
	rm -f "$buffer"
done

# A program is recorded although the buffer of another one is cut short.
begin other
other=$pid
start one
"$RECORDER" record -P "$pid,$other" -o two.dat 2>err &
recorder=$!
wait_until is_attached two.dat.spool "$victim" 2
truncate -s 4096 "$buffer"
go_on other 1000
kill -INT $recorder
wait $recorder
is "two programs, one is cut" $? 0
like "one line" "$(grep -c 'truncated meanwhile' err)" "^1$"
end "$pid" "$other"

# The remains of a dead program's buffer.
start dead
end "$pid"
cp --sparse=always "$buffer" whole
bad=0
for size in 0 1 4095 4096 20000 70000 100000 4300000 4330000 4350000 5000000; do
	mkdir "cut.$size"
	cp --sparse=always whole "cut.$size/${buffer##*/}"
	truncate -s "$size" "cut.$size/${buffer##*/}"
	run "$RECORDER" recover "cut.$size/${buffer##*/}" -o "recovered.$size.dat"
	if [ "$status" -gt 1 ] || [ "$(wc -l <<<"$err")" -gt 6 ]; then
		bad=$((bad + 1))
		tap_show_run "cut to $size"
	fi
done
is "recover from pieces of a buffer ends normally" "$bad" 0

# ------------------------------------------------------------------------------------- what -q does not hide

start quiet
"$RECORDER" record -q -P "$pid" -o quiet.dat 2>err &
recorder=$!
wait_until is_attached quiet.dat.spool "$victim"
truncate -s 4096 "$buffer"
kill -INT $recorder
wait $recorder
like "-q: a buffer that is cut short" "$(head -n 1 err)" "skipped the buffer of program $pid \(victim\), which was truncated"
end "$pid"
rm -f "$buffer"

# An incompatible feature that this version does not know; and a damaged header.
cp --sparse=always whole newer
printf '\200' | dd of=newer bs=1 seek=471 conv=notrunc status=none
cp --sparse=always whole damaged
printf '\377\377\377\377' | dd of=damaged bs=1 seek=44 conv=notrunc status=none
for each in "newer its program uses a newer librecorder" "damaged Bad message"; do
	# shellcheck disable=SC2016
	ok "-q: a buffer that is ${each%% *}" "$RECORDER" record -q -o quiet.dat \
		sh -c 'cp --sparse=always "$1" "$RECORDER_DIR/new"; mv "$RECORDER_DIR/new" "$RECORDER_DIR/77-7.rec"; "$0" 1 10' \
		"$top_builddir/tests/programs/producer" "${each%% *}"
	like "is reported" "$err" "^recorder record: 1 buffer was skipped, the first '77-7.rec': ${each#* }"
	is "on one line" "$(wc -l <<<"$err")" 1
	is "the others are recorded" "$(events quiet.dat ' count: ')" 10
done
# shellcheck disable=SC2016
ok "-q: a program that could not make its buffer" "$RECORDER" record -q -o quiet.dat \
	sh -c '"$0" 1 10; RECORDER_SUBBUF_KB=5 "$0" 1 10' "$top_builddir/tests/programs/producer"
like "is reported" "$err" "^recorder record: 1 process was not recorded: a size or the clock"
is "on one line, too" "$(wc -l <<<"$err")" 1
ok "-q: without any of these" "$RECORDER" record -q -o quiet.dat "$top_builddir/tests/programs/producer" 1 10
is "nothing is printed" "$err" ""

done_testing
