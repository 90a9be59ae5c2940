#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder export of a program in another pid namespace than the kernel's events: the kernel has a thread of the same
# number. Their spans cross, and each has its own times and its own row.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/export/perfetto.sh"
. "$top_srcdir/tests/export/kernel_events.sh"

cd "$TMP" || exit 1
cat >namesake.c <<'END'
#define _GNU_SOURCE
#include <librecorder/event.h>
#include <librecorder/span.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
REC_SPAN(io, request);
REC_EVENT(raw_syscalls, sys_enter, s64(id));
REC_EVENT(raw_syscalls, sys_exit, s64(id), s64(ret));
REC_EVENT(tlb, tlb_flush, s32(reason));
int main(void)
{
	REC_BEGIN(io, request);
	REC(raw_syscalls, sys_enter, SYS_getpid);
	REC(tlb, tlb_flush, 0);
	REC_END(io, request);
	REC(raw_syscalls, sys_exit, SYS_getpid, 1);
	return printf("%d\n", (int)gettid()) < 0;
}
END
kernel_events namesake one.dat sys_enter sys_exit tlb_flush
ok "of another thread" sh -c 'python3 "$0" 0 mono "$1" <one.dat >trace.dat' "$top_srcdir/tests/oracle/other_clock.py" \
	"recorder 1.0; threads of other pid namespaces: $tid; processes: $tid"
times=$("$RECORDER" sql --list trace.dat "select name || ' ' || ts || ' ' || dur from spans
	union all select name || ' ' || ts || ' ' || dur from syscalls" | grep -E '^(request|getpid) ' | sort | uniq | paste -sd ';')
like "the spans cross" "$times" '^getpid [0-9]+ [0-9]+;request [0-9]+ [0-9]+$'

ok "--perfetto" "$RECORDER" export --perfetto trace.dat -o trace.pftrace
sql times "select name, ts, dur from slice where category in ('io', 'raw_syscalls') order by name"
sql tracks "select s.name, s.depth, coalesce(t.name, 'thread') from slice s join track t on s.track_id = t.id where s.category in ('io', 'raw_syscalls') order by 1"
ask trace.pftrace
is "has their times" "$(answer times)" "$times"
is "on two tracks" "$(answer tracks)" "getpid 0 kernel's thread $tid;request 0 namesake $tid (other pid namespace)"

# The name belongs to a thread with another number of the same length.
sed "s/$tid namesake\$/$(tr 0-9 1-90 <<<"$tid") namesake/" trace.dat >unnamed.dat
ok "--perfetto, without the thread's name" "$RECORDER" export --perfetto unnamed.dat -o unnamed.pftrace
sql tracks "select t.name, p.name from slice s join track t on s.track_id = t.id join track p on t.parent_id = p.id where s.category = 'io'"
ask unnamed.pftrace
is "has tracks by number" "$(answer tracks)" \
	"thread $tid (other pid namespace) process $tid (other pid namespace)"

ok "--chrome" "$RECORDER" export --chrome trace.dat -o trace.json
is "has two threads" "$(python3 -c '
import json, sys
for event in json.load(open("trace.json"))["traceEvents"]:
    if event["ph"] != "M":
        print(event["name"], event["ph"], "own" if event["pid"] == event["tid"] else "other")' | sort | paste -sd ';')" \
	"getpid X other;request X own;tlb_flush i other"

ok "--folded" "$RECORDER" export --folded trace.dat -o folded
is "has two stacks" "$(sed -E 's/ [0-9]+$//' folded | sort | paste -sd ' ')" \
	"kernel's thread $tid;raw_syscalls:getpid namesake;io:request"

# ---- the kernel's switches

cat >switched.c <<'END'
#define _GNU_SOURCE
#include "tests/export/switches.h"
#include <librecorder/span.h>
REC_SPAN(io, request);
REC_COUNTER(io, level, u32(bytes));
int main(void)
{
	const int self = switch_here();
	REC_BEGIN(io, request);
	REC(io, level, 5);
	REC_END(io, request);
	REC(sched, sched_switch, "leaves", self, 120, 1, "after", self + 200001, 120);
	return !self || printf("%d\n", self) < 0;
}
END
kernel_events switched two.dat sched_switch
ok "of another thread" sh -c 'python3 "$0" 0 mono "$1" <two.dat >switched.dat' "$top_srcdir/tests/oracle/other_clock.py" \
	"recorder 1.0; threads of other pid namespaces: $tid; processes: $tid"
ok "--perfetto, with switches" "$RECORDER" export --perfetto switched.dat -o switched.pftrace
sql kernels "select name, count(*) from thread join thread_state using (utid) where tid = $tid and state = 'Running' group by name"
sql states "select count(*) from thread_state where utid in (select utid from thread_track t join slice s on s.track_id = t.id where s.category = 'io')"
sql tracks "select t.name, p.name from slice s join track t on s.track_id = t.id join track p on t.parent_id = p.id where s.category = 'io'"
sql counters "select p.name from track t join track p on t.parent_id = p.id where t.name = 'io:level'"
ask switched.pftrace
is "the kernel's thread runs, by its name" "$(answer kernels)" "leaves 1"
is "the program's thread has no states" "$(answer states)" 0
is "its spans are on a track of their own" "$(answer tracks)" \
	"switched $tid (other pid namespace) switched, process $tid (other pid namespace)"
is "and so are its counters" "$(answer counters)" "switched, process $tid (other pid namespace)"

done_testing
