# SPDX-License-Identifier: MIT
"""
formats.py DIRECTORY: a recording of examples/07_storage as Chrome's JSON, folded stacks and CTF, against what the lines
of `recorder report -t` mean (tests/view/storage.py computes it). Prints "ok NAME" or "not ok NAME", a line for each
check.
"""

import collections
import decimal
import json
import re
import sys

from storage import KIND, LINE, Truth, fields_of, nanoseconds

directory = sys.argv[1]


def read(name):
    with open(f"{directory}/{name}", encoding="utf-8") as file:
        return file.read()


def check(name, got, expected):
    got, expected = sorted(got, key=repr), sorted(expected, key=repr)
    good = len(expected) > 0 and got == expected
    print(("ok " if good else "not ok ") + name)
    if not good:
        print(f"# {len(got)}, expected {len(expected)}; got {[one for one in got if one not in expected][:3]}; "
              f"expected {[one for one in expected if one not in got][:3]}"[:900])


def ns(value):
    return int(value * 1000)


def texts(fields):
    return {name: str(value) for name, value in fields.items() if name != "task"}


class Chrome:
    """The items of Chrome's JSON. Slices of a row begin and end one after the other."""

    def __init__(self, text):
        self.nested, self.others, self.states, self.tasks = [], [], [], []
        self.counters, self.points, self.flows = [], [], collections.defaultdict(list)
        self.open = {}
        for event in json.loads(text, parse_float=decimal.Decimal)["traceEvents"]:
            if event["ph"] != "M":
                self.event(event, event["ph"], ns(event["ts"]))
        for event, begin in self.open.values():
            self.row(event, begin, None)

    def event(self, event, phase, ts):
        args = event.get("args", {})
        if phase == "X":
            self.nested.append((event["name"], event["tid"], ts, ts + ns(event["dur"]), texts(args)))
        elif phase == "b":
            assert event["id"] not in self.open
            self.open[event["id"]] = event, ts
        elif phase == "e":
            self.row(*self.open.pop(event["id"]), ts)
        elif phase == "C":
            self.counters.append((event["name"], ts, int(args["value"]), event["tid"]))
        elif phase == "i":
            self.points.append((event["name"], ts, event["tid"], texts(args)))
        else:
            assert phase in "st", phase
            self.flows[event["id"]].append((ts, event["tid"]))

    def row(self, event, begin, end):
        name, number = event["name"], event["id"]
        if event["cat"] == "task":
            self.tasks.append((number, name, event["tid"], begin, end))
        elif number.startswith("span "):
            self.others.append((name, event["tid"], begin, end, texts(event["args"])))
        else:
            self.states.append((number, name, begin, end, event["tid"]))


def check_chrome(truth):
    chrome = Chrome(read("chrome.json"))
    for name, got, is_nested in ("nested", chrome.nested, True), ("keyed and timed", chrome.others, False):
        check(f"--chrome: {name} spans", got,
              [(one["name"], one["tid"], one["begin"], one["end"], one["fields"])
               for one in truth.spans if (KIND[one["name"]] not in ("keyed", "timed")) == is_nested])
    check("--chrome: counters", chrome.counters,
          [("storage:" + one["name"], one["ts"], one["value"], one["tid"]) for one in truth.counters])
    check("--chrome: states", chrome.states,
          [(f"storage:conn {one['key']}", one["value"], one["begin"], None if one["is_open"] else one["end"],
            one["tid"]) for one in truth.states])
    check("--chrome: tasks", chrome.tasks,
          [(f"task {one['task']} {one['name']}, thread {one['tid']}", truth.threads[one["tid"]], one["tid"],
            one["begin"], one["end"]) for one in truth.tasks])
    check("--chrome: flows", [(int(flow), *one, *other) for flow, steps in chrome.flows.items()
                              for one, other in zip(steps, steps[1:])],
          [(one["flow"], one["from_ts"], one["from_tid"], one["ts"], one["tid"]) for one in truth.flows])
    check("--chrome: events", chrome.points,
          [("reply", one["ts"], one["tid"], one["fields"]) for one in truth.points])


def check_folded(truth):
    expected, places = collections.Counter(), {}
    for span in truth.spans:
        places[span["tid"], span["name"], span["begin"]] = span

    def path(span):
        outer = span["parent"] and places[span["tid"], *span["parent"]]
        return (path(outer) if outer else truth.threads[span["tid"]]) + ";storage:" + span["name"]

    for span in truth.spans:
        if span["own"]:
            expected[path(span)] += span["own"]
    check("--folded: stacks and their own time", read("folded").splitlines(),
          [f"{name} {own}" for name, own in expected.items()])


CTF = re.compile(r"^\[0*(\d+)\] \([^)]*\) [^:]+:(\w+): \{ cpu_id = \d+ \}, \{ tid = (\d+), .*? \}, \{ (.*?) ?\}$")


def check_ctf(truth):
    got, expected = [], []
    for line in read("ctf").splitlines():
        ts, name, tid, fields = CTF.match(line).groups()
        # Texts are quoted, and a value with a name is ( "GET" : container = 0 ).
        values = re.findall(r'(\w+) = (?:\( )?(?:"([^"]*)"|(-?\d+))', fields)
        got.append((int(ts), int(tid), name,
                    {key: text or number for key, text, number in values if key != "container"}))
    for line in read("events").splitlines():
        match = LINE.match(line)
        if match:
            _, tid, time, name, fields = match.groups()
            expected.append((nanoseconds(time), int(tid), name, fields_of(fields)))
    # If a text is empty, babeltrace2 2.0.4 shows an earlier text instead. So empty texts are not compared.
    empty = {one[:3] + (name,) for one in expected for name, text in one[3].items() if not text}
    check("--ctf: events with their fields",
          *([(*one[:3], {name: text for name, text in one[3].items() if (*one[:3], name) not in empty})
             for one in events] for events in (got, expected)))
    assert len(expected) > len(truth.spans)


def main():
    truth = Truth(read("events"))
    check_chrome(truth)
    check_folded(truth)
    check_ctf(truth)


main()
