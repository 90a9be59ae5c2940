#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""latency.py EVENTS ANSWER KIND ARG...: recomputes a distribution from the lines of report --json, and compares it with the
object that recorder latency --json (or hist --json) printed. Prints what differs; silence means that they agree.

KIND ARG...:
  pair A B KEY    times from event A to event B with the same field KEY; "-": on the same thread
  span S          durations of the spans S_begin, S_end of a thread, which nest
  keyed S KEY     the same, found by KEY on any thread
  timed E         the field dur of the events E
  call N          system call N, from raw_syscalls
  wakeup          from the wake-up of a thread until it runs
  values E FIELD  the values of a field
"""
import json
import math
import sys

PARTS = 1024


def named(event, word):
    return event["event"] and word in (event["event"], event["system"] + ":" + event["event"])


class Series:
    def __init__(self):
        self.values = []
        self.no_begin = self.no_end = self.cut = 0
        self.hidden = 0  # durations without an end that may count as cut
        self.loss = 0

    def give(self, begin, end):
        if self.loss > begin:
            self.cut += 1
        else:
            self.values.append(end - begin)


def pairs(events, series, is_begin, is_end, key_begin, key_end, is_period=False):
    opened = {}
    for event in events:
        if "lost" in event:
            series.loss = event["ts"]
            continue
        if is_end(event):
            key = key_end(event)
            if key in opened:
                series.give(opened.pop(key), event["ts"])
            elif not is_period:
                series.no_begin += 1
        if is_begin(event):
            key = key_begin(event)
            series.no_end += key in opened
            opened[key] = event["ts"]
    if not is_period:
        series.no_end += len(opened)


def spans(events, series, name):
    stacks = {}
    for event in (event for event in events if "event" in event):
        stack = stacks.setdefault(event["pid"], [])
        word, _, what = event["event"].rpartition("_")
        if what == "begin":
            stack.append([event["system"] + ":" + word, event["ts"], False])
        elif what == "end":
            full = event["system"] + ":" + word
            if all(entry[0] != full for entry in stack):
                series.no_begin += full == name
                for entry in stack:
                    entry[2] = True
                continue
            while stack[-1][0] != full:
                series.cut += stack.pop()[0] == name
            entry = stack.pop()
            if full == name and entry[2]:
                series.cut += 1
            elif full == name:
                series.values.append(event["ts"] - entry[1])
    series.no_end += sum(entry[0] == name for stack in stacks.values() for entry in stack)


def wakeups(events, series):
    """A host may hide switches of its own tasks. Then it is not known which task ran last on a CPU, and an event of a thread
    that was woken shows that it runs. The last events of its own switch show nothing."""
    woken, state, runs, left = {}, {}, {}, {}
    for event in (event for event in events if "event" in event):
        fields, cpu, tid = event["fields"], event["cpu"], event["pid"]
        is_switch = event["event"] == "sched_switch"
        if is_switch or left.get(cpu) != tid:
            left[cpu] = None
            if woken.pop(tid, None) is not None:
                series.hidden += 1
                state[tid] = "running"
        if event["event"] in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
            tid = fields["pid"]
            if tid and state.get(tid) not in ("runnable", "running"):
                state[tid] = "runnable"
                woken[tid] = event["ts"]
        elif is_switch:
            before, after = fields["prev_pid"], fields["next_pid"]
            last = runs.get(cpu, before)
            runs[cpu], left[cpu] = after, before
            if last != before and state.get(last) == "running":
                state[last] = "unknown"
            if before:
                state[before] = "runnable" if not fields["prev_state"] & 0xff else "other"
            if after:
                if after in woken:
                    series.give(woken.pop(after), event["ts"])
                state[after] = "running"
    series.no_end = len(woken)


def collect(events, kind, args):
    series = Series()
    if kind == "pair":
        key = (lambda e: e["pid"]) if args[2] == "-" else (lambda e: e["fields"][args[2]])
        pairs(events, series, lambda e: named(e, args[0]), lambda e: named(e, args[1]), key, key, args[0] == args[1])
    elif kind == "call":
        number = int(args[0])
        pairs(events, series, lambda e: named(e, "raw_syscalls:sys_enter") and e["fields"]["id"] == number,
              lambda e: named(e, "raw_syscalls:sys_exit") and e["fields"]["id"] == number,
              lambda e: e["pid"], lambda e: e["pid"])
    elif kind == "keyed":
        pairs(events, series, lambda e: named(e, args[0] + "_begin"), lambda e: named(e, args[0] + "_end"),
              lambda e: e["fields"][args[1]], lambda e: e["fields"][args[1]])
    elif kind == "span":
        spans(events, series, args[0])
    elif kind == "timed":
        series.values = [e["fields"]["dur"] for e in events if "event" in e and named(e, args[0])]
    elif kind == "values":
        series.values = [e["fields"][args[1]] for e in events if "event" in e and named(e, args[0])]
    else:
        wakeups(events, series)
    return series


def compare(series, answer):
    values = sorted(series.values)
    wrong = []

    def expect(name, exact):
        if answer[name] != exact:
            wrong.append(f"{name}: {answer[name]}, not {exact}")

    expect("count", len(values))
    expect("min", values[0] if values else None)
    expect("max", values[-1] if values else None)
    # Values beyond 64 bits are not exact.
    if -(1 << 63) <= sum(values) < 1 << 63 or not math.isclose(answer["sum"], sum(values), rel_tol=1e-12):
        expect("sum", sum(values))
    if values and not math.isclose(answer["mean"], sum(values) / len(values), rel_tol=1e-12, abs_tol=1e-9):
        wrong.append(f"mean: {answer['mean']}, not {sum(values) / len(values)}")
    for name, tenths in (("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999)):
        if not values:
            expect(name, None)
            continue
        exact = values[max(-(-len(values) * tenths // 1000), 1) - 1]
        if not exact <= answer[name] <= exact + abs(exact) / PARTS:
            wrong.append(f"{name}: {answer[name]}, exact {exact}")
    at = 0
    for low, high, count in answer["buckets"]:
        inside = values[at:at + count]
        if high - low > max(abs(low), abs(high)) / PARTS or any(not low <= value <= high for value in inside):
            wrong.append(f"bucket {low} to {high}: {count}")
        at += count
    if at != len(values):
        wrong.append(f"buckets have {at} of {len(values)} values")
    for name in ("no_begin", "no_end", "cut"):
        if name in answer and not (name == "cut" and series.cut <= answer[name] <= series.cut + series.hidden):
            expect(name, getattr(series, name))
    return wrong


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        events = [item for item in map(json.loads, lines) if "event" in item or "lost" in item]
    with open(sys.argv[2], encoding="utf-8") as text:
        answer = json.load(text)
    wrong = compare(collect(events, sys.argv[3], sys.argv[4:]), answer)
    print("\n".join(wrong[:20]), end="\n" if wrong else "")


main()
