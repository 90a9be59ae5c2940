# SPDX-License-Identifier: MIT
"""
picture.py PAGE PNG WIDTHxHEIGHT EXPRESSION [dark]: a picture of a page of recorder view, after the expression was run in it.
docs/pictures/make.sh makes README's with it. Prints the number of look().
"""

import hashlib
import sys

from browser import Browser

# The words that every page shows, and the colours and sizes with which it draws.
LOOK = """JSON.stringify([[...document.querySelectorAll("header label, header button, [role=tab], #legend li")].map((one) =>
	one.hidden ? "" : one.textContent.trim()), recorderView.painter.css, recorderView.painter.names, recorderView.painter.runs, HEIGHTS, LABELS, AXIS])"""


def look(browser):
    """A number for how a page looks, whatever it shows."""
    return hashlib.sha256(browser.run(LOOK).encode()).hexdigest()


def main():
    page, png, size, expression = sys.argv[1:5]
    width, height = (int(number) for number in size.split("x"))
    with Browser(size=(width, height)) as browser:
        browser.dark(len(sys.argv) > 5)
        browser.open(f"file://{page}")
        browser.wait("window.recorderView?.view.width > 0")
        browser.run(expression)
        browser.run("new Promise((done) => setTimeout(done, 500))")
        browser.picture(png)
        if browser.told:
            sys.exit("\n".join(browser.told))
        print(look(browser))


if __name__ == "__main__":
    main()
