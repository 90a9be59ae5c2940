# SPDX-License-Identifier: MIT
"""
storage_kernel.py DIRECTORY: the states of the storage server's threads, and what woke them, in recorder sql and the
page, whose answers storage_kernel.sh has put into the directory. Prints "ok NAME" or "not ok NAME", a line for each check.
"""

import json
import sys

from browser import Browser

directory = sys.argv[1]

# What recorder sql calls a state that has another name in the page.
SQL = {"uninterruptible": "blocked"}
STATES = ("running", "runnable", "sleeping", "blocked")

PAGE = """(() => { const { rows, arrows, begin } = recorderView.view.trace, at = (time) => String(begin + BigInt(time));
	return { states: rows.filter((row) => row.kind === "thread").flatMap((row) => row.lines.filter((line) => line.kind === "states").flatMap(
			(line) => { const { items } = line.levels[0]; return Array.from(items.name, (name, i) =>
				[row.id, at(items.begin[i]), items.end[i] - items.begin[i], RUNS[name]]); })),
		wakes: Array.from({ length: arrows.nr }, (_, k) => [rows[arrows.toRow[k]].id, at(arrows.to[k]), rows[arrows.fromRow[k]].id,
			arrows.kind[k]]).filter((arrow) => arrow[3] === 0) }; })()"""


def check(name, good, *about):
    print(("ok " if good else "not ok ") + name)
    if not good:
        print("# " + " | ".join(str(one)[:900] for one in about).replace("\n", " "))


def same(name, got, expected):
    check(name, expected and got == expected, len(got), len(expected), f"not expected {sorted(got - expected)[:3]}",
          f"missing {sorted(expected - got)[:3]}")


def rows_of(name):
    with open(f"{directory}/{name}.json", encoding="utf-8") as file:
        return json.load(file)


def from_sql():
    rows = rows_of("sched")
    states = {(row["tid"], row["ts"], row["dur"], SQL.get(row["state"], row["state"])) for row in rows}
    wakes = {(row["tid"], row["ts"] + row["dur"], row["waker"]) for row in rows if row["waker"] and row["waker"] != row["tid"]}
    return states, wakes


def from_page(tids):
    with Browser() as browser:
        browser.open(f"file://{directory}/out.html")
        browser.wait("window.recorderView?.view.width > 0")
        page = browser.run(PAGE)
        check("the console is empty", not browser.told, browser.told)
    return ({(int(tid), int(ts), int(dur), state) for tid, ts, dur, state in page["states"] if int(tid) in tids},
            {(int(tid), int(ts), int(waker)) for tid, ts, waker, _ in page["wakes"] if int(tid) in tids})


def total(states, name):
    return sum(dur for tid, ts, dur, state in states if state == name)


def main():
    states, wakes = from_sql()
    tids = {state[0] for state in states}
    # On a busy machine one worker may do all requests; the other one has no events then, so that its process is unknown.
    writers = {row["tid"] for row in rows_of("writers")}
    check("each thread that wrote an event has states", len(writers) >= 2 and writers <= tids, tids, writers)
    check("they run, wait for a CPU, and sleep", {"running", "runnable", "sleeping"} <= {state[3] for state in states}, tids)
    page_states, page_wakes = from_page(tids)
    same("page: the states of all threads", {one for one in page_states if one[3] in STATES}, {one for one in states if one[3] in STATES})
    same("page: who woke them", page_wakes, wakes)
    for state in STATES:
        check(f"the time {state} is the same", total(page_states, state) == total(states, state), total(page_states, state), total(states, state))


main()
