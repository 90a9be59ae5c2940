#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A recorder that is attached to a running program is killed at any time, and another one attaches: the two files
# together have the program's events of that time, each event once.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"
cd "$TMP" || exit 1
large_lanes
RANDOM=${RECORDER_SEED:-1}
repeat_by "RECORDER_SEED=${RECORDER_SEED:-1}"

begin count
program=$pid

numbers_of()
{
	"$RECORDER" report "$@" | sed -n 's/.* seq: .*number=//p'
}

# once NAME FILE...: the numbers in the files are all between the first and the last. At most one page is in two of them: it
# was in the spool already when its recorder was killed before it asked for the next.
once()
{
	local name=$1 file

	shift
	for file; do
		numbers_of "$file"
	done | sort -n >all
	is "$name: $(head -n 1 all) to $(tail -n 1 all) without a gap" \
		"$(sort -n -u all | awk 'NR > 1 && $1 != last + 1 { bad++ } { last = $1 } END { print bad + 0, (NR > 0) }')" "0 1"
	ok "$name: and at most one page's twice" test $(($(wc -l <all) - $(sort -u all | wc -l))) -le 340
}

for round in 1 2 3; do
	"$RECORDER" record -q -o first.dat -P $program &
	first=$!
	# The kill comes at any moment: before the first page, in the middle of a page, or during the drain.
	ok "$round: a recorder attaches" wait_until has_size first.dat.spool $((8192 + RANDOM * 8))
	end $first
	go_on count $((RANDOM % 5000 + 1))
	"$RECORDER" record -o second.dat -P $program 2>err &
	second=$!
	ok "$round: another one" wait_until has_size second.dat.spool 300000
	go_on count 5000
	kill -INT $second
	wait $second
	like "$round: reports that it continues" "$(cat err)" "was being recorded when its recorder was killed"
	# Later events are in neither file.
	"$RECORDER" enable -P $program 'test:*'
	go_on count 5000
	"$RECORDER" disable -P $program 'test:*'
	ok "$round: the spool of the first one is recovered" "$RECORDER" recover first.dat.spool
	once "$round" first.dat second.dat
	rm -f first.dat second.dat
done

"$RECORDER" record -q -o first.dat -P $program &
first=$!
ok "a recorder attaches, is killed" wait_until has_size first.dat.spool 300000
end $first
go_on count 5000
ok "and no other follows: all events are in its spool and in the program's lanes" "$RECORDER" recover first.dat.spool
read -r begin end < <(numbers_of first.dat | sed -n '1p;$p' | tr '\n' ' ')
once "alone" first.dat
ok "later events are among them" test $((end - begin)) -gt 5000
ok "the program's events are off again" sh -c '"$RECORDER" ps | grep -q " 0/"'
end "$program"
"$RECORDER" clean >/dev/null 2>&1

# ---- the recorder of a command is killed, and one attaches to the running command

rm -f count
"$RECORDER" record -q -b 131072 -o first.dat "$victim" count 1000000000000 &
first=$!
ok "a command is being recorded" wait_until has_size first.dat.spool 300000
program=$(pgrep -P $first)
end $first
go_on count 5000
"$RECORDER" record -o second.dat -P "$program" 2>err &
second=$!
ok "its recorder was killed, another one attaches" wait_until has_size second.dat.spool 300000
go_on count 5000
kill -INT $second
wait $second
like "it reports that it continues" "$(cat err)" "was being recorded when its recorder was killed"
end "$program"
ok "the spool of the first one, and the program's last events" "$RECORDER" recover first.dat.spool
once "both" first.dat second.dat
is "from the first event" "$(head -n 1 all)" 0
is_last "to the last event" count all
is "nothing is left" "$(ls "$RECORDER_DIR")" ""

done_testing
