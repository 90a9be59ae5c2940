# SPDX-License-Identifier: MIT
"""
gallery.py PAGE TEXT PICTURES: the page of tests/view/gallery in a browser: its model has the items of the text, and they are drawn
where they belong. Prints "ok NAME" or "not ok NAME", a line for each check.
"""

import collections
import sys

from browser import Browser
from mouse import mouse
from picture import look

LABELS, AXIS = 230, 26  # as in rows.js
page_path, text_path, pictures = sys.argv[1:4]

ITEMS = """recorderView.view.trace.rows.flatMap((row) => row.lines.flatMap((line) => {
	const { items } = line.levels[0], { strings } = recorderView.view.trace;
	return Array.from({ length: items.nr }, (_, i) => line.kind === "values" ? ["values", row.name, items.begin[i], "-", items.low[i]]
		: [line.kind, row.name, items.begin[i], items.end[i], strings[items.name[i]]]);
})).concat(Array.from({ length: recorderView.view.trace.arrows.nr }, (_, k) => { const { rows, arrows } = recorderView.view.trace;
	return ["arrow", rows[arrows.fromRow[k]].name, arrows.from[k], arrows.to[k], rows[arrows.toRow[k]].name]; }))"""

# The pixel in the middle of an item, as a number.
PIXEL = """((name, nr) => { const page = recorderView, { view } = page, row = view.trace.rows.find((row) => row.name === name);
	view.reveal(row); page.painter.draw();
	const line = row.lines[0], items = line.levels[0].items, x = (view.x(items.begin[nr]) + view.x(items.end[nr])) / 2;
	const y = AXIS + row.y - view.scroll + line.y + 2, ratio = page.painter.ratio;
	const [r, g, b] = page.canvas.getContext("2d").getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data;
	return (0xff000000 | b << 16 | g << 8 | r) >>> 0; })"""


def check(name, good, *about):
    print(("ok " if good else "not ok ") + name)
    if not good and about:
        print("# " + ascii(about)[:1500])
    sys.stdout.flush()


def curve(browser):
    """The height of the counter's curve in each column, against its values."""
    browser.run("recorderView.view.reveal(recorderView.view.trace.rows.find((row) => row.name === 'mem:heap')), recorderView.painter.draw()")
    heights, values = browser.run("""(() => {
	const page = recorderView, { view, painter } = page, row = view.trace.rows.find((row) => row.name === "mem:heap"), line = row.lines[0];
	const items = line.levels[0].items, context = page.canvas.getContext("2d"), heights = [], values = [];
	const [low, high] = painter.range(line), top = AXIS + row.y - view.scroll + line.y;
	for (let i = 20; i < items.nr; i += 23) {
		const x = Math.round((view.x(items.begin[i]) + view.x(items.end[i])) / 2), column = context.getImageData(x, top, 1, line.height).data;
		const back = painter.stripe, other = painter.back;
		let y = 0;
		while (y < line.height && [back, other].includes((0xff000000 | column[4 * y + 2] << 16 | column[4 * y + 1] << 8 | column[4 * y]) >>> 0))
			y++;
		heights.push((line.height - y) / line.height);
		values.push((items.low[i] - low) / (high - low));
	}
	return [heights, values]; })()""")
    check("the curve of a counter has the height of its values", all(abs(a - b) < 0.15 for a, b in zip(heights, values)) and
          max(heights) - min(heights) > 0.2, heights, values)


# For an item of a row: whether the picture's column `step` pixels from its begin, or its end if negative, has one colour.
COLUMN = """((name, nr, step) => { const page = recorderView, { view } = page, row = view.trace.rows.find((row) => row.name === name);
	const line = row.lines[0], items = line.levels[0].items, ratio = page.painter.ratio;
	const x = step < 0 ? Math.round(view.x(items.end[nr]) * ratio) + step : Math.round(view.x(items.begin[nr]) * ratio) + step;
	const top = Math.round((AXIS + row.y - view.scroll + line.y) * ratio), height = Math.round(line.height * ratio);
	const column = new Uint32Array(page.canvas.getContext("2d").getImageData(x, top, 1, height).data.buffer);
	return new Set(column).size === 1; })"""

# The spans of the row `broken-103`, and whether their columns have one colour: at the begin, 10 pixels before the end,
# and at the end.
EDGES = {"whole": (True, True, True), "without a begin": (False, True, True), "open": (True, True, False), "cut": (True, False, False),
         "of which neither is known": (False, True, False)}


def edges(browser):
    """Where begin or end were not seen, the column at the edge is not of one colour; a cut span is hatched farther in, too."""
    browser.run("recorderView.view.reveal(recorderView.view.trace.rows.find((row) => row.name === 'broken-103')), recorderView.painter.draw()")
    for nr, (name, expected) in enumerate(EDGES.items()):
        got = tuple(browser.run(f"{COLUMN}('broken-103', {nr}, {step})") for step in (1, -10, -1))
        check(f"a span that is {name} is drawn so", got == expected, got, expected)


# A table: its lines, and what is below them.
LINES = "((name) => { const one = [...document.querySelectorAll('#panel-body table')].find((one) => one.caption.textContent === name); " \
        "return [one.tBodies[0].rows.length, one.tFoot?.textContent ?? '']; })"


def long_tables(browser):
    """A table that is cut shows how many lines it lacks, and shows these lines on request."""
    rows = browser.run("recorderView.view.trace.rows.length")
    spans = browser.run("summarise(recorderView.view.trace, 0, recorderView.view.trace.length).spans.length")
    for tab, name, nr in (("rows", "All rows", rows), ("summary", "Spans", spans)):
        browser.run(f"recorderView.panels.open('{tab}'), recorderView.panels.ready")
        got = browser.run(f"{LINES}('{name}')")
        check(f"the table {name} says how many more there are", got == [200, f"and {nr - 200} more: show {nr - 200}"], got, nr)
        browser.run("document.querySelector('#panel-body tfoot button').click(), recorderView.panels.ready")
        got = browser.run(f"{LINES}('{name}')")
        check(f"and {name} shows them", got == [nr, ""], got, nr)


# A summary of a trace whose columns are not decoded yet: the number of its lines, and of the steps between which a picture may be drawn.
SLICES = """(async () => { const trace = await Trace.load(recorderView.view.trace.blocks), lines = trace.rows.flatMap((row) => row.lines).length;
	const steps = summariseSteps(trace, 0, trace.length), clock = performance.now;
	let nr = 0, one;
	do
		one = steps.next(), nr++;
	while (!one.done);
	performance.now = () => nr += 1000;
	let asked = 0;
	const slices = await inSlices((function* () { for (let i = 0; i < 5; i++) yield; return "made"; })(), () => ++asked < 100);
	const given_up = await inSlices((function* () { for (;;) yield; })(), () => ++asked < 100);
	performance.now = clock;
	return [lines, nr > 3 * lines, JSON.stringify(one.value.spans.map(({ count }) => count)) ===
		JSON.stringify(summarise(recorderView.view.trace, 0, trace.length).spans.map(({ count }) => count)), slices, given_up, asked]; })()"""


def slices(browser):
    """The tables are made in steps, so that the picture moves meanwhile; and they are given up when others are wanted."""
    lines, many, same, made, given_up, asked = browser.run(SLICES)
    check("a summary has several steps for each line", lines > 250 and many, lines)
    check("and the same numbers", same)
    check("after each slice the page asks whether it is still wanted", made == "made" and given_up is None and asked == 100, made, given_up, asked)


def hidden_arrows(browser):
    """Too many arrows for one picture: only those of the chosen row are drawn, and the page shows how many are not."""
    hint = "recorderView.painter.draw(), document.getElementById('hidden-arrows').textContent"
    check("if all arrows are drawn, nothing is said", browser.run(hint) == "")
    crowd = browser.run("""(() => { const { view } = recorderView, { arrows } = view.trace, { row, item } = view, before = { ...arrows };
        const wide = Math.floor(view.chart / 10), { nr } = arrows, counts = [];
        for (const more of [wide - nr, wide]) {
            for (const name of ["from", "to", "fromRow", "toRow", "kind"])
                arrows[name] = Array.from({ length: nr + more }, (_, i) => i >= nr && name === "kind" ? 0 : before[name][Math.min(i, nr - 1)]);
            arrows.nr = nr + more;
            view.row = view.item = null;
            counts.push(recorderView.painter.arrowsShown().shown.length - nr - (more === wide ? 0 : more)); }
        view.row = row, view.item = item, Object.assign(arrows, before);
        return counts; })()""")
    check("one wake-up for each ten pixels is drawn; if there are more, flows alone are", crowd == [0, 0], crowd)
    browser.run("""(() => { const { arrows } = recorderView.view.trace, more = 1000; window.fewer = { ...arrows };
        for (const name of ["from", "to", "fromRow", "toRow", "kind"])
            arrows[name] = Array.from({ length: arrows.nr + more }, (_, i) => arrows[name][Math.min(i, arrows.nr - 1)]);
        arrows.nr += more; })()""")
    own = browser.run("recorderView.view.row = recorderView.view.trace.rows[recorderView.view.trace.arrows.fromRow[0]], "
                      "recorderView.view.item = null, window.fewer.nr")
    shown = browser.run("recorderView.painter.arrowsShown().shown.length")
    got = browser.run(hint)
    check("the page says how many arrows are not drawn", 0 < shown < own + 1000 and
          got.replace("\u2009", "").startswith(f"{own + 1000 - shown} arrows are not drawn"), got, shown)
    browser.run("Object.assign(recorderView.view.trace.arrows, window.fewer)")


# The lines of the item's table whose heads name an arrow.
CAUSES = """[...document.querySelectorAll("#panel-body tbody tr")].filter((row) => /^(Flow|Wake|Woken)/.test(row.cells[0].textContent))
	.map((row) => [row.cells[0].textContent, ...[...row.querySelectorAll("button")].map((one) => one.textContent)])"""


def causes(browser, arrows):
    """The arrows of an item are links in its table, which a screen reader finds and Enter follows."""
    browser.run("(() => { const row = recorderView.view.trace.rows.find((row) => row.name === 'worker-101');"
                "recorderView.chooseItem({ row, line: row.lines.find((line) => line.kind === 'spans' && !line.depth), i: 0 }, true); })()")
    browser.run("recorderView.panels.open('item'), recorderView.panels.ready")
    at = "recorderView.view.trace.absolute(%d)"
    came, went = ([arrow for arrow in arrows if arrow[where] == "worker-101"][0] for where in (3, 0))
    expected = [["Flow from", f"{came[0]} at {browser.run(at % came[1])}"], ["Flow to", f"{went[3]} at {browser.run(at % went[2])}"]]
    got = browser.run(CAUSES)
    check("the table of an item has its flows", got == expected, got, expected)
    tree = browser.tree()
    check("a screen reader finds them", {("rowheader", "Flow from"), ("button", expected[0][1])} <= set(tree), tree)
    browser.run("document.querySelector('#panel-body tbody td button').closest('table').querySelectorAll('button').forEach((one) => "
                f"one.textContent === '{expected[0][1]}' && one.focus())")
    browser.key("Enter")
    browser.wait("recorderView.view.item.row.name !== 'worker-101'")
    item = browser.run("(({ row, line, i }) => [row.name, line.depth, line.levels[0].items.begin[i], line.levels[0].items.end[i]])"
                       "(recorderView.view.item)")
    check("Enter leads to the span from which the flow comes", item[:2] == [came[0], 0] and item[2] <= came[1] <= item[3], item, came)
    check("the focus stays in the tables", browser.run("document.getElementById('panel-body').contains(document.activeElement)"))


def main():
    with open(text_path, encoding="utf-8") as text:
        expected = collections.Counter()
        for line in text:
            kind, rest = line.rstrip("\n").split(" ", 1)
            for row in ("fetch, task ", "conn:state "):  # names with blanks
                if rest.startswith(row):
                    number, rest = rest[len(row):].split(" ", 1)
                    rest = f"{row.replace(' ', '_')}{number} {rest}"
            row, low, high, what = rest.split(" ", 3)
            expected[(kind, row.replace("_", " "), low, high, what)] += 1
    with Browser() as browser:
        browser.dark(False)
        browser.open(f"file://{page_path}")
        browser.wait("window.recorderView?.view.width > 0")
        got = collections.Counter(tuple(str(part) for part in item) for item in browser.run(ITEMS))
        check("the page has every item", got == expected, list((got - expected).items())[:4], list((expected - got).items())[:4])
        rows = browser.run("recorderView.view.trace.rows.map((row) => [row.kind, row.name])")
        for kind in ("group", "thread", "task", "counter", "state", "keyed"):
            check(f"it has rows of kind {kind}", kind in {one for one, name in rows})
        depths = browser.run("recorderView.view.trace.rows.find((row) => row.name === 'net:rpc').lines.length")
        check("spans by key that overlap have lines of their own", depths > 2, depths)
        browser.run("recorderView.show(0, recorderView.view.trace.length)")
        browser.settle()
        colours = [browser.run(f"{PIXEL}('conn:state 17', {number})") for number in range(4)]
        check("each state has a colour, and the same each time", len(set(colours[:3])) == 3 and colours[0] == colours[3], colours)
        curve(browser)
        edges(browser)
        before = browser.run("recorderView.painter.arrowsShown().shown.length")
        check("flows are drawn", before == 23, before)
        browser.run("recorderView.view.scrollTo(0), recorderView.fold(recorderView.view.trace.rows.find((row) => row.name === 'Tasks'))")
        browser.settle()
        check("a heading folds its rows", browser.run("recorderView.view.trace.rows.filter((row) => row.kind === 'task').every((row) => row.y < 0)"))
        browser.run("recorderView.fold(recorderView.view.trace.rows.find((row) => row.name === 'Tasks'))")
        least, most = browser.run("(() => { const { values } = summarise(recorderView.view.trace, 0, recorderView.view.trace.length); "
                                  "const sum = values.find((one) => one.row.name === 'mem:debt'); return [sum.least, sum.most]; })()")
        values = [int(what) for kind, row, low, high, what in expected if row == "mem:debt"]
        check("the summary has a counter's least and most", [least, most] == [min(values), max(values)], least, most)
        opened = browser.run("summarise(recorderView.view.trace, 0, recorderView.view.trace.length).others.filter((sum) => sum.row.name === "
                             "'conn:state 17' && recorderView.view.trace.strings[sum.name] === 'OPEN').map((sum) => [sum.count, sum.total])")
        check("and how long something was in a state", opened == [[3, 3000000]], opened)
        sums = browser.run("summarise(recorderView.view.trace, 0, recorderView.view.trace.length).spans.filter((sum) => "
                           "recorderView.view.trace.strings[sum.name] === 'span')"
                           ".map((sum) => [sum.count, sum.incomplete, sum.total, sum.all, sum.least, sum.most])")
        check("and only whole spans have a duration", sums == [[1, 4, 1000000, 1000000, 1000000, 1000000]], sums)
        causes(browser, [(row, int(low), int(high), what) for kind, row, low, high, what in expected if kind == "arrow"])
        long_tables(browser)
        slices(browser)
        hidden_arrows(browser)
        mouse(browser, check)
        browser.run("recorderView.panels.open('summary'), recorderView.panels.ready")
        print(f"look {look(browser)}", flush=True)
        browser.picture(f"{pictures}/gallery.png")
        browser.size(1400, 900, 2)
        browser.picture(f"{pictures}/fine.png")
        browser.wait("recorderView.canvas.width > 2000")
        check("a screen with small pixels gets a finer picture", True)
        # The tests read pixels of the canvas, which the page itself does not.
        told = [one for one in browser.told if "Multiple readback operations" not in one]
        check("the console is empty", not told, told)


main()
