# SPDX-License-Identifier: MIT
"""Compares recorder report --json with trace-cmd report -t -R: python3 report_json.py JSON TEXT.

Every line of the JSON is an object in valid UTF-8; its time, CPU, thread, event and numeric fields are those of the text's
line. Prints how many events and numbers were equal; status 1 and the first difference otherwise.
"""
import json
import re
import sys

LINE = re.compile(rb"^(.*)-(\d+) +\[(\d+)\] +(\d+)(?:\.(\d{9}))?: +(\S+):  *(.*)$", re.S)
LOSS = re.compile(rb"^(?:\S+:)?\s*CPU:(\d+) \[(?:(\d+) )?EVENTS DROPPED\]$")


def fail(*words):
    print("difference:", *words)
    sys.exit(1)


def text_items(path):
    for line in open(path, "rb").read().split(b"\n")[1:]:
        loss = LOSS.match(line)
        if loss:
            yield ("loss", int(loss[1]), int(loss[2]) if loss[2] else None)
            continue
        match = LINE.match(line)
        if match:
            seconds = int(match[4]) * (10**9 if match[5] else 1) + int(match[5] or 0)
            yield ("event", match[1].lstrip(), int(match[2]), int(match[3]), seconds, match[6].decode(), match[7])


def json_items(path):
    for line in open(path, "rb"):
        yield json.loads(line.decode("utf-8"))


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


def same_number(shown, value):
    """libtraceevent prints small signed fields as if they were not signed."""
    return shown == value or (value < 0 and any(shown == value + 2**bits for bits in (8, 16, 32, 64)))


def main():
    events = numbers = losses = 0
    texts = text_items(sys.argv[2])
    for item in json_items(sys.argv[1]):
        if item.get("event", "") is None:
            continue  # the event has no format, so the text has no line for it
        text = next(texts, None)
        if text is None:
            fail("the text ends before", item)
        if "lost" in item:
            if text != ("loss", item["cpu"], item["lost"]):
                fail(item, text)
            losses += 1
            continue
        if text[0] != "event":
            fail(item, text)
        _, comm, pid, cpu, ts, name, fields = text
        if (item["pid"], item["cpu"], item["ts"], item["event"]) != (pid, cpu, ts, name):
            fail(item, text)
        if item["comm"] not in comm.decode("utf-8", "replace"):
            fail("comm", item, text)
        events += 1
        for field, value in item["fields"].items():
            shown = re.search(rb"(?:^| )" + field.encode() + rb"=(-?(?:0x[0-9a-f]+|[0-9]+))(?: |$)", fields)
            if shown and is_number(value):
                if not same_number(int(shown[1], 0), value):
                    fail(field, value, shown[1])
                numbers += 1
    if next(texts, None) is not None:
        fail("the text goes on")
    print(events, "events", numbers, "numbers", losses, "losses")
    if not events:
        fail("nothing was compared")


main()
