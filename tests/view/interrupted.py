# SPDX-License-Identifier: MIT
"""
interrupted.py DIRECTORY: the pages of tests/view/interrupted.c have the spans that recorder sql and report --spans have, with
the same times, and show how each was interrupted. Prints "ok NAME" or "not ok NAME", a line for each check.
"""

import collections
import json
import re
import sys

from browser import Browser

directory = sys.argv[1]

SPANS = """recorderView.view.trace.rows.filter((row) => row.kind === "thread" || row.kind === "keyed").flatMap((row) =>
	row.lines.filter((line) => line.kind === "spans").flatMap((line) => { const { items } = line.levels[0], { trace } = recorderView.view;
		return Array.from(items.name, (name, i) => ({ name: trace.strings[name], row: row.kind === "keyed" ? null : Number(row.id),
			begin: String(trace.begin + BigInt(items.begin[i])), end: String(trace.begin + BigInt(items.end[i])), depth: line.depth,
			notes: recorderView.panels.describe({ row, line, i }).notes, flags: items.flags[i] })); }))"""

COUNTERS = """recorderView.view.trace.rows.filter((row) => row.kind === "counter").map((row) =>
	[row.name, Array.from(row.lines[0].levels[0].items.low)])"""

NOTES = {"whole": [], "no begin": ["its begin was not seen"], "open": ["it had not ended"], "cut": ["it was cut short"]}
# The state of each span, in the order of the begins. The numbers are those of the program.
STATES = {
    "jump": [("outer", 0, "no begin"), ("outer", 1, "whole"), ("inner", 1, "cut"), ("outer", 2, "open"), ("inner", 2, "open"),
             ("rpc", -7, "open"), ("outer", 3, "open"), ("inner", 4, "open")],
    "lose": [("outer", 4, "cut"), ("outer", 5, "no begin")],
}
MARKS = {"begin not seen": "no begin", "end not seen": "open", "cut: end not seen": "cut",
         "events lost inside, or ends without begins": "cut"}


def check(name, good, *about):
    print(("ok " if good else "not ok ") + name)
    if not good and about:
        print("# " + ascii(about)[:2000])
    sys.stdout.flush()


def by_sql(name):
    with open(f"{directory}/{name}.json", encoding="utf-8") as file:
        rows = json.load(file)
    for row in rows:
        row["number"] = next(iter(json.loads(row["args"]).values()))
    return rows


def by_report(name):
    """(thread, time, mark) of each line that marks a span as not whole."""
    line = re.compile(r"^ *.+-(\d+) +\[\d+\] +(\d+)\.(\d{9}):.*\|.*?(?:/\* (.*) \*/|; (.*))$")
    with open(f"{directory}/{name}.spans", encoding="utf-8") as file:
        for match in filter(None, map(line.match, file)):
            mark = match[4].split("; ")[-1] if match[4] else ""
            if mark in MARKS:
                yield int(match[1]), match[2] + match[3], MARKS[mark]


def last_event(name):
    """(thread, time) of the last event of the file."""
    with open(f"{directory}/{name}.spans", encoding="utf-8") as file:
        found = re.findall(r"^ *.+?-(\d+) +\[\d+\] +(\d+)\.(\d{9}):", file.read(), re.MULTILINE)
    return max(((int(tid), int(seconds + fraction)) for tid, seconds, fraction in found), key=lambda one: one[1])


def killed_until_the_end(name):
    span = next(row for row in by_sql(name) if row["number"] == 3)
    thread, end = last_event(name)
    check(f"{name}: the span of the killed process is open until the last event of the file, which another one wrote",
          span["tid"] != thread and span["ts"] + span["dur"] == end, span, thread, end)


def compare(browser, name):
    browser.open(f"file://{directory}/{name}.html")
    browser.wait("window.recorderView?.view.width > 0")
    expected, got = by_sql(name), browser.run(SPANS)
    check(f"{name}: each is interrupted as the program does it",
          [(row["name"], row["number"], row["state"]) for row in sorted(expected, key=lambda row: row["ts"])] == STATES[name], expected)
    check(f"{name}: the page has the names, times and depths of recorder sql",
          collections.Counter((one["name"].split(":")[1], one["row"], one["begin"], one["end"], one["depth"]) for one in got) ==
          collections.Counter((row["name"], None if row["name"] == "rpc" else row["tid"], str(row["ts"]), str(row["ts"] + row["dur"]),
                               row["depth"]) for row in expected), got, expected)
    states = {(str(row["ts"]), row["depth"], row["name"]): row["state"] for row in expected}
    check(f"{name}: and says which are open or cut", all(
        one["notes"] == NOTES[states[one["begin"], one["depth"], one["name"].split(":")[1]]] for one in got), got, expected)
    marks = list(by_report(name))
    notes = [(one["row"], one["begin"], one["end"], state) for one in got for state in NOTES if one["notes"] == NOTES[state]]
    check(f"{name}: report --spans marks these at their begin or end", marks and all(
        any(row in (None, tid) and time in (begin, end) and (mark == state) for row, begin, end, state in notes)
        for tid, time, mark in marks), marks, notes)
    check(f"{name}: the console is empty", not browser.told, browser.told)


def main():
    with Browser() as browser:
        compare(browser, "lose")
        browser.dark(False)
        compare(browser, "jump")
        killed_until_the_end("jump")
        with open(f"{directory}/counters.json", encoding="utf-8") as file:
            expected = collections.defaultdict(list)
            for row in json.load(file):
                expected[f"cut:heap, process {row['pid']}"].append(row["value"])
        got = dict(browser.run(COUNTERS))
        check("two processes count, and each has a curve", got == dict(expected) and sorted(map(len, got.values())) == [1, 2], got, expected)
        browser.picture(f"{directory}/interrupted.png")
        browser.dark(True)
        browser.wait("document.documentElement.dataset.theme === 'dark'")
        browser.picture(f"{directory}/interrupted-dark.png")


main()
