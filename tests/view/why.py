# SPDX-License-Identifier: MIT
"""
why.py PAGE JSON PICTURE: the rows of `recorder view --why` have the pieces of the path that `recorder why --json` printed, a line
for each span. Prints "ok NAME" or "not ok NAME", a line for each check.
"""

import json
import sys

from browser import Browser

page_path, json_path, picture = sys.argv[1:4]

ROWS = """recorderView.view.trace.rows.filter((row) => row.kind === "why").map((row) => {
	const { trace } = recorderView.view, { items } = row.lines[0].levels[0], { begin } = trace;
	return { name: row.name, group: trace.rows[row.parent].name, nr_lines: row.lines.length,
		path: Array.from({ length: items.nr }, (_, i) => ({ begin: String(begin + BigInt(items.begin[i])),
			dur: items.end[i] - items.begin[i], class: trace.strings[items.name[i]], cpu: items.cpu[i],
			fields: trace.strings[items.last[i]] })) };
})"""

# Colours of a row's pieces by class.
COLOURS = """((nr) => { const page = recorderView, [line] = page.view.trace.rows.filter((row) => row.kind === "why")[nr].lines;
	const { items } = line.levels[0], { runs } = page.painter;
	return Array.from({ length: items.nr }, (_, i) => RUNS[runs.indexOf(page.painter.colourOf(line, items.name[i]))] ?? "none"); })"""


def check(name, good, *about):
    print(("ok " if good else "not ok ") + name)
    if not good and about:
        print("# " + ascii(about)[:3000])
    sys.stdout.flush()


def fields(piece):
    text = f"task={piece['task']} tid={piece['tid']}"
    text += "" if piece["cpu"] is None else f" cpu={piece['cpu']}"
    text += f" by={piece['by']}" if piece["by"] else ""
    return text + (f" what={piece['what']}" if piece["what"] else "")


def expected(span):
    return [{"begin": str(piece["begin"]), "dur": piece["dur"], "class": piece["class"], "cpu": piece["cpu"] or 0,
             "fields": fields(piece)} for piece in span["path"]]


with open(json_path, encoding="utf-8") as lines:
    spans = [json.loads(line) for line in lines]

with Browser() as browser:
    browser.open(f"file://{page_path}")
    browser.wait("window.recorderView?.view.width > 0")
    rows = browser.run(ROWS)
    check("a row for each span, the slowest first", [row["name"].split(",")[0] for row in rows] == [str(s["id"]) for s in spans],
          rows)
    check("in a group", {row["group"] for row in rows} == {"why io:request"}, rows)
    check("which is the first", browser.run("recorderView.view.trace.rows[0].name") == "why io:request")
    for row, span in zip(rows, spans):
        check(f"span {span['id']}: the pieces of its path", row["path"] == expected(span) and row["nr_lines"] == 1,
              row["path"], expected(span))
    nr = max(range(len(spans)), key=lambda i: len(spans[i]["path"]))
    classes = [piece["class"] for piece in spans[nr]["path"]]
    check("running, runnable and blocked are among them", {"running", "runnable", "blocked"} <= set(classes), classes)
    colours = browser.run(f"{COLOURS}({nr})")
    check("in the colours of these states", colours == classes, colours, classes)
    browser.run(f"(() => {{ const row = recorderView.view.trace.rows.filter((row) => row.kind === 'why')[{nr}];"
                "recorderView.chooseItem({ row, line: row.lines[0], i: 1 }, true); recorderView.panels.open('item'); })()")
    browser.wait(f"document.getElementById('panel-body').textContent.includes({json.dumps(fields(spans[nr]['path'][1]))})")
    check("the chosen piece is shown with its fields", True)
    heads = browser.run("Array.from(document.querySelectorAll('#panel-body tbody th'), (cell) => cell.textContent)")
    check("and no CPU besides, as it may have none", "Fields" in heads and "CPU" not in heads, heads)
    check("the page says nothing on its console", not browser.told, browser.told)
    browser.picture(picture)
