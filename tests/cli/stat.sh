#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder stat: the eight lines of each lane of a running program agree with what it wrote.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"

# value LINE: the value on that line of the last output.
value()
{
	sed -n "s/^$1: //p" <<<"$out"
}

cd "$TMP" || exit 1
export RECORDER_ENABLE='test:*' RECORDER_BUFFER_KB=64

begin_to count 1000
ok "stat" "$RECORDER" stat
all=$out
like "names the program" "$out" "^$pid victim \\(.*/victim\\)"
like "names lane and thread" "$out" "lane 0, thread $pid, 17 sub-buffers of 4096 bytes:"
is "the lines are the kernel's" \
	"$(sed -n '/^lane/,$p' <<<"$out" | sed '1d; s/: .*//; /^oldest event$/d')" \
	"$(printf '%s\n' entries overrun 'commit overrun' bytes 'oldest event ts' 'now ts' 'dropped events' 'read events')"
is "entries" "$(value entries)" 1000
is "nothing overwritten" "$(value overrun)" 0
is "nothing read" "$(value 'read events')" 0
like "the age of the oldest event, for people" "$out" $'\noldest event: [0-9.]+ (ns|us|ms|s|min|h) ago(\n|$)'
ok "now is not before the oldest event" awk -v now="$(value 'now ts')" -v oldest="$(value 'oldest event ts')" 'BEGIN { exit !(oldest > 0 && now >= oldest) }'
ok "by pid" "$RECORDER" stat -P "1,$pid"
is "the same" "$(grep -vE '^(now ts|oldest event):' <<<"$out")" "$(grep -vE '^(now ts|oldest event):' <<<"$all")"
for program in "$pid" "1,$pid" victim; do
	ok "$program, without -P" "$RECORDER" stat "$program"
	is "the same" "$(grep -vE '^(now ts|oldest event):' <<<"$out")" "$(grep -vE '^(now ts|oldest event):' <<<"$all")"
done
# The age of an event is at least as long as the test has waited.
sleep 1.1
ok "more than a second later" "$RECORDER" stat -P "$pid"
like "the age is in seconds" "$out" $'\noldest event: [0-9.]+ (s|min|h) ago(\n|$)'
end "$pid"

begin_to count 100000
ok "stat by name" "$RECORDER" stat --pid victim
is "what is there and what was overwritten add up to all" $(($(value entries) + $(value overrun))) 100000
ok "some was overwritten" test "$(value overrun)" -gt 0
end "$pid"

export RECORDER_MODE=discard
begin_to count 100000
ok "stat in discard mode" "$RECORDER" stat -P "$pid"
is "what is there and what was dropped add up to all" $(($(value entries) + $(value 'dropped events'))) 100000
is "and nothing overwritten" "$(value overrun)" 0
end "$pid"

# Counters that the kernel does not have, and lanes in an unusual state.
unset RECORDER_MODE
"$top_builddir/tests/programs/losses" ready &
pid=$!
wait_until test -e ready
ok "stat of lanes in an unusual state" "$RECORDER" stat -P "$pid"
is "each state is reported for its lane, and for no other" \
	"$(grep -E '^(lane|too long|nested limit|disabled|torn|events) ?' <<<"$out")" \
	"lane 0, held in reserve, 17 sub-buffers of 4096 bytes:
too long: 2
disabled: 3
lane 1, thread $pid, 17 sub-buffers of 4096 bytes:
nested limit: 5
lane 2, thread $(sed -n 's/^lane 2, thread \([0-9]*\),.*/\1/p' <<<"$out"), 17 sub-buffers of 4096 bytes, broken: nothing more is written to it:
lane 3: damaged
lane 4, no thread, 17 sub-buffers of 4096 bytes:
torn: 1
events of threads without a lane: 6
events, names and filters that found no room in the buffer: 7"
is "what was refused is not counted" "$(value entries)" "$(printf '%s\n' 1 4 1 2)"
end "$pid"

done_testing
