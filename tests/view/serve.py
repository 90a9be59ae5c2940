# SPDX-License-Identifier: MIT
"""
serve.py ADDRESS FIFO: the page of a recording that is running. Each x in the fifo makes the program write ten events, which
must appear in the page. Prints "ok NAME" or "not ok NAME", a line for each check, and how long events took.
"""

import http.client
import sys
import time
import urllib.parse

from browser import Browser

address, fifo_path = sys.argv[1:3]
parts = urllib.parse.urlsplit(address)


def check(name, good, *about):
    print(("ok " if good else "not ok ") + name)
    if not good and about:
        print("# " + " | ".join(str(one)[:600] for one in about).replace("\n", " "))
    sys.stdout.flush()


def ask(method, path, headers=None):
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.putrequest(method, path, skip_host=bool(headers))
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    answer.read()
    return answer.status


def questions():
    wrong = parts.path[:-2] + ("0" if parts.path[-2] != "0" else "1") + "/"
    for name, expected, got in (
            ("the page", 200, ask("GET", parts.path)),
            ("the data", 200, ask("GET", parts.path + "data")),
            ("another token", 404, ask("GET", wrong + "data")),
            ("no token", 404, ask("GET", "/")),
            ("a file", 404, ask("GET", parts.path + "../etc/passwd")),
            ("another method", 405, ask("POST", parts.path + "data")),
            ("another host", 421, ask("GET", parts.path + "data", {"Host": "example.org"})),
            ("two hosts", 421, ask("GET", parts.path + "data", {"Host": parts.netloc, "host": "example.org"})),
            ("no host", 421, ask("GET", parts.path + "data", {"Accept": "*/*"}))):
        check(f"{name}: {expected}", got == expected, got)


CHOSEN = """(async () => recorderView.view.item && [recorderView.view.item.row.name, await recorderView.panels.fields(recorderView.view.item)])()"""


def kept_while_following(browser, fifo):
    """Ten more events, twice: the chosen item stays chosen, and a table in which the focus is does not change."""
    browser.run("(() => { const { view } = recorderView, row = view.trace.rows.find((row) => row.lines.some((line) => line.kind === 'points'));"
                "recorderView.chooseItem({ row, line: row.lines.find((line) => line.kind === 'points'), i: 5 }, true); })()")
    browser.run("recorderView.panels.open('item'), recorderView.panels.ready")
    chosen = browser.run(CHOSEN)
    fifo.write("x")
    fifo.flush()
    browser.wait("recorderView.view.trace.events === 120")
    now = browser.run(CHOSEN)
    check("the chosen item stays chosen", chosen is not None and "number=5 " in chosen[1] and now == chosen, now, chosen)
    browser.run("recorderView.panels.open('events'), recorderView.panels.ready")
    browser.run("window.kept = document.querySelector('#panel-body td button, #panel-body th button'),"
                "window.kept.focus()")
    fifo.write("x")
    fifo.flush()
    browser.wait("recorderView.view.trace.events === 130")
    check("the recording has grown, and the table waits", browser.run("recorderView.panels.isStale"))
    check("the focus stays in the table", browser.run("document.activeElement === window.kept && window.kept.isConnected"))
    browser.run("document.getElementById('timeline').focus()")
    browser.wait("!recorderView.panels.isStale && !window.kept.isConnected")
    check("and the table follows once the focus has left", True)
    browser.run("recorderView.panels.open('summary'), recorderView.panels.ready")
    browser.run("document.querySelector('#panel-body th button').focus(), window.kept = document.activeElement.textContent,"
                "recorderView.panels.update(), recorderView.panels.ready")
    check("a table that changes by a key keeps the focus on its row", browser.run("document.activeElement.textContent === window.kept"))
    browser.run("document.getElementById('timeline').focus()")


def main():
    idle = http.client.HTTPConnection(parts.hostname, parts.port)
    idle.connect()  # a client that asks nothing holds up nobody
    with open(fifo_path, "w", encoding="ascii") as fifo, Browser() as browser:
        browser.open(address)
        browser.wait("document.getElementById('facts')?.textContent.includes('waiting')")
        check("before the first event the page waits", True)
        fifo.write("x")
        fifo.flush()
        browser.wait("window.recorderView?.view.width > 0")
        questions()
        check("the page follows the recording", browser.run("recorderView.follow"))
        browser.wait("recorderView.view.trace.events === 10")
        check("it has the events so far", True)
        delays = []
        day_before = time.time_ns()
        for turn in range(1, 11):
            before = time.monotonic()
            fifo.write("x")
            fifo.flush()
            browser.wait(f"recorderView.view.trace.events === {10 + 10 * turn}")
            delays.append(time.monotonic() - before)
        check("later events come by themselves", True)
        days = int(browser.run("String(recorderView.view.trace.realtime(recorderView.view.trace.length))"))
        check("the page knows the time of day of the last event", day_before <= days <= time.time_ns(), day_before, days)
        print(f"# from the write to the page: {1000 * min(delays):.0f} to {1000 * max(delays):.0f} ms")
        kept_while_following(browser, fifo)
        browser.run("recorderView.zoom(0.5)")
        check("it does not follow any more once the user moves", not browser.run("recorderView.follow"))
        low = browser.run("recorderView.view.trace.absolute(recorderView.view.from)")
        fifo.write("x")
        fifo.flush()
        browser.wait("recorderView.view.trace.events === 140")
        now = browser.run("recorderView.view.trace.absolute(recorderView.view.from)")
        check("and stays where it is", abs(float(now) - float(low)) < 1e-6, low, now)
        check("the console is empty", not browser.told, browser.told)
        check("the page asks nobody else", all(one.startswith((address, "about:")) for one in browser.requests), browser.requests[:3])


main()
