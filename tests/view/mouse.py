# SPDX-License-Identifier: MIT
"""The pointer in the page of tests/view/gallery: the tip, clicks, double clicks, drags, touch; and what a narrow window shows."""

LABELS, AXIS = 230, 26  # as in rows.js
CTRL = 2

# Scrolls to the row. Returns the position, in the window, of the part `part` of item `nr` in the row's first line.
PLACE = """((name, nr, part = 0.5) => { const { view, canvas } = recorderView, row = view.trace.rows.find((row) => row.name === name);
	view.reveal(row);
	const line = row.lines[0], items = line.levels[0].items, box = canvas.getBoundingClientRect();
	const from = Math.max(view.x(items.begin[nr]), view.labels), to = Math.min(view.x(items.end[nr]), view.width);
	return [box.left + from + (to - from) * part, box.top + AXIS + row.y - view.scroll + line.y + line.height / 2]; })"""
HEADING = """((name) => { const { view, canvas } = recorderView, row = view.trace.rows.find((row) => row.name === name);
	view.reveal(row);
	return [canvas.getBoundingClientRect().left + 60, canvas.getBoundingClientRect().top + AXIS + row.y - view.scroll + 12]; })"""
TIP = "(() => { const tip = document.getElementById('tip'); return tip.hidden ? null : [...tip.children].map((one) => one.textContent); })()"
RANGE = "[recorderView.view.from, recorderView.view.to]"
POINTER = "document.getElementById('pointer').textContent"


def whole(browser):
    browser.run("recorderView.drop(), recorderView.show(0, recorderView.view.trace.length), recorderView.view.scrollTo(0)")
    browser.settle()


def hover_at(browser, row, nr, part=0.5):
    """Moves the pointer to an item; the place."""
    x, y = browser.run(f"{PLACE}('{row}', {nr}, {part})")
    browser.mouse("mouseMoved", x, y)
    return x, y


def tip(browser, check):
    whole(browser)
    hover_at(browser, "worker-101", 2)
    expected = browser.run("""(() => { const { trace } = recorderView.view, row = trace.rows.find((row) => row.name === "worker-101");
        const items = row.lines[0].levels[0].items;
        return ["http:request", "", `worker-101, CPU ${items.cpu[2]}`, `at ${trace.absolute(items.begin[2])}, ` +
            duration(items.end[2] - items.begin[2]), ""]; })()""")
    browser.wait(f"!!{TIP}")
    got = browser.run(TIP)
    check("the tip has an item's name, row, CPU, time and length", got == expected, got, expected)
    check("a hand shows that it can be chosen", browser.run("recorderView.canvas.style.cursor") == "pointer")
    hover_at(browser, "broken-103", 3)
    browser.wait(f"{TIP}?.[0] === 'span'")
    got = browser.run(TIP)
    check("the tip of a span that was cut says it", got[-1] == "it was cut short", got)
    hover_at(browser, "broken-103", 2, 0.99)
    browser.wait(f"{TIP}?.includes('it had not ended')")
    box = browser.run("(() => { const tip = document.getElementById('tip').getBoundingClientRect(), stage = document.getElementById('stage')"
                      ".getBoundingClientRect(); return [tip.left - stage.left, tip.top - stage.top, stage.right - tip.right, stage.bottom - tip.bottom]; })()")
    check("the tip is inside the chart", min(box) >= 0, box)
    browser.key("Escape")
    check("Escape hides it", browser.run(TIP) is None)


def moving(browser, check):
    """The picture moves below the pointer: the tip and the time are those of what is there now."""
    whole(browser)
    browser.run("recorderView.show(2e6, 4e6)")
    x, y = hover_at(browser, "worker-101", 2, 0.1)
    browser.wait(f"!!{TIP}")
    browser.run("recorderView.pan(0.6)")
    browser.settle()
    got = browser.run(f"(() => {{ const {{ view, canvas }} = recorderView, box = canvas.getBoundingClientRect(), item = view.itemAt({x} - box.left, {y} - box.top);"
                      f"return [item?.i ?? null, view.hover?.i ?? null, {POINTER}, `Pointer: ${{view.trace.absolute(view.time({x} - box.left))}}`]; }})()")
    check("after the chart has moved, the item below the pointer is marked", got[:2] == [3, 3], got)
    check("and the time there is shown", got[2].strip() == got[3], got)
    browser.run("recorderView.view.scrollTo(0), recorderView.show(0, recorderView.view.trace.length * 0.001)")
    browser.mouse("mouseMoved", x, 300)
    browser.run("recorderView.pan(0.0001)")
    browser.settle()
    check("where there is no item, there is no tip", browser.run(f"!recorderView.view.hover === !{TIP}"))
    browser.mouse("mouseMoved", 20, 5)
    browser.settle()
    check("a pointer that leaves takes the tip and the time with it", browser.run(f"[{TIP}, {POINTER}, recorderView.view.hover]") == [None, "", None])


# A newer state of the recording, as a live page gets it: the same with one event more.
NEWER = "recorderView.take(Object.assign(Object.create(Trace.prototype), recorderView.view.trace, { events: recorderView.view.trace.events + 1 }))"


def rests(browser, check):
    """A page that does not change is not drawn again, wherever the pointer is."""
    whole(browser)
    browser.run("recorderView.show(0, recorderView.view.trace.length * 0.001)")
    browser.settle()
    left, top, x, y = browser.run("(() => { const { view, canvas } = recorderView, box = canvas.getBoundingClientRect();"
                                  "const row = view.trace.rows.find((row) => row.lines.length && row.y >= 0), y = AXIS + row.y + row.height / 2;"
                                  "let x = view.labels + 10; while (view.itemAt(x, y)) x += 5; return [box.left, box.top, box.left + x, box.top + y]; })()")
    for what, place in (("its names", (left + 60, y)), ("its axis", (left + 800, top + 10)), ("no item", (x, y))):
        browser.mouse("mouseMoved", *place)
        browser.settle()
        browser.settle()
        drawn = browser.run("""new Promise((done) => { const { painter } = recorderView; let frames = 3, drawn = 0;
            painter.draw = () => { drawn++; return Painter.prototype.draw.call(painter); };
            const next = () => frames-- ? requestAnimationFrame(next) : (delete painter.draw, done([drawn, recorderView.frame]));
            next(); })""")
        check(f"with the pointer over {what} the page is at rest", drawn == [0, 0], drawn)


def live(browser, check):
    """The tip in a page that gets newer states: it stays, it goes with its item, and it does not come back after Escape."""
    whole(browser)
    hover_at(browser, "worker-101", 2)
    browser.wait(f"!!{TIP}")
    before = browser.run(TIP)
    browser.run(NEWER)
    browser.settle()
    check("the tip stays while the recording grows", browser.run(TIP) == before, browser.run(TIP), before)
    browser.key("Escape")
    browser.run(NEWER)
    browser.settle()
    check("the tip that Escape has hidden does not come back", browser.run(TIP) is None)
    hover_at(browser, "worker-101", 2, 0.6)
    browser.wait(f"!!{TIP}")
    browser.run(f"recorderView.view.show(0, 100), {NEWER}")
    browser.settle()
    check("a tip whose item has left the picture is hidden", browser.run(f"!recorderView.view.hover && !{TIP}"))


def slow(browser, check):
    """An item whose fields have to be loaded has a tip without them until then."""
    at = "recorderView.view.trace.absolute(recorderView.view.trace.rows.find((row) => row.name === 'worker-101').lines[0].levels[0].items.begin[%d])"
    whole(browser)
    hover_at(browser, "worker-101", 2)
    browser.wait(f"!!{TIP}")
    browser.run("recorderView.panels.fields = () => new Promise((done) => window.loaded = () => done('number=3'))")
    hover_at(browser, "worker-101", 3)
    browser.wait("recorderView.view.hover?.i === 3")
    got, begin = browser.run(TIP), browser.run(at % 3)
    check("the tip is at once that of the next item", got[1] == "" and got[3].startswith(f"at {begin},"), got, begin)
    browser.run("loaded()")
    check("its fields follow", browser.run(TIP)[1] == "number=3", browser.run(TIP))
    hover_at(browser, "worker-101", 2)
    browser.wait("recorderView.view.hover?.i === 2")
    browser.key("Escape")
    browser.run("loaded()")
    check("fields that come after Escape do not bring the tip back", browser.run(TIP) is None)
    browser.run("delete recorderView.panels.fields")


def clicks(browser, check):
    whole(browser)
    x, y = hover_at(browser, "worker-101", 2)
    browser.wait(f"!!{TIP}")
    browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    check("a pressed button hides the tip", browser.run(TIP) is None)
    browser.mouse("mouseReleased", x, y, button="left", clickCount=1)
    hover_at(browser, "worker-101", 2, 0.55)
    browser.wait(f"!!{TIP}")
    check("it comes back when the pointer moves over the same item", browser.run("recorderView.view.hover.i") == 2)
    whole(browser)
    x, y = browser.run(f"{PLACE}('worker-101', 1)")
    browser.click(x, y, 2)
    begin, end, low, high = browser.run("(({ line, i }) => [line.levels[0].items.begin[i], line.levels[0].items.end[i]])(recorderView.view.item)"
                                        f".concat({RANGE})")
    check("a double click zooms to the item", abs(low - (begin - (end - begin) / 2)) < 2 and abs(high - (end + (end - begin) / 2)) < 2, begin, end, low, high)
    browser.settle()
    text, wanted = browser.run(f"[{POINTER}.trim(), `Pointer: ${{recorderView.view.trace.absolute(recorderView.view.time({x} - "
                               "recorderView.canvas.getBoundingClientRect().left))}`]")
    check("the time at the pointer is that of the picture", text == wanted, text, wanted)
    text, wanted = browser.run("[document.getElementById('range').textContent, `Shown: ${duration(recorderView.view.span)} from "
                               "${recorderView.view.trace.absolute(recorderView.view.from)}`]")
    check("the range in words is that of the picture", text == wanted, text, wanted)
    whole(browser)
    folded = "recorderView.view.isFolded(recorderView.view.trace.rows.find((row) => row.name === 'Threads'))"
    x, y = browser.run(f"{HEADING}('Threads')")
    browser.click(x, y)
    check("a click on a heading folds its rows", browser.run(folded))
    browser.click(x, y)
    check("the next one unfolds them", not browser.run(folded))
    browser.click(*browser.run(f"{HEADING}('worker-100')"))
    check("a click on the name of a row chooses it", browser.run("recorderView.view.row.name") == "worker-100")
    browser.run("recorderView.say('-'), recorderView.canvas.focus()")
    browser.key("Enter")
    check("Enter does not fold a row without rows below", browser.run("document.getElementById('status').textContent") == "-")


def drags(browser, check):
    whole(browser)
    browser.run("recorderView.show(2e6, 4e6)")
    x, y = 800, 400
    browser.run("recorderView.follow = true")
    browser.mouse("mousePressed", x, y, button="middle", buttons=4, clickCount=1)
    browser.mouse("mouseMoved", x - 100, y - 50, button="middle", buttons=4)
    moved, scrolled, chart = browser.run("[recorderView.view.from, recorderView.view.scroll, recorderView.view.chart]")
    check("the middle button moves the chart", abs(moved - 2e6 - 100 / chart * 2e6) < 2 and scrolled == 50, moved, scrolled)
    check("and a live page does not follow the recording any more", not browser.run("recorderView.follow"))
    browser.run("recorderView.canvas.dispatchEvent(new PointerEvent('pointercancel'))")
    browser.mouse("mouseMoved", x - 200, y, button="middle", buttons=4)
    check("a drag that the system cancels is over", browser.run("recorderView.view.from") == moved)
    browser.mouse("mouseReleased", x - 200, y, button="middle", clickCount=1)
    browser.mouse("mousePressed", x, y, button="right", buttons=2, clickCount=1)
    browser.mouse("mouseMoved", x - 100, y, button="right", buttons=2)
    browser.mouse("mouseReleased", x - 100, y, button="right", clickCount=1)
    check("the right button moves and selects nothing", browser.run("[recorderView.view.from, recorderView.view.selection]") == [moved, None])
    browser.ask("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    browser.ask("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x + 100, "y": y}])
    browser.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    check("a finger moves the chart", abs(browser.run("recorderView.view.from") - 2e6) < 2, browser.run("recorderView.view.from"))
    left, width, top = browser.run("(({ left, width, top }) => [left, width, top])(document.getElementById('overview').getBoundingClientRect())")
    browser.click(left + LABELS + (width - LABELS) * 0.75, top + 20)
    low, high, length = browser.run(f"{RANGE}.concat(recorderView.view.trace.length)")
    check("a click on the overview shows that time", abs((low + high) / 2 - 0.75 * length) < length / 500 and abs(high - low - 2e6) < 1, low, high)
    browser.wheel(left + LABELS + (width - LABELS) * 0.75, top + 20, 0, -200)
    browser.wait("recorderView.view.span < 1e6")
    low, high = browser.run(RANGE)
    check("the wheel there zooms", abs((low + high) / 2 - 0.75 * length) < length / 500, low, high)


# The browser may deliver what a finger did later, with the next frame.
TOUCHED = """(() => { window.touched = {};
	for (const kind of ["pointermove", "pointerup"])
		recorderView.canvas.addEventListener(kind, (event) => touched[event.pointerId] = `${kind} ${event.clientX} ${event.clientY}`); })()"""


def touch(browser, kind, places, told=()):
    """Touches the chart with fingers, NUMBER X Y, and waits until the page was told so."""
    browser.run("window.touched = {}")
    browser.ask("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": number} for number, x, y in places])
    for text in told:
        browser.wait(f"Object.values(touched).includes('{text}')")


def move(browser, *places):
    touch(browser, "touchMove", places, [f"pointermove {x} {y}" for _, x, y in places])


def fingers(browser, check):
    """Two fingers: what is between them stays there; the distance between them is that of the same times, or rows."""
    state = ("(([x, y]) => { const { view, canvas } = recorderView, box = canvas.getBoundingClientRect(); return [view.span, view.time(x - box.left),"
             "view.scroll + y, view.from]; })(%s)")
    near = lambda got, wanted: abs(got - wanted) < 2
    whole(browser)
    browser.run(TOUCHED)
    browser.run("recorderView.drop(), recorderView.view.row = null, recorderView.view.scrollTo(60), recorderView.show(2e6, 4e6)")
    _, time, row, _ = browser.run(state % "[800, 400]")
    touch(browser, "touchStart", [(0, 700, 400)])
    touch(browser, "touchStart", [(0, 700, 400), (1, 900, 400)])
    check("two fingers that rest move nothing", browser.run(f"{RANGE}") == [2e6, 4e6], browser.run(RANGE))
    move(browser, (0, 600, 400), (1, 1000, 400))
    span, at, _, _ = browser.run(state % "[800, 400]")
    check("as they move apart, the time between them is shown larger", near(span, 1e6) and near(at, time), span, at, time)
    move(browser, (0, 650, 380), (1, 1050, 380))
    span, at, at_row, _ = browser.run(state % "[850, 380]")
    check("as they move together, it moves with them, and so do the rows", near(span, 1e6) and near(at, time) and near(at_row, row), span, at, time, at_row, row)
    move(browser, (0, 850, 280), (1, 850, 480))
    span, at, _, _ = browser.run(state % "[850, 380]")
    check("one may be above the other", near(span, 2e6) and near(at, time), span, at, time)
    _, _, _, before = browser.run(state % "[850, 380]")
    touch(browser, "touchEnd", [(1, 850, 480)], ["pointerup 850 480"])
    check("a finger that is lifted moves nothing", browser.run("recorderView.view.from") == before)
    move(browser, (0, 750, 280))
    chart = browser.run("recorderView.view.chart")
    check("the other one then moves the picture", near(browser.run("recorderView.view.from"), before + 100 / chart * 2e6))
    touch(browser, "touchEnd", [], ["pointerup 750 280"])
    check("none of this is a click", browser.run("[recorderView.view.item, recorderView.view.row, recorderView.view.selection]") == [None, None, None])
    browser.run("recorderView.show(2e6, 4e6)")
    touch(browser, "touchStart", [(0, 700, 400), (1, 900, 400)])
    touch(browser, "touchCancel", [])
    browser.mouse("mouseMoved", 500, 400)
    check("fingers that the system takes away move nothing", browser.run(RANGE) == [2e6, 4e6], browser.run(RANGE))


def names(browser, check):
    """Names in the picture, and times on its axis."""
    # Rooms are those of texts in the font that is installed.
    got = browser.run("(({ painter, view }) => { painter.widths.clear(); painter.context.font = `11px ${FONT}`;"
                      "const [line] = view.trace.rows.find((row) => row.name === 'worker-100').lines, { items } = line.levels[0];"
                      "const whole = painter.widthOf('http:request'), short = painter.widthOf('request');"
                      "return [whole, whole - 1, short, short - 1].map((room) => painter.label({ line, items, i: 0 }, room)); })(recorderView)")
    check("a name that does not fit is drawn without its system", got[:3] == ["http:request", "request", "request"] and
          got[3].startswith("re") and got[3].endswith("…"), got)
    got = browser.run("(({ painter }) => { painter.widths.clear(); painter.context.font = `11px ${FONT}`; return Array.from({ length: 120 }, (_, room) => "
                      "[painter.widthOf(painter.fit('worker-100', room)), room]).filter(([wide, room]) => wide > room); })(recorderView)")
    check("no name is wider than its room", got == [], got)
    got = browser.run("(({ trace }) => { const line = trace.rows.find((row) => row.kind === 'task').lines[0], { strings } = trace, items = line.levels[0].items;"
                      "const was = strings[items.name[0]]; strings[items.name[0]] = 'kworker/0:1H-44';"
                      "const { painter } = recorderView, got = painter.label({ line, items, i: 0 }, painter.widthOf('kworker/0:1H-44') - 1); strings[items.name[0]] = was; return got; })(recorderView.view)")
    check("the name of a thread is not, because it has no system", got.startswith("kwor"), got)
    got = browser.run("(({ view, painter }) => { const { length } = view.trace, texts = []; const marks = (long, from, to) => {"
                      "view.trace.length = long, view.show(from, to); painter.widths.clear(); painter.context.font = `11px ${FONT}`; const step = painter.step();"
                      "let wide = 0; for (let n = Math.ceil(view.from / step); n * step <= view.to; n++) wide = Math.max(wide, painter.widthOf(painter.mark(n, step)));"
                      "return [painter.mark(Math.floor(view.to / step), step), step / view.span * view.chart - wide >= 10]; };"
                      "texts.push(marks(472e6, 0, 472e6), marks(4e9, 0, 4e9), marks(2e14, 1e14, 1e14 + 2000), marks(3e10, 1.23e10, 1.23e10 + 2e4));"
                      "for (let apart = 60; apart < 160; apart += 2)"  # the last mark is short: 50000000000 µs, after 49999999999.998 µs
                      "texts.push(marks(1e14, 5e13 + 1 - 2 * view.chart / apart, 5e13 + 1));"
                      "view.trace.length = length, view.show(0, length); return texts; })(recorderView)")
    check("times have a unit of which there is one", [text.split(" ")[1] for text, _ in got[:4]] == ["ms", "s", "µs", "ms"], got)
    check("marks of the axis leave room between them", all(fits for _, fits in got), got)


def narrow(browser, check):
    browser.size(420, 800)
    whole(browser)
    browser.wait("recorderView.view.width === 420")
    browser.mouse("mouseMoved", 300, 300)
    browser.settle()
    # In one step, because the next frame would write the number of arrows.
    got = browser.run("document.getElementById('hidden-arrows').textContent = '1000 arrows are not drawn: zoom in, or choose a row to see its arrows',"
                      "document.getElementById('facts').textContent += ', 1000000 lost, merged below 512 ns where dense',"
                      "[recorderView.view.labels, recorderView.view.chart, document.documentElement.scrollWidth]")
    check("a narrow window leaves the most to the chart", got == [147, 273, 420], got)
    lines = browser.run("[...document.querySelectorAll('#legend li, #find label, nav button, [role=tab]')].filter((one) => one.offsetHeight > 32)"
                        ".map((one) => one.textContent)")
    check("no word of its buttons and its legend is on two lines", lines == [], lines)
    browser.size(1400, 900)
    browser.wait("recorderView.view.width === 1400")


def below(browser, check):
    """Only the tip is over the rows."""
    over = browser.run("(() => { const stage = document.getElementById('stage').getBoundingClientRect(); return ['pointer', 'hidden-arrows', 'tabs'].filter((id) => "
                       "document.getElementById(id).getBoundingClientRect().top < stage.bottom); })()")
    check("nothing covers the last row", over == [], over)


def mouse(browser, check):
    for test in (tip, moving, rests, live, slow, clicks, drags, fingers, names, below, narrow):
        test(browser, check)
    whole(browser)
    browser.run("recorderView.view.row = null")
