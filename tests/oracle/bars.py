#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
bars.py MARKS PIXELS: whether a picture of KernelShark's shows what the plugin has to draw. MARKS is what kshark_marks prints,
PIXELS the picture's upper part as ImageMagick's txt. Prints TAP's lines without numbers.
"""
import collections
import re
import sys

bars, values = collections.defaultdict(list), []
colors = {}
for line in open(sys.argv[1]):
    kind, tid, *rest = line.split()
    if kind == "bar":
        level, begin, end, name, state, color = rest
        bars[name].append((int(begin), int(end)))
    else:
        ts, name, value, color = rest
        values.append((int(ts), int(value)))
    colors[name] = "#" + color
columns, rows = collections.defaultdict(set), collections.defaultdict(set)
heights = collections.defaultdict(lambda: collections.defaultdict(set))  # rows by colour and column
for line in open(sys.argv[2]):
    found = re.match(r"(\d+),(\d+):.*?(#[0-9A-F]{6})", line)
    if found:
        x, y, color = int(found[1]), int(found[2]), found[3]
        columns[color].add(x)
        rows[color].add(y)
        heights[color][x].add(y)


def check(name, passed, *why):
    print("ok" if passed else "not ok", name)
    if not passed:
        print("#", *why)


def runs(xs):
    found = []
    for x in sorted(xs):
        if found and x == found[-1][1] + 1:
            found[-1][1] = x
        else:
            found.append([x, x])
    return found


outer = runs(columns[colors["bars:outer"]])
check("three outer spans are three bars", len(outer) == len(bars["bars:outer"]) == 3, outer)
if len(outer) == 3:
    times = bars["bars:outer"]
    scale = (outer[2][0] - outer[0][0]) / (times[2][0] - times[0][0])

    def x_of(ts):
        return outer[0][0] + (ts - times[0][0]) * scale

    for name in ("bars:outer", "bars:inner"):
        wanted = [(x_of(begin), x_of(end)) for begin, end in bars[name]]
        got = runs(columns[colors[name]])
        check(f"{name}: where they begin and end", len(got) == len(wanted) and all(
            abs(a - b) <= 3 for run, pair in zip(got, wanted) for a, b in zip(run, pair)), got, wanted)
    check("inner ones are below outer ones",
          max(rows[colors["bars:outer"]]) < min(rows[colors["bars:inner"]]), rows)
    # The curve's height is measured between an outer span's end and the next span, where nothing covers the curve.
    after = [end for begin, end in times]
    y = [min(heights[colors["bars:level"]][round(x_of(end + 15000000))], default=None) for end in after]
    check("the counter is a curve in steps", None not in y and y[0] > y[1] > y[2] and abs(y[0] + y[2] - 2 * y[1]) <= 3, y)


def full(name):
    """The columns of a bar that are filled from its top to its bottom, counted from its left side; and its width."""
    color = colors[name]
    height = max(rows[color]) - min(rows[color])
    left = min(columns[color])
    return [x - left for x in sorted(columns[color]) if len(heights[color][x]) >= height], max(columns[color]) - left


for name, sides in (("bars:early", "right"), ("bars:open", "left")):
    filled, width = full(name)
    check(f"{name}: only the {sides} side is drawn", width > 20 and filled and
          all(x >= width - 1 if sides == "right" else x <= 1 for x in filled), filled, width)
filled, width = full("bars:cut")
check("bars:cut: both sides, and strokes at its end", width > 20 and filled and min(filled) <= 1 and max(filled) >= width - 1 and
      len([x for x in filled if width - 14 < x < width - 1]) >= 3 and not [x for x in filled if 1 < x < width - 14], filled, width)
filled, width = full("bars:around")
check("bars:around, which is whole, is filled", width > 20 and len(filled) >= width - 1, filled, width)
