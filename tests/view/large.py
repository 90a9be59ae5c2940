# SPDX-License-Identifier: MIT
"""
large.py PAGE KIND EVENTS: reads a page as docs/VIEW-DATA.md describes it, and checks its size and its levels. Prints "ok
NAME" or "not ok NAME", a line for each check.
"""

import base64
import json
import re
import sys
import zlib

page_path, kind, events = sys.argv[1], sys.argv[2], int(sys.argv[3])

PAGE_MAX = 30 * 1000 * 1000  # bytes, as the manual page states
KEPT_MAX = 2500000  # items, VIEW_ITEMS_MAX
DENSE = 4 * 1400  # items that a window draws without a coarser level


def check(name, good, *about):
    print(("ok " if good else "not ok ") + name)
    if not good and about:
        print("# " + ascii(about)[:1500])


def numbers(columns, at, nr):
    """A column: `nr` numbers of seven bits a byte, the low ones first."""
    for _ in range(nr):
        value = shift = 0
        while True:
            byte = columns[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        yield value


def main():
    with open(page_path, encoding="utf-8") as file:
        page = file.read()
    check("the page has at most 30 MB", len(page) <= PAGE_MAX, len(page))
    blocks = re.findall(r'<script class="block" type="application/octet-stream">([^<]*)</script>', page)
    columns, index = (zlib.decompress(base64.b64decode(block)) for block in blocks[-2:])
    index = json.loads(index)
    check("it has all events of the recording", index["events"] == events > 0, index["events"], events)
    lines = [line for row in index["rows"] for line in row["lines"]]
    kept = sum(line["levels"][0][1] for line in lines)
    check("it keeps items, and not too many", 0 < kept <= KEPT_MAX, kept)
    check("it merges none if there are few enough", bool(index["resolution"]) == (events > KEPT_MAX), index["resolution"])
    levels = [level for line in lines for level in zip(line["levels"], line["levels"][1:])]
    check("a level has at most half the items of the one before", levels and all(
        coarse[1] * 2 <= fine[1] and coarse[0] > fine[0] for fine, coarse in levels), levels)
    dense = [line["levels"][-1] for line in lines if line["levels"][-1][1] > DENSE]
    check("the picture of all is drawn with a few items of each line", not dense, dense)
    span = {"points": "points", "sched": "states"}.get(kind, "spans")
    line = max((line for line in lines if line["kind"] == span), key=lambda line: line["levels"][0][1])
    sums = []
    for resolution, nr, at in line["levels"][1:][-2:]:
        # Begin, length, name and flags; then, as these are not the first level, the numbers of those merged.
        column = list(numbers(columns, at, 5 * nr))
        sums.append(sum(column[4 * nr:]))
    check("its coarsest levels stand for the same number of items", sums and len(set(sums)) == 1 and sums[0] > 0, sums, line)
    check("and for all", sums[0] == line["levels"][0][1] or index["resolution"] > 0, sums, line["levels"][0])


main()
