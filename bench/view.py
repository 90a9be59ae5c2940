# SPDX-License-Identifier: MIT
"""
view.py PAGE: the seconds until a page of recorder view is drawn, the milliseconds that a frame takes while it moves, and
the frames in a second; the first of two runs, which starts the browser, does not count.
"""

import sys
import time

from browser import Browser

FRAMES = 200

# A tenth of the recording moves through the window; a frame is drawn at each step.
MOVE = """(async () => {
	const page = recorderView, { view } = page, costs = [], draw = page.painter.draw;
	page.painter.draw = function () { const before = performance.now(); draw.call(this); costs.push(performance.now() - before); };
	view.show(0, view.trace.length / 10);
	const start = performance.now();
	for (let i = 0; i < %d; i++) {
		page.pan(0.02);
		await new Promise((done) => requestAnimationFrame(done));
	}
	const seconds = (performance.now() - start) / 1000;
	page.painter.draw = draw;
	return [costs.sort((a, b) => a - b)[costs.length >> 1], costs.length / seconds];
})()""" % FRAMES


def main():
    with Browser() as browser:
        for _ in range(2):
            before = time.monotonic()
            browser.open(f"file://{sys.argv[1]}")
            browser.wait("window.recorderView?.view.width > 0")
            browser.settle()
            opened = time.monotonic() - before
            frame, rate = browser.run(MOVE)
        if browser.told:
            sys.exit("\n".join(browser.told))
    print(f"{opened:.3f} {frame:.3f} {rate:.1f}")


main()
