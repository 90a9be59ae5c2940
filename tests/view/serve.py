# SPDX-License-Identifier: MIT
"""
serve.py ADDRESS FIFO: the page of a recording that is running. Each x in the fifo makes the program write ten events, which
must appear in the page. Prints "ok NAME" or "not ok NAME", a line for each check, and how long events took.
"""

import http.client
import re
import socket
import sys
import time
import urllib.parse
from random import Random

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


def receive(connection):
    got = b""
    while True:
        part = connection.recv(1 << 16)
        if not part:
            return got
        got += part


def request(path, host=parts.netloc):
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


def slow_reader():
    """A client that does not read does not hold up others, and may read its whole answer later."""
    with socket.socket() as slow:
        # With small segments both sides have small buffers, so that the answer does not fit into them.
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 500)
        slow.connect((parts.hostname, parts.port))
        slow.sendall(request(parts.path))
        slow.recv(1, socket.MSG_PEEK)  # its answer has begun
        check("while a client does not read, another is served", ask("GET", parts.path) == 200)
        head, _, body = receive(slow).partition(b"\r\n\r\n")
        length = int(re.search(rb"Content-Length: (\d+)", head)[1])
        check("the slow one gets its whole answer", length > 50000 and len(body) == length, length, len(body))


def mutated(random, text):
    """A request with some bytes changed, removed, repeated or put in; or one of random bytes alone."""
    data = bytearray(text)
    if random.random() < 0.2:
        return random.randbytes(random.randrange(1, 9000))
    for _ in range(random.randrange(1, 6)):
        at, size = random.randrange(len(data) + 1), random.randrange(1, 40)
        what = random.randrange(4)
        if what == 0:
            data[at:at + 1] = random.randbytes(1)
        elif what == 1:
            del data[at:at + size]
        elif what == 2:
            data[at:at] = data[at:at + size]
        else:
            data[at:at] = random.choice([b"\0", b"\r\n", b"\r\n\r\n", b"Host: x\r\n", b"/", b"..", random.randbytes(size), b"A" * 9000])
    return bytes(data)


def hostile_requests(seed):
    """Invalid requests: only one with the token and the address is answered with the page; the server continues."""
    random = Random(seed)
    bad = []
    for turn in range(400):
        sent = mutated(random, request(parts.path + random.choice(["", "data"])))
        with socket.create_connection((parts.hostname, parts.port), timeout=120) as connection:
            try:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                got = receive(connection)
            except TimeoutError:
                bad.append((turn, sent[:200], "no answer"))
                continue
            except OSError:  # the server refuses to read such a long request
                continue
        allowed = parts.path.encode() in sent and parts.netloc.encode() in sent
        if got and not re.match(rb"HTTP/1\.1 (200|204) " if allowed else rb"HTTP/1\.1 4\d\d ", got) and not (
                allowed and re.match(rb"HTTP/1\.1 4\d\d ", got)):
            bad.append((turn, sent[:200], got[:100]))
    check("requests of random bytes get no data", not bad, seed, bad[:3])
    check("and the server lives on", ask("GET", parts.path + "data") == 200)


CHOSEN = """(async () => recorderView.view.item && [recorderView.view.item.row.name, await recorderView.panels.fields(recorderView.view.item)])()"""


def kept_while_following(browser, fifo):
    """Ten more events, twice: the chosen item stays chosen, and a table that has the focus does not change."""
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
                "recorderView.panels.later(true), window.kept.focus()")
    browser.wait("recorderView.panels.isStale")
    check("a table waits also if it gets the focus just before it would change", browser.run("window.kept.isConnected"))
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


# While a search runs, the page gets a newer state, which also has events from before the state that is searched.
GROWS_MEANWHILE = """(async () => {
	const page = recorderView, { view } = page, found = new Map(), search = findMatches, newer = await askServer();
	window.findMatches = async (trace, ...rest) => {
		const matches = await search(trace, ...rest);
		found.set(matches, trace);
		return matches;
	};
	page.drop();
	newer.begin -= 1000n;
	view.selection = { from: 10, to: 20, fixed: 20 };
	const shift = Number(view.trace.begin - newer.begin);
	const searching = page.find("tick");
	await page.take(newer);
	const ends = ["from", "to", "fixed"].map((end) => view.selection[end] - shift);
	await searching;
	window.findMatches = search;
	return { shift, ends, isOfPicture: !view.matches || found.get(view.matches) === view.trace };
})()"""


def grows_while_searching(browser):
    got = browser.run(GROWS_MEANWHILE)
    check("matches of an older picture are not shown in a newer one", got["isOfPicture"], got)
    check("a selection stays at its time, and so does the end that a key does not move", got["shift"] and got["ends"] == [10, 20, 20], got)
    browser.wait("recorderView.view.matches")
    check("the newer one is searched", browser.run("document.getElementById('found').textContent").startswith("130 found"))
    browser.run("recorderView.drop(), recorderView.find('')")


# Some requests fail, as if the server had no room for a picture, or dropped the connection.
FAILS = """(() => {
	const { fetch } = window;
	window.failed = 0;
	window.fetch = (...rest) => {
		if (window.failed === 4)
			return fetch(...rest);
		window.failed++;
		return window.failed % 2 ? Promise.resolve(new Response(null, { status: 503 })) : Promise.reject(new TypeError("dropped"));
	};
})()"""


def main():
    idle = http.client.HTTPConnection(parts.hostname, parts.port)
    idle.connect()  # a client that sends no request does not hold up others
    with open(fifo_path, "w", encoding="ascii") as fifo, Browser() as browser:
        browser.open(address)
        browser.wait("document.getElementById('facts')?.textContent.includes('waiting')")
        check("before the first event the page waits", True)
        fifo.write("x")
        fifo.flush()
        browser.wait("window.recorderView?.view.width > 0")
        questions()
        slow_reader()
        hostile_requests(1)
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
        # A picture is made when it is asked for, and has all events up to then. So an event is late by at most the pause
        # plus the time in which two pictures are made. That time depends on the machine; the pause does not.
        check("the page asks again soon enough", 0 < browser.run("LIVE_PAUSE") <= 200)
        days = int(browser.run("String(recorderView.view.trace.realtime(recorderView.view.trace.length))"))
        check("the page knows the time of day of the last event", day_before <= days <= time.time_ns(), day_before, days)
        print(f"# from the write to the page: {1000 * min(delays):.0f} to {1000 * max(delays):.0f} ms")
        kept_while_following(browser, fifo)
        grows_while_searching(browser)
        browser.run("recorderView.zoom(0.5)")
        check("it does not follow any more once the user moves", not browser.run("recorderView.follow"))
        low = browser.run("recorderView.view.trace.absolute(recorderView.view.from)")
        browser.run(FAILS)
        browser.wait("window.failed === 4")
        fifo.write("x")
        fifo.flush()
        browser.wait("recorderView.view.trace.events === 140")
        check("after requests that failed, the page continues", True)
        now = browser.run("recorderView.view.trace.absolute(recorderView.view.from)")
        check("and stays where it is", abs(float(now) - float(low)) < 1e-6, low, now)
        check("the console is empty", not browser.told, browser.told)
        check("the page asks nobody else", all(one.startswith((address, "about:")) for one in browser.requests), browser.requests[:3])


main()
