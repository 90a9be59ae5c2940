# SPDX-License-Identifier: MIT
"""
picture.py PAGE PNG WIDTHxHEIGHT EXPRESSION [dark]: a picture of a page of recorder view, after the expression was run in it.
docs/pictures/make.sh makes README's with it.
"""

import sys

from browser import Browser


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


main()
