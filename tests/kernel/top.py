# SPDX-License-Identifier: MIT
"""top.py TEXT <JSON: recorder top against sums that are computed from the switches in the text of trace-cmd report -t."""

import json
import re
import sys
from collections import defaultdict

EVENT = re.compile(r" *(\S.*)-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): (\S+): +(.*)")
SWITCH = re.compile(r"(.*):(\d+) \[\d+\] (\S+) ==> (.*):(\d+) \[")

running, events, names = defaultdict(int), defaultdict(int), defaultdict(int)
since, unknown = {}, {0}
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    event = EVENT.match(line)
    if not event:
        continue
    cpu, ts = event[3], int(event[4]) * 10**9 + int(event[5])
    events[int(event[2])] += 1
    names[event[6]] += 1
    if event[6] != "sched_switch":
        continue
    switch = SWITCH.match(event[7])
    before, after = int(switch[2]), int(switch[5])
    # Some hosts hide switches of their own tasks; and the first task on a CPU may be known to have run before its first
    # event.
    if cpu not in since or since[cpu][1] != before:
        unknown.update({before, since.get(cpu, (0, before))[1]})
    else:
        running[before] += ts - since[cpu][0]
    since[cpu] = (ts, after)
# What runs at the end runs until the last event of the trace.
for begin, thread in since.values():
    running[thread] += ts - begin

rows = [json.loads(line) for line in sys.stdin]
threads = {r["tid"]: r for r in rows if r["kind"] == "thread"}
wrong = [(tid, r["events"], events[tid]) for tid, r in threads.items() if r["events"] != events[tid]]
known = {tid: r for tid, r in threads.items() if tid not in unknown}
# A thread that is not part of any switch has no such key: it ran without a break on its CPU.
wrong += [(tid, r.get("running"), running[tid]) for tid, r in known.items() if r.get("running", 0) != running[tid]]
wrong += [(r["name"], r["events"]) for r in rows if r["kind"] == "event" and r["events"] != names[r["name"].split(":")[1]]]
# A thread of which nothing is known, such as an idle task that never ran on busy CPUs, has no time.
order = [r.get("running", 0) for r in rows if r["kind"] == "thread"]
print(len(known), "threads;", wrong)
sys.exit(bool(wrong) or len(known) < 5 or order != sorted(order, reverse=True) or sum(order) == 0)
