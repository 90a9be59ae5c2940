# SPDX-License-Identifier: MIT
"""usage: why.py KIND <JSON: what recorder why --json printed of a span of tests/programs/stalls.c. Exits with 0 if the pieces
add up and the reason is the one that the program made; prints what is wrong otherwise. Exits with 3 if the reason is another
one and programs that have nothing to do with it had the CPU meanwhile: that attempt shows nothing."""
import json
import sys


def total(pieces):
    return sum(piece["dur"] for piece in pieces)


def strangers(span):
    """The time in ns in which other programs ran in place of the threads that the request waited for."""
    own = ("stalls-", "holder-", "hog-", "low-", "medium-", "middle-", "last-", "first-", "second-", "third-")
    return total(p for p in span["path"] if " ran " in p["what"] and not p["by"].startswith(own))


def wrong(span, kind):
    path = span["path"]
    at = span["begin"]
    for piece in path:
        if piece["begin"] != at:
            return "a gap, or an overlap, at %d" % at
        at += piece["dur"]
    if at != span["begin"] + span["dur"]:
        return "the pieces end too early"
    for name in ("running", "runnable", "blocked", "interrupted", "unknown"):
        if total(p for p in path if p["class"] == name) != span["classes"].get(name, 0):
            return "the sum of " + name
    if sum(span["classes"].values()) != span["dur"]:
        return "the classes do not add up"
    if span["id"] != 42 or span["span"] != ("co:request" if kind == "moved" else "io:request"):
        return "another span"
    # Only hidden switches, which some hosts have, may make a time unknown.
    hidden = "the trace has no switch of this thread here"
    if [p for p in path if p["class"] == "unknown" and hidden not in p["what"]]:
        return "unknown time: " + json.dumps([p for p in path if p["class"] == "unknown"])
    blocked = [p for p in path if p["class"] == "blocked"]
    if kind == "work":
        # If the host hides a switch, it is not known whether the thread ran, but its inner span is known.
        inner = [p for p in path if p["class"] in ("running", "unknown") and "io:step" in p["what"]]
        return None if inner else "it was not in io:step: " + json.dumps(path)
    if kind == "preempt":
        by = {}
        for piece in path:
            if piece["class"] == "runnable":
                by[piece["by"]] = by.get(piece["by"], 0) + piece["dur"]
        hogs = [ns for name, ns in by.items() if name.startswith("hog-")]
        # The hog uses 7 ms of the CPU to which both are bound, even if other programs run there.
        return None if sum(hogs) > 6000000 else "it waited for " + json.dumps(by)
    if kind == "storm":
        hits = [p for p in path if p["class"] == "interrupted" and p["by"] == "timer"]
        # Each of the 200 is an interrupt, unless the host ran something else at its time, or one takes so long that it
        # serves several of them.
        return None if len(hits) > 10 else "%d timers interrupted it: %s" % (len(hits), json.dumps(path)[:2000])
    if kind == "inversion":
        kept = total(p for p in blocked if p["task"].startswith("low-") and p["by"].startswith("medium-"))
        return None if kept > 6000000 else "medium did not keep low from running: " + json.dumps(path)
    if kind == "late":
        late = total(p for p in path if p["class"] == "runnable" and p["by"].startswith("hog-"))
        timer = [p for p in blocked if "in clock_nanosleep()" in p["what"] and p["by"] == "timer"]
        return None if late > 3000000 and timer else "not late by the hog: " + json.dumps(path)
    if kind == "moved":
        order = []
        for piece in path:
            name = piece["task"].rsplit("-", 1)[0]
            if name not in order[-1:]:
                order.append(name)
        ran = total(p for p in path if p["task"].startswith("second-") and p["class"] in ("running", "unknown"))
        return None if order == ["stalls", "second", "third"] and ran > 6000000 else "moved otherwise: " + json.dumps(path)
    needed = {
        "sleep": lambda p: "in clock_nanosleep()" in p["what"] and p["by"] == "timer",
        "lock": lambda p: "in futex()" in p["what"] and ("holder-" in p["what"] or p["task"].startswith("holder-")),
        # If the interrupt completed several requests, it is not known which one it was.
        "disk": lambda p: "in fsync()" in p["what"] and p["by"].startswith(("device ", "interrupt ", "block device")),
        "chain": lambda p: "middle-" in p["what"] and "last-" in p["what"] and p["by"] == "timer",
    }[kind]
    if blocked and not any(needed(p) for p in blocked):
        return "nothing blocked it as it should: " + json.dumps(blocked)
    others = [p for p in blocked if p["what"].startswith("in futex()") and not needed(p)]
    if kind == "lock" and others:
        return "something else than the holder kept the lock: " + json.dumps(others)
    # On a busy machine the thread may have waited for a CPU so long that the other wait was over before.
    if kind in ("sleep", "lock", "chain") and not blocked and 2 * span["classes"].get("runnable", 0) < span["dur"]:
        return "nothing blocked it"
    return None


spans = [json.loads(line) for line in sys.stdin]
said = [wrong(span, sys.argv[1]) for span in spans]
if len(said) != 1 or said[0]:
    # A path may have thousands of pieces.
    print(len(said), "spans;", str(said)[:3000])
    sys.exit(3 if len(spans) == 1 and strangers(spans[0]) > 1000000 else 1)
