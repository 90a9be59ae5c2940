#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that forbid themselves system calls, or the time stamp counter: the library does not cause their end, and
# what they lose is reported.

. "$top_srcdir/tests/tap.sh"

guest=$top_builddir/tests/programs/guest
cd "$TMP" || exit 1

# A system call of the library would end the program. It writes 1000 events of one kind, 251 of another, and one in a
# handler.
ok "system calls are forbidden after the first events" "$RECORDER" record -o after.dat -- "$guest" after 1000
is "it reaches its end" "$out" "produced 1000"
like "and nothing is lost" "$err" "recorded 1252 events from 1 process, 1 thread; 0 lost"

fails "they fail before the first event" "$RECORDER" record -o before.dat -- "$guest" before 1000
is "it reaches its end" "$out" "produced 1000"
like "everything is lost, and counted" "$err" "recorded 0 events from .* 1251 lost"
like "with the reason" "$err" "1251 of threads without a lane \(Operation not permitted\)"
like "no file is written without an event" "$err" "nothing was recorded, 'before.dat' is not written: all events were lost"

ok "a program that gives up the TSC, its events off" "$guest" tsc
run "$RECORDER" record -q -u 'other:*' -o tsc.dat -- "$guest" tsc
is "and the same, recorded, without an event that was asked for" "$status $(grep -c 'no event matches' <<<"$err")" "1 1"
REC_DEBUG=1 run "$guest" tsc
like "its child reports why it has no buffer" "$err" "cannot read clocks any more \(PR_SET_TSC\)"

done_testing
