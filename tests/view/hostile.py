# SPDX-License-Identifier: MIT
"""
hostile.py make SEED NUMBER: texts that could be mistaken for markup or script, each ended by a NUL.
hostile.py show TEXTS PAGE: opens a page in which they are, makes it show all of them in every place that shows texts, and checks
that all of them remained text. Prints "ok NAME" or "not ok NAME", a line for each check.
"""

import random
import sys

PARTS = [b"<script>window.hacked=1</script>", b"</script>", b"<!--", b"-->", b"<img src=x onerror=window.hacked=1>", b"]]>", b"\"", b"'",
         b"`", b"${window.hacked=1}", b"{{window.hacked=1}}", b"javascript:window.hacked=1", b"</table>", b"</style>", b"<svg/onload=window.hacked=1>",
         b"&lt;", b"&#60;script&#62;", b"\\u003cscript\\u003e", b"\\", b"\xe2\x80\xa8", b"\xe2\x80\xae", b"\xef\xbb\xbf", b"\xff", b"\xc0\xbc",
         b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x9f\x98\x80", b"\xc3", b"\n", b"\r", b"\t", b"\x01", b"\x1b[31m", b"\x7f", b"%n%s%x", b"__proto__",
         b"constructor", b"a" * 60, b" ", b"<iframe srcdoc='<script>top.hacked=1</script>'>", b"<a href=javascript:window.hacked=1>x</a>",
         b"<base href=//example.org>", b"<meta http-equiv=refresh content=0;url=//example.org>", b"<form action=//example.org><button autofocus>"]


def make(seed, number):
    chance = random.Random(seed)
    for _ in range(number):
        text = b"".join(chance.choice(PARTS) if chance.random() < 0.8 else bytes(chance.randrange(1, 256) for _ in range(chance.randrange(1, 9)))
                        for _ in range(chance.randrange(1, 8)))
        sys.stdout.buffer.write(text[:200] + b"\0")


def check(name, good, *about):
    print(("ok " if good else "not ok ") + name)
    if not good and about:
        print("# " + ascii(about)[:2000])
    sys.stdout.flush()


SHOW = """(async () => {
	const page = recorderView, { view } = page, all = eventsBetween(view.trace, 0, view.trace.length, 1e9);
	const found = [], canvas = page.canvas.getBoundingClientRect();
	page.show(0, view.trace.length);
	page.panels.most = 1e9;
	page.panels.current = "events";
	page.panels.update();
	await page.panels.ready;
	for (const item of all) {
		found.push(await page.panels.fields(item));
		page.chooseItem(item, false);
		await page.find(found.at(-1));
		page.painter.draw();
		const box = page.painter.box(item);
		if (box)
			page.canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: canvas.left + box.x, clientY: canvas.top + box.y + 2 }));
		await new Promise((done) => setTimeout(done));
	}
	for (const tab of ["summary", "rows", "events", "item", "rows"]) {
		page.panels.open(tab);
		await page.panels.ready;
	}
	return found;
})()"""


def show(texts_path, page_path):
    from browser import Browser

    with open(texts_path, "rb") as file:
        texts = [text for text in file.read().split(b"\0") if text]
    with Browser() as browser:
        browser.open(f"file://{page_path}")
        browser.wait("window.recorderView?.view.width > 0")
        found = browser.run(SHOW)
        check("the page shows every text", len(found) == 2 * len(texts), len(found), len(texts))
        # Valid text is there as it is; libtraceevent shows a text up to its end, and recorder other bytes as \xHH.
        plain = [text.decode() for text in texts if is_plain(text)]
        check("there are some that are plain", len(plain) > len(texts) // 10, len(plain))
        missing = [text for text in plain if not any(text in one for one in found)]
        check("those are shown as they are", not missing, missing[:3])
        check("none ran", browser.run("window.hacked === undefined"))
        check("none became an element", browser.run("document.querySelectorAll('img, svg, iframe, a, base, meta[http-equiv=refresh], "
                                                    "#panel-body script, #panel-body style, #panel-body form').length") == 0)
        check("the console is empty", not browser.told, browser.told[:5])
        check("nothing was loaded", all(one.startswith(("about:", f"file://{page_path}")) for one in browser.requests), browser.requests)
        check("the page is still here", browser.run("location.pathname") == page_path)


def is_plain(text):
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        return False
    return all(letter.isprintable() for letter in decoded)


if sys.argv[1] == "make":
    make(int(sys.argv[2]), int(sys.argv[3]))
else:
    show(sys.argv[2], sys.argv[3])
