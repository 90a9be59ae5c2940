#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that forbid themselves system calls, or the time stamp counter: the library does not cause their end, and
# what they lose is reported.

. "$top_srcdir/tests/tap.sh"

guest=$top_builddir/tests/programs/guest
cd "$TMP" || exit 1

# A system call of the library would end the program. 1000 and 250 events, and one in a handler.
ok "system calls are forbidden after the first events" "$RECORDER" record -o after.dat -- "$guest" after 1000
is "it reaches its end" "$out" "produced 1000"
like "and nothing is lost" "$err" "recorded 1252 events from 1 process, 1 thread; 0 lost"

ok "they fail before the first event" "$RECORDER" record -o before.dat -- "$guest" before 1000
is "it reaches its end" "$out" "produced 1000"
like "everything is lost, and counted" "$err" "recorded 0 events from .* 1251 lost"
like "with the reason" "$err" "1251 of threads without a lane \(Operation not permitted\)"
ok "report" "$RECORDER" report before.dat
like "shows it as well" "$out" "1251 EVENTS DROPPED|lost=1251"

ok "a program that gives up the TSC, its events off" "$guest" tsc
ok "and the same, recorded" "$RECORDER" record -q -u 'other:*' -o tsc.dat -- "$guest" tsc
REC_DEBUG=1 run "$guest" tsc
like "its child reports why it has no buffer" "$err" "cannot read clocks any more \(PR_SET_TSC\)"

done_testing
