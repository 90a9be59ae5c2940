# SPDX-License-Identifier: MIT
"""
page.py REPORT PAGE PICTURES: opens a page of recorder view in chromium, drives it, and compares its numbers with the text
of `recorder report -t` for the same file. Prints "ok NAME" or "not ok NAME", a line for each check.
"""

import collections
import re
import sys

from browser import Browser

LABELS, AXIS = 230, 26  # as in rows.js
CTRL, SHIFT = 2, 8

LINE = re.compile(r"^ *(.+)-(\d+) +\[(\d+)\] +(\d+\.\d{9}): (\S+): *(.*)$")
Event = collections.namedtuple("Event", "comm tid cpu ns name fields")

report_path, page_path, pictures = sys.argv[1:4]


def check(name, good, *about):
    print(("ok " if good else "not ok ") + name)
    if not good and about:
        print("# " + " | ".join(str(one)[:600] for one in about).replace("\n", " "))
    sys.stdout.flush()


def same(name, got, expected):
    check(name, got == expected, f"got {got}", f"expected {expected}")


def read_report():
    events = []
    with open(report_path, encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            match = LINE.match(line.rstrip("\n"))
            if match:
                comm, tid, cpu, time, name, fields = match.groups()
                events.append(Event(comm, int(tid), int(cpu), int(time.replace(".", "")), name, fields))
    return events


events = read_report()
kernel = [event for event in events if event.name in ("sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new")]
ends = [event for event in events if event.name.endswith(("_begin", "_end"))]
of_kernel, not_plain = set(kernel), set(kernel + ends)
plain = [event for event in events if event not in not_plain]
begin = min(event.ns for event in events)
counts = collections.Counter(event.name for event in events)


def short(name):
    return name.split(":", 1)[-1]


def numbers(browser):
    """Compares the page's own model with the report."""
    names = browser.run("recorderView.view.trace.strings.map((name, i) => [name, recorderView.view.trace.counts[i]])")
    same("the page counts the events by name", collections.Counter({short(name): nr for name, nr in names if nr}), counts)
    same("and all of them", browser.run("recorderView.view.trace.events"), len(events))
    points = browser.run("summarise(recorderView.view.trace, 0, recorderView.view.trace.length).points"
                         ".map((sum) => [recorderView.view.trace.strings[sum.name], sum.count])")
    same("its items are the events that are not of the scheduler", collections.Counter({short(name): nr for name, nr in points}),
         collections.Counter(event.name for event in plain))
    same("its time begins with the first event", browser.run("String(recorderView.view.trace.begin)"), str(begin))
    same("and ends with the last", browser.run("recorderView.view.trace.length"), max(event.ns for event in events) - begin)
    texts = browser.run("Promise.all(eventsBetween(recorderView.view.trace, 0, Infinity, 1e9).filter(({ line }) => line.kind === 'points').map(async (item) => [item.time, "
                        "labelOf(recorderView.view.trace, item), item.row.name, await recorderView.panels.fields(item)]))")
    got = collections.Counter((int(time) + begin, short(name), fields) for time, name, row, fields in texts)
    same("each has its time, its name and its fields", got - collections.Counter((e.ns, e.name, e.fields) for e in plain),
         collections.Counter())
    same("and none is missing", sum(got.values()), len(plain))
    rows = collections.Counter(row.rsplit("-", 1)[-1] for time, name, row, fields in texts if not row.startswith("CPU"))
    same("each is on the row of its thread", rows, collections.Counter(str(event.tid) for event in plain if event.tid))
    headings = browser.run("recorderView.view.trace.rows.filter((row) => row.kind === 'thread').map((row) => [row.id, "
                           "recorderView.view.trace.rows[row.parent].name])")
    programs = {str(event.tid) for event in plain if event.name in ("step", "turn", "rare")}
    process = {heading for tid, heading in headings if tid in programs}
    check("the program's threads are under one heading, of their process", len(programs) == 2 and len(process) == 1 and
          re.search(r", process (\d+)$", min(process)) and re.search(r"\d+$", min(process)).group() in programs, programs, headings)
    check("and others are not", all(tid in programs for tid, heading in headings if heading in process), headings)
    levels = browser.run("recorderView.view.trace.rows.flatMap((row) => row.lines.map((line) => line.levels.map(({ items }) => "
                         "Array.from({ length: items.nr }, (_, i) => countOf(items, i)).reduce((a, b) => a + b, 0))))")
    check("all levels of a line have the same number of events", all(len(set(line)) == 1 for line in levels), levels)


def spans_by_report():
    """The spans of each thread, from its begins and ends: (name, begin, end, depth, fields)."""
    spans, stacks = [], collections.defaultdict(list)
    for event in ends:
        name, _, which = event.name.rpartition("_")
        if which == "begin":
            stacks[event.tid].append((name, event))
        else:
            other, first = stacks[event.tid].pop()
            assert other == name
            spans.append((name, first.ns, event.ns, len(stacks[event.tid]), f"{first.fields} → {event.fields}"))
    return spans


def spans(browser):
    expected = spans_by_report()
    check("there are spans", len(expected) > 1000)
    got = browser.run("Promise.all(recorderView.view.trace.rows.filter((row) => row.kind === 'thread').flatMap((row) => row.lines.filter("
                      "(line) => line.kind === 'spans').flatMap((line) => Array.from(line.levels[0].items.name, async (name, i) => "
                      "[recorderView.view.trace.strings[name], line.levels[0].items.begin[i], line.levels[0].items.end[i], line.depth, "
                      "await recorderView.panels.fields({ row, line, i })]))))")
    got = collections.Counter((short(name), int(low) + begin, int(high) + begin, depth, fields) for name, low, high, depth, fields in got)
    check("each has its name, its times, its depth and the fields of both ends", got == collections.Counter(expected),
          list((got - collections.Counter(expected)).items())[:3], list((collections.Counter(expected) - got).items())[:3])
    sums = browser.run("summarise(recorderView.view.trace, 0, recorderView.view.trace.length).spans"
                       ".map((sum) => [recorderView.view.trace.strings[sum.name], sum.count, sum.total, sum.least, sum.most])")
    for name, count, total, least, most in sums:
        own = [high - low for other, low, high, depth, fields in expected if other == short(name)]
        same(f"the summary of {name}", [count, round(total), least, most], [len(own), sum(own), min(own), max(own)])


class Run:
    """A thread on a CPU: it began there between `earliest` and `latest`, and was last seen at `seen`."""

    def __init__(self, tid, earliest, latest):
        self.tid, self.earliest, self.latest, self.seen = tid, earliest, latest, latest


def times_by_report():
    """For each thread, the time that it ran: (least, most).

    They are equal, unless the host has hidden a switch. Then an event of the kernel shows that its thread runs, and that
    the one before ran at least until its own last event, and at most until this one. After its switch, a thread may still
    write the kernel's last events of that switch: they show nothing.
    """
    least, most, runs, left = collections.Counter(), collections.Counter(), {}, {}
    last = max(event.ns for event in events)

    def end(run, at_least, at_most):
        least[run.tid] += max(at_least - run.latest, 0)
        most[run.tid] += at_most - run.earliest

    for event in kernel:
        cpu, is_switch = event.cpu, event.name == "sched_switch"
        if not is_switch and event.tid == left.get(cpu):
            continue
        left[cpu] = None
        run = runs.get(cpu)
        if not run:
            run = Run(event.tid, begin, last)
        elif run.tid != event.tid:
            end(run, run.seen, event.ns)
            run = Run(event.tid, run.seen, event.ns)
            for other, elsewhere in list(runs.items()):
                if other != cpu and elsewhere.tid == event.tid:
                    end(elsewhere, elsewhere.seen, event.ns)
                    del runs[other]
        run.seen = event.ns
        if is_switch:
            prev, following = map(int, re.match(r".*?:(\d+) \[-?\d+\] \S+ ==> .*:(\d+) \[-?\d+\]$", event.fields).groups())
            end(run, event.ns, event.ns)
            left[cpu] = prev
            run = Run(following, event.ns, event.ns)
        runs[cpu] = run
    for run in runs.values():
        end(run, last, last)
    return {str(tid): (least[tid], most[tid]) for tid in most if tid}


def scheduling(browser):
    expected = times_by_report()
    runs = browser.run("summarise(recorderView.view.trace, 0, recorderView.view.trace.length).runs"
                       ".map((sum) => [recorderView.view.trace.strings[sum.name].replace(/.*-/, ''), sum.total])")
    got = collections.Counter()
    for tid, ns in runs:
        got[tid] += round(ns)
    check("the time of each thread on CPUs is that of the switches", set(got) <= set(expected) and all(
        low <= got[tid] <= high for tid, (low, high) in expected.items()), dict(got), expected)
    states = browser.run("summarise(recorderView.view.trace, 0, recorderView.view.trace.length).states"
                         ".map(({ row, times }) => [row.id, times[0], times[1] + times[2] + times[3]])")
    check("and in its own row", all(ns == got[tid] for tid, ns, rest in states), states, expected)
    check("threads wait, too", any(rest > 0 for tid, ns, rest in states), states)
    check("threads wake each other: there are arrows", browser.run("recorderView.view.trace.arrows.nr") > 0)


def range_of(browser):
    return browser.run("[recorderView.view.from, recorderView.view.to]")


def movement(browser):
    browser.run("recorderView.show(0, recorderView.view.trace.length)")
    width = browser.run("recorderView.view.width")
    top = browser.run("document.getElementById('timeline').getBoundingClientRect().top")
    length = browser.run("recorderView.view.trace.length")
    middle = LABELS + (width - LABELS) / 2
    browser.wheel(middle, top + 200, 0, -300, CTRL)
    browser.wait("recorderView.view.span < recorderView.view.trace.length * 0.5")
    low, high = range_of(browser)
    check("Ctrl and the wheel zoom around the pointer", abs((low + high) / 2 - length / 2) < length * 0.02, low, high, length)
    browser.wheel(middle, top + 200, 0, 200, SHIFT)
    browser.wait(f"recorderView.view.from > {low}")
    check("Shift and the wheel move in time", abs(range_of(browser)[1] - range_of(browser)[0] - (high - low)) < 2)
    low, high = range_of(browser)
    browser.drag(middle, top + 200, middle + 100, top + 200, SHIFT)
    moved = range_of(browser)[0] - low
    check("Shift and a drag move in time", abs(moved + 100 / (width - LABELS) * (high - low)) < (high - low) * 0.01, moved, low, high)
    browser.run("document.getElementById('timeline').focus()")
    for key, smaller in (("+", True), ("-", False), ("w", True), ("s", False)):
        low, high = range_of(browser)
        browser.key(key)
        now = range_of(browser)
        check(f"the key {key} zooms {'in' if smaller else 'out'}", (now[1] - now[0] < high - low) == smaller, now, low, high)
    for key, later in (("ArrowRight", True), ("ArrowLeft", False), ("d", True), ("a", False)):
        low = range_of(browser)[0]
        browser.key(key)
        check(f"the key {key} moves in time", (range_of(browser)[0] > low) == later)
    browser.key("0")
    check("the key 0 shows all", browser.run("recorderView.view.from <= 0 && recorderView.view.to >= recorderView.view.trace.length"))


def selection(browser):
    top = browser.run("document.getElementById('timeline').getBoundingClientRect().top")
    width = browser.run("recorderView.view.width")
    # About half of the events, and one of them in the middle: a stopped program may leave the rest of the range empty.
    times = sorted(event.ns - begin for event in plain)
    middle = times[len(times) // 2]
    reach = min(max(middle - times[len(times) // 4], times[len(times) * 3 // 4] - middle), middle)
    browser.run(f"recorderView.show({middle - reach}, {middle + reach})")
    browser.drag(LABELS + (width - LABELS) * 0.1, top + 300, LABELS + (width - LABELS) * 0.9, top + 300)
    low, high = browser.run("[recorderView.view.selection.from, recorderView.view.selection.to]")
    inside = collections.Counter(event.name for event in plain if low <= event.ns - begin <= high)
    check("a drag selects a range", high > low and sum(inside.values()) > 0, low, high)
    browser.run("recorderView.panels.open('summary'), recorderView.panels.ready")
    shown = browser.run("[...document.querySelectorAll('#panel-body table')].filter((one) => one.caption.textContent === 'Events')"
                        ".flatMap((one) => [...one.tBodies[0].rows].map((row) => [row.cells[0].textContent, row.cells[1].textContent]))")
    same("the summary counts the events in it", collections.Counter({short(name): int(re.sub(r"\D", "", nr)) for name, nr in shown}), inside)
    browser.key("2")
    browser.run("recorderView.panels.ready")
    browser.wait("document.querySelector('#panel-body td.text')?.textContent !== '' || !document.querySelector('#panel-body td.text')")
    rows = browser.run("[...document.querySelectorAll('#panel-body tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    expected = [event._replace(name=event.name.removesuffix("_begin")) for event in events if low <= event.ns - begin <= high
                and event not in of_kernel and not event.name.endswith("_end")][:300]
    same("the table lists them in order", [(row[0].replace(".", ""), short(row[4])) for row in rows],
         [(str(event.ns), event.name) for event in expected])
    browser.picture(f"{pictures}/selection.png")
    browser.key("Escape")
    check("Escape drops the selection", browser.run("recorderView.view.selection === null"))
    browser.key("1")


def search(browser, name):
    expected = [event for event in plain if event.name == name]
    browser.key("/")
    browser.type(f"story:{name}")
    browser.wait("recorderView.found > 0")
    same("the search counts what it found", browser.run("recorderView.found"), len(expected))
    browser.key("Enter")
    at = "recorderView.view.item && recorderView.view.trace.absolute(recorderView.view.item.line.levels[0].items.begin[recorderView.view.item.i])"
    browser.wait(at)
    same("Enter goes to the first", browser.run(at).replace(".", ""), str(expected[0].ns))
    browser.key("Enter")
    same("and to the next", browser.run(at).replace(".", ""), str(expected[1].ns))
    browser.run("document.getElementById('in-fields').click(), recorderView.find('needle')")
    browser.wait("recorderView.found === 1")
    browser.run("recorderView.drop(), recorderView.step(true)")
    needle = [event for event in plain if "needle" in event.fields]
    same("texts in fields are found", browser.run(at).replace(".", ""), str(needle[0].ns))
    ticks(browser, needle[0].ns - begin)
    browser.run("recorderView.find(''), recorderView.view.item = window.marked, 0")


# Whether the picture has the colour of matches at a time, in the line of points of the chosen item's row. This reads
# the image of the items, before arrows, texts and the lines of the axis are drawn over it.
IS_MARKED = """((time) => { const { view, painter } = recorderView, { row, line } = window.marked;
	const x = Math.floor((time - view.from) * (painter.wide / view.span)), y = Math.round((row.y - view.scroll + line.y + 1) * painter.ratio);
	return painter.pixels[y * painter.wide + x] === painter.matchColour; })"""


def ticks(browser, needle):
    """In the picture of all, where a level is drawn whose items have no event, the match is marked, and nothing else is."""
    browser.run("recorderView.show(0, recorderView.view.trace.length), recorderView.view.reveal(recorderView.view.row),"
                "window.marked = recorderView.view.item, recorderView.view.item = null")
    browser.settle()
    check("the picture of all is drawn with a coarse level",
          browser.run("(({ line }) => recorderView.painter.level(line) !== line.levels[0].items)(window.marked)"))
    check("the match is marked there", browser.run(f"{IS_MARKED}({needle})"))
    far = browser.run("recorderView.view.trace.length / 2")
    check("and nothing else is", not browser.run(f"{IS_MARKED}({far if abs(far - needle) > far / 10 else far / 2})"))


def address(browser):
    browser.run("recorderView.zoomTo(recorderView.view.item)")
    browser.wait("location.hash.includes('at=')")
    browser.run("recorderView.writeAddress()")  # at once; the page itself does it a little later
    state = ("[recorderView.view.from, recorderView.view.to, recorderView.view.row.name, "
             "recorderView.view.item.line.levels[0].items.begin[recorderView.view.item.i]]")
    before, link = browser.run(state), browser.run("location.href")
    start(browser, link)
    after = browser.run(state)
    check("the address leads to the same moment", all(abs(a - b) < 2 if isinstance(a, (int, float)) else a == b
                                                      for a, b in zip(before, after)), before, after)
    start(browser, f"file://{page_path}#from=junk&to=-1&row=%00&at=x&select=-")
    check("an address that makes no sense does no harm", browser.run("recorderView.view.span > 0"))


def extend(browser):
    """Shift and an arrow key select a range that begins as the chosen item, and move its other end."""
    at, end = browser.run("(({ line, i }) => [line.levels[0].items.begin[i], line.levels[0].items.end[i]])(recorderView.view.item)")
    ends = "[recorderView.view.selection?.from, recorderView.view.selection?.to]"
    # A step is a part of what is shown: two of them must fit between the item and the end of the trace.
    room = browser.run("recorderView.view.trace.length") - end
    browser.run(f"recorderView.show({max(at - room, 0)}, {end + room})")
    shown = browser.run("recorderView.view.span")
    browser.key("ArrowRight", SHIFT)
    browser.key("ArrowRight", SHIFT)
    low, high = browser.run(ends)
    check("Shift and an arrow select a range from the item on", low == at and abs(high - end - shown * 0.04) < 2, low, high, at, end, shown)
    told = browser.run("document.getElementById('status').textContent")
    check("and say it", told == browser.run("`selected: ${duration(recorderView.view.selection.to - recorderView.view.selection.from)}, from "
                                            "${recorderView.view.trace.absolute(recorderView.view.selection.from)} to "
                                            "${recorderView.view.trace.absolute(recorderView.view.selection.to)}`"), told)
    browser.key("ArrowLeft", SHIFT)
    low, shorter = browser.run(ends)
    check("the other arrow makes it shorter", low == at and at < shorter < high, low, shorter, high)
    browser.run("recorderView.view.selection = null")


def keyboard(browser):
    browser.run("document.getElementById('timeline').focus(), recorderView.drop()")
    for _ in range(3):
        browser.key("ArrowDown")
    row = browser.run("recorderView.view.row.name")
    same("arrow down chooses a row and says its name", browser.run("document.getElementById('status').textContent"), row)
    browser.run("recorderView.chooseRow(recorderView.view.trace.rows.find((row) => row.kind === 'thread' && row.lines.some((line) => line.kind === 'points')))")
    browser.run("recorderView.show(0, recorderView.view.trace.length)")
    browser.key(".")
    first = browser.run("document.getElementById('status').textContent")
    browser.key(".")
    second = browser.run("document.getElementById('status').textContent")
    check("the full stop chooses the next item, and says it", ", at " in first and first != second, first, second)
    browser.key(",")
    same("the comma goes back", browser.run("document.getElementById('status').textContent"), first)
    extend(browser)
    span = browser.run("recorderView.view.span")
    browser.key("Enter")
    check("Enter zooms to it", browser.run("recorderView.view.span") < span)
    for key, tab in (("2", "Events"), ("3", "Rows"), ("4", "Item"), ("1", "Summary")):
        browser.key(key)
        same(f"the key {key} opens {tab}", browser.run("document.querySelector('[aria-selected=true]').textContent"), tab)
    browser.key("?")
    check("the question mark opens the help", browser.run("document.getElementById('help').open"))
    browser.run("document.getElementById('help').close()")
    theme = browser.run("document.documentElement.dataset.theme")
    browser.key("t")
    check("T changes between dark and light", browser.run("document.documentElement.dataset.theme") != theme)
    browser.key("t")


def screen_reader(browser):
    browser.key("3")
    browser.run("recorderView.panels.ready")
    # While the machine is busy, a recording of the whole kernel has more threads than the table shows at first.
    while browser.run("(() => { const more = [...document.querySelectorAll('#panel-body button')].find((button) => "
                      "/^show /.test(button.textContent)); more?.click(); return !!more; })()"):
        browser.run("recorderView.panels.ready")
    tree = browser.tree()
    names = collections.defaultdict(set)
    for role, name in tree:
        names[role].add(name)
    for role, name in (("application", "Timeline"), ("searchbox", "Find"), ("button", "Zoom in"), ("button", "Help: keys and mouse"),
                       ("tab", "Summary"), ("tab", "Rows"), ("tabpanel", "Rows"), ("table", "All rows"), ("columnheader", "Row")):
        check(f"a screen reader finds the {role} {name}", name in names[role], names[role])
    rows = set(browser.run("recorderView.view.trace.rows.map((row) => row.name)"))
    # Some white space is lost in names.
    found = {re.sub(r"\s+", " ", name).strip() for name in names["rowheader"]}
    same("and each row of the picture", {re.sub(r"\s+", " ", name).strip() for name in rows} - found, set())
    unnamed = [role for role, name in tree if role in ("button", "checkbox", "searchbox", "tab", "application", "table") and not name]
    same("nothing that can be used is without a name", unnamed, [])


def hostile(browser):
    check("nothing of the recording ran as a script", browser.run("window.hacked === undefined"))
    same("nothing of it became an element", browser.run("document.querySelectorAll('img, #panel-body script, #title *').length"), 0)


def colours(browser):
    """Something was drawn: the number of colours in the picture, and whether it changes with the theme."""
    return browser.run("(() => { const c = document.getElementById('timeline'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; "
                       "const seen = new Set(); for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size; })()")


def start(browser, link=f"file://{page_path}"):
    browser.open(link)
    browser.wait("window.recorderView?.view.width > 0")
    browser.settle()


def main():
    with Browser() as browser:
        browser.dark(False)
        start(browser)
        check("the page has a picture", colours(browser) > 20)
        browser.picture(f"{pictures}/light.png")
        numbers(browser)
        spans(browser)
        if kernel:
            scheduling(browser)
        movement(browser)
        selection(browser)
        search(browser, "rare")
        address(browser)
        keyboard(browser)
        screen_reader(browser)
        hostile(browser)
        browser.dark(True)
        browser.wait("document.documentElement.dataset.theme === 'dark'")
        check("the page is dark where the system is", True)
        browser.picture(f"{pictures}/dark.png")
        same("the page loads nothing", [one for one in browser.requests if not one.startswith(("about:", f"file://{page_path}"))], [])
        # The tests read pixels of the canvas, which the page itself does not.
        same("the console is empty", [told for told in browser.told if "Multiple readback operations" not in told], [])
    # A script that somehow came into the page does not run.
    with open(page_path, encoding="utf-8") as page, open(f"{page_path}.hurt.html", "w", encoding="utf-8") as hurt:
        hurt.write(page.read().replace("<main>", "<main><script>window.hacked = 3</script><img src=x onerror='window.hacked = 4'>", 1))
    with Browser() as browser:
        start(browser, f"file://{page_path}.hurt.html")
        check("the policy stops any other script", browser.run("window.hacked === undefined"))
        check("and the browser says so", any("Content Security Policy" in told for told in browser.told), browser.told)


main()
