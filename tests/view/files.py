# SPDX-License-Identifier: MIT
"""files.py PAGE EVENTS...: opens each page in one browser; it has that number of events. Prints "ok NAME" or "not ok NAME" lines."""

import os
import sys

from browser import Browser

with Browser() as browser:
    for page, events in zip(sys.argv[1::2], sys.argv[2::2]):
        name = os.path.basename(page)
        browser.open(f"file://{page}")
        browser.wait("window.recorderView?.view.width > 0")
        for tab in ("events", "rows", "item", "summary"):
            browser.run(f"recorderView.panels.open('{tab}'), recorderView.panels.ready")
        browser.run("recorderView.show(0, 1), recorderView.painter.draw(), recorderView.overview.draw()")
        got = browser.run("recorderView.view.trace.events")
        good = got == int(events) and not browser.told
        print(f"{'ok' if good else 'not ok'} {name} has {events} events")
        if not good:
            print(f"# {got} {browser.told}")
        browser.told.clear()
