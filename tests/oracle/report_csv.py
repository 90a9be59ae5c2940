# SPDX-License-Identifier: MIT
"""Compares recorder report --csv and --summary -t with --json: python3 report_csv.py JSON CSV SUMMARY. Status 1: they differ."""
import collections
import csv
import io
import json
import sys


def fail(*words):
    print("difference:", *words)
    sys.exit(1)


def cell(value):
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join("" if one is None else str(one) for one in value)
    return str(value)


def check_csv(items, path):
    text = open(path, "rb").read().decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    events = [item for item in items if "lost" not in item]
    if len(rows) != len(events):
        fail(len(rows), "rows", len(events), "events")
    for row, item in zip(rows, events):
        if None in row or None in row.values():
            fail("a row has other columns", row)
        for name in ("ts", "cpu", "pid", "comm", "system", "event"):
            if row[name] != cell(item[name]):
                fail(name, row, item)
        if row["buffer"] != item.get("buffer", ""):
            fail("buffer", row, item)
        for part in ("fields", "names"):
            for name, value in item.get(part, {}).items():
                if row[part + "." + name] != cell(value):
                    fail(part, name, row, item)
        filled = {name for name in row if "." in name and row[name]}
        known = {part + "." + name for part in ("fields", "names") for name in item.get(part, {})}
        if filled - known:
            fail("cells of other events", filled - known, item)
    losses = collections.Counter(cell(item["lost"]) or "unknown" for item in items if "lost" in item)
    if losses != collections.Counter(row["lost"] for row in rows if row["lost"]):
        fail("losses", losses)


def stamp(ts, seconds):
    return "%d.%09d" % (ts // 10**9, ts % 10**9) if seconds else str(ts)


def check_summary(items, path):
    groups = collections.defaultdict(dict)
    title = None
    lines = open(path, encoding="utf-8", errors="surrogateescape").read().split("\n")
    for line in lines[1:]:
        words = line.split()
        if not words:
            continue
        if words[0] == "count":
            title = words[-1]
        else:
            groups[title][words[-1]] = words
    counts = collections.Counter()
    times = {}
    for item in items:
        if "lost" in item:
            continue
        keys = [("CPU", str(item["cpu"]))]
        if item["event"]:
            keys.append(("event", item["system"] + ":" + item["event"]))
        for key in keys:
            counts[key] += 1
            first, last = times.get(key, (item["ts"], item["ts"]))
            times[key] = (min(first, item["ts"]), max(last, item["ts"]))
    for (title, name), count in counts.items():
        words = groups[title].get(name)
        seconds = words and "." in words[3]
        if not words or words[0] != str(count) or words[3:5] != [stamp(ts, seconds) for ts in times[title, name]]:
            fail(title, name, count, words)
    events = sum(1 for item in items if "lost" not in item)
    for title in ("event", "task", "process", "CPU"):
        if sum(int(words[0]) for words in groups[title].values()) != events and title in ("event", "CPU"):
            fail("sum of", title, events)
    lost = sum(item["lost"] or 0 for item in items if "lost" in item)
    if int(lines[0].split()[0]) != events or int(lines[0].split("; ")[1].split()[0].lstrip(">")) != lost:
        fail("the first line", lines[0], events, lost)


def main():
    items = [json.loads(line) for line in open(sys.argv[1], "rb")]
    check_csv(items, sys.argv[2])
    check_summary(items, sys.argv[3])


main()
