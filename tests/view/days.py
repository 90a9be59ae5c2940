# SPDX-License-Identifier: MIT
"""
days.py PAGE ...: pages of tests/view/days.sh in a browser, each followed by what a page must show: pairs TIME=DAY, a time of
the file in seconds and the time of day; or "-". Prints "ok NAME" or "not ok NAME", a line for each check.
"""

import sys

from browser import Browser


def check(name, got, expected):
    print(("ok " if got == expected else "not ok ") + name)
    if got != expected:
        print(f"# got {got}, expected {expected}")


with Browser() as browser:
    browser.ask("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
    for page, pairs in zip(sys.argv[1::2], sys.argv[2::2]):
        browser.open(f"file://{page}")
        browser.wait("window.recorderView?.view.width > 0")
        for pair in pairs.split(","):
            time, _, day = pair.partition("=")
            at = f"recorderView.view.trace.relative('{time}')"
            check(f"{page}: the time of day at {time}", browser.run(f"recorderView.view.trace.dayTime({at})"), day)
            browser.run(f"recorderView.select({at}, {at} + 1000), recorderView.panels.update(), recorderView.panels.ready")
            check(f"{page}: of the selection", browser.run("document.getElementById('range').textContent.split(' from ')[1]"),
                  f"{time} ({day})" if day else time)
            browser.run(f"recorderView.show({at} - 1000, {at} + 1000)")
            x, y = browser.run("(() => { const box = recorderView.canvas.getBoundingClientRect(), { view } = recorderView; "
                               f"return [Math.round(box.left + view.x({at})), box.top + box.height - 5]; }})()")
            browser.mouse("mouseMoved", x, y)
            at = f"recorderView.view.time({x} - recorderView.canvas.getBoundingClientRect().left)"
            check(f"{page}: of the pointer", browser.run("document.getElementById('pointer').textContent"), browser.run(
                f"`Pointer: ${{recorderView.view.trace.absolute({at})}} ${{recorderView.view.trace.dayTime({at})}}`"))
        begin = browser.run("recorderView.view.trace.dayTime(0)")
        browser.run("recorderView.drop(), recorderView.chooseRow(recorderView.view.trace.rows.find((row) => row.lines.some("
                    "(line) => line.kind === 'points'))), recorderView.stepItem(true), recorderView.panels.open('item'), recorderView.panels.ready")
        shown = browser.run("[...document.querySelectorAll('#panel-body tr')].filter((row) => row.cells[0].textContent === 'Time of day')"
                            ".map((row) => row.cells[1].textContent)")
        item = browser.run("recorderView.view.trace.dayTime(recorderView.view.item.line.levels[0].items.begin[recorderView.view.item.i])")
        check(f"{page}: of the chosen item", shown, [item] if begin else [])
    check("the console is empty", browser.told, [])
