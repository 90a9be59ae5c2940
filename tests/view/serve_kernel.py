# SPDX-License-Identifier: MIT
"""
serve_kernel.py ADDRESS FIFO TICKER: a page of a running program and of what the kernel does for it. Each x in the fifo wakes
the program, which writes ten events. Prints "ok NAME" or "not ok NAME", a line for each check.
"""

import sys
import time

from browser import PATIENCE, Browser

address, fifo_path, ticker = sys.argv[1:4]

# The program's events, with the state that its row shows at each of their times; and the threads that woke the program.
TICKER = f"""(() => {{ const {{ rows, arrows, begin }} = recorderView.view.trace, row = rows.find((row) => row.kind === "thread" && row.id === "{ticker}");
	if (!row)
		return null;
	const line = (kind) => row.lines.find((line) => line.kind === kind)?.levels[0].items;
	const states = line("states"), points = line("points"), at = (time) => {{
		for (let i = 0; states && i < states.nr; i++)
			if (states.begin[i] <= time && time < states.end[i])
				return RUNS[states.name[i]];
		return "none"; }};
	const slept = (i) => RUNS[states.name[i]] === "sleeping" && states.begin[i] >= points.begin[29];
	return {{ asleep: Boolean(states && points?.nr >= 40 && Array.from(states.name, (_, i) => i).some(slept)),
		ticks: points ? Array.from(points.begin, at) : [], names: states ? Array.from(states.name, (name) => RUNS[name]) : [],
		wakers: Array.from({{ length: arrows.nr }}, (_, k) => k).filter((k) => arrows.kind[k] === 0 && rows[arrows.toRow[k]] === row).map((k) => rows[arrows.fromRow[k]].id) }};
}})()"""
HAS = f"(({TICKER})?.ticks.length ?? 0) >= "


def check(name, good, *about):
    print(("ok " if good else "not ok ") + name)
    if not good:
        print("# " + " | ".join(str(one)[:900] for one in about).replace("\n", " "))
    sys.stdout.flush()


def main():
    with open(fifo_path, "w", encoding="ascii") as fifo, Browser() as browser:
        # The program reads a letter other than x, so it runs, but writes no event. Some hosts hide a switch, so one
        # letter may not be enough.
        fifo.write("y")
        fifo.flush()
        browser.open(address)
        runs = f"window.recorderView?.view.width > 0 && ({TICKER})?.names.includes('running')"
        for _ in range(10 * PATIENCE):
            if browser.run(runs):
                break
            fifo.write("y")
            fifo.flush()
            time.sleep(0.1)
        check("without an event of a program the page has the kernel's", browser.run(runs))
        for turn in range(1, 5):
            fifo.write("x")
            fifo.flush()
            browser.wait(f"{HAS}{10 * turn}")
        # A picture's events of the kernel are taken before those of programs. So the picture has the kernel's events
        # up to the sleep before the last ten events.
        browser.wait(f"({TICKER}).asleep")
        seen = browser.run(TICKER)
        check("the program has four times ten events", len(seen["ticks"]) == 40, len(seen["ticks"]))
        check("it runs at the time of each", set(seen["ticks"][:30]) == {"running"}, seen)
        check("it was woken for each letter", len(seen["wakers"]) >= 3, seen["wakers"])
        check("the console is empty", not browser.told, browser.told)


main()
