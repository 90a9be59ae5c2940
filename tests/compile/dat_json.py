# SPDX-License-Identifier: MIT
"""Compares what dat_json prints with recorder report --json: python3 dat_json.py OURS REPORT [SINCE].

With SINCE, OURS has the records from this time on, once in order and once by stream. Prints how many lines were equal;
status 1 and the first difference otherwise. Names of values and texts that report adds are not compared.
"""
import json
import sys


def text_of(item):
    return bytes.fromhex(item["hex"]).decode("utf-8", "backslashreplace") if set(item) == {"hex"} else item


def place(item):
    return item.get("buffer", ""), item["cpu"]


def reported(path, since):
    for line in open(path, "rb"):
        item = json.loads(line.decode("utf-8"))
        item.pop("names", None)
        item.pop("text", None)
        if item["ts"] >= since:
            yield item


def main():
    ours = [json.loads(line, object_hook=text_of) for line in open(sys.argv[1])]
    since = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    wanted = list(reported(sys.argv[2], since))
    if since:
        streams = []
        for item in wanted:
            if place(item) not in streams:
                streams.append(place(item))
        half = len(wanted)
        parts = sorted(ours[half:], key=lambda item: streams.index(place(item)))
        by_stream = sorted(wanted, key=lambda item: streams.index(place(item)))
        ours, wanted = ours[:half] + parts, wanted + by_stream
    for number, (one, other) in enumerate(zip(ours, wanted)):
        if one != other:
            sys.exit(f"line {number + 1}: {one}\nreport: {other}")
    if len(ours) != len(wanted):
        sys.exit(f"{len(ours)} lines, report has {len(wanted)}")
    if not wanted:
        sys.exit("nothing to compare")
    print(len(wanted), "lines")


main()
