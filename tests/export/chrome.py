# SPDX-License-Identifier: MIT
"""chrome.py FILE [NAME]: the events of Chrome's JSON as lines, in the file's order: type, time in ns, duration in ns or -,
tid, category:name, arguments as NAME=VALUE. Decimal numbers are read exactly. With NAME, only events of that name."""

import decimal
import json
import sys


def ns(text):
    return "-" if text is None else str(int(text * 1000))


with open(sys.argv[1], encoding="utf-8", errors="strict") as file:
    trace = json.load(file, parse_float=decimal.Decimal)
assert list(trace) == ["displayTimeUnit", "traceEvents"]
for event in trace["traceEvents"]:
    if len(sys.argv) > 2 and event["name"] != sys.argv[2]:
        continue
    arguments = (f"{name}={json.dumps(value, default=float)}" for name, value in event.get("args", {}).items())
    print(event["ph"], ns(event["ts"]), ns(event.get("dur")), event["tid"], f"{event['cat']}:{event['name']}",
          event.get("id", "-"), *arguments)
