# SPDX-License-Identifier: MIT
"""
storage.py DIRECTORY REQUESTS: one recording of examples/07_storage in five views, whose answers storage.sh has put
into the directory. What the events mean is computed here from the lines of `recorder report -t`, by docs/MEANING.md;
each view must show exactly that, and the durations and causes that the program makes. Prints "ok NAME" or
"not ok NAME", a line for each check.
"""

import collections
import json
import re
import sys

from browser import Browser

directory, requests = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0

# The data that each view has. Numbers are exact where there are any: no view rounds a time.
#
#   sql          everything. Of a key with a name (op) it has the number.
#   report       --spans: the spans alone, and everything of them except their tasks.
#   perfetto     A keyed span is on a track of its own, of no thread. A timed span is on a track of its own below its
#                thread's, so it has no place among the spans there. There are no own times.
#   page         A keyed span is on a row of its own, of no thread. There are no own times. Tasks have rows; a span does
#                not have its task.
#   kernelshark  Bars and curves: spans on their threads without their fields, and the values of counters. A line is not
#                a depth: it is the first that is free, and the keyed spans of a thread are there, too.
HAS = {
    "sql": {"spans": {"nested": "name tid end_tid begin end depth parent own task fields",
                      "timed": "name tid end_tid begin end depth parent own task fields",
                      "keyed": "name tid end_tid begin end depth parent own task fields"},
            "counters": "name ts value tid", "states": "name key value begin end is_open tid",
            "flows": "flow from_ts from_tid from_span ts tid span",
            "tasks": "task name tid begin end", "points": "ts tid fields"},
    "report": {"spans": {"nested": "name tid end_tid begin end depth parent own fields",
                         "timed": "name tid end_tid begin end depth parent own fields",
                         "keyed": "name tid end_tid begin end depth parent own fields"}},
    "perfetto": {"spans": {"nested": "name tid begin end depth parent task fields",
                           "timed": "name tid begin end task fields",
                           "keyed": "name begin end task fields"},
                 "counters": "name ts value", "states": "name key value begin end is_open tid",
                 "flows": "flow from_ts ts", "tasks": "task name tid begin end", "points": "ts tid fields"},
    "page": {"spans": {"nested": "name tid begin end depth parent fields",
                       "timed": "name tid begin end depth parent fields",
                       "keyed": "name begin end fields"},
             "counters": "name ts value", "states": "name key value begin end is_open",
             "flows": "from_ts from_tid ts tid", "tasks": "task name tid begin end", "points": "ts tid fields"},
    "kernelshark": {"spans": {"nested": "name tid begin end line", "timed": "name tid begin end line",
                              "keyed": "name tid begin end line"},
                    "counters": "name ts value"},
}

KIND = {"request": "keyed", "job": "nested", "checksum": "nested", "disk": "timed"}
OPS = {"0": "GET", "1": "PUT"}


def check(name, good, *about):
    print(("ok " if good else "not ok ") + name)
    if not good:
        print("# " + " | ".join(str(one)[:900] for one in about).replace("\n", " "))


def read(name):
    with open(f"{directory}/{name}", encoding="utf-8") as file:
        return file.read()


def nanoseconds(text):
    return int(text.replace(".", ""))


def fields_of(text):
    return dict(re.findall(r"(\w+)=(.*?)(?= \w+=|$)", text))


def short(name):
    system, _, rest = name.partition(":")
    assert system == "storage", name
    return rest


# ------------------------------------------------------------------------------------------------------ by the events

LINE = re.compile(r"^ *(.+)-(\d+) +\[\d+\] +(\d+\.\d{9}): (\w+): *(.*)$")


class Truth:
    """Dictionaries with everything that any view has: what lasts, by its begin; the rest by its time."""

    def __init__(self, text):
        self.spans, self.counters, self.states = [], [], []
        self.flows, self.tasks, self.points = [], [], []
        self.stacks, self.keyed, self.state, self.flow = collections.defaultdict(list), {}, {}, {}
        self.task = {}  # of each thread: number, since when
        self.names, self.threads, self.last = {}, {}, 0
        for line in text.splitlines():
            match = LINE.match(line)
            if match:
                comm, tid, time, name, fields = match.groups()
                self.threads[int(tid)], self.last = comm, nanoseconds(time)
                self.event(int(tid), self.last, name, fields_of(fields))
        for key in list(self.state):
            self.end_state(key, self.last, True)
        for at in (self.spans, self.tasks, self.states):
            at.sort(key=lambda one: one["begin"])
        self.set_lines()

    def event(self, tid, ts, name, fields):
        span = None
        if name.endswith("_begin"):
            span = self.begin(tid, ts, name.removesuffix("_begin"), fields)
        elif name.endswith("_end"):
            self.end(tid, ts, name.removesuffix("_end"), fields)
        elif name == "disk":
            self.timed(tid, ts, name, fields)
        elif name == "queue":
            self.counters.append({"name": name, "ts": ts, "value": int(fields["length"]), "tid": tid})
        elif name == "conn":
            self.end_state(fields["id"], ts, False)
            self.state[fields["id"]] = {"name": name, "key": int(fields["id"]), "value": fields["state"], "begin": ts,
                                        "tid": tid}
        elif name == "task":
            self.switch(tid, ts, int(fields["id"]), fields["name"])
        else:
            assert name == "reply", name
            self.points.append({"ts": ts, "tid": tid, "fields": fields})
        if "cause" in fields:
            self.link(tid, ts, fields["cause"], span)

    def described(self, tid, begin, name, fields):
        stack = self.stacks[tid]
        return {"name": name, "tid": tid, "begin": begin, "depth": 0 if KIND[name] == "keyed" else len(stack),
                "parent": (stack[-1]["name"], stack[-1]["begin"]) if stack else None, "inner": 0,
                "task": self.task.get(tid, (0, 0))[0] or None, "fields": dict(fields)}

    def begin(self, tid, ts, name, fields):
        span = self.described(tid, ts, name, fields)
        if KIND[name] == "keyed":
            assert fields["id"] not in self.keyed
            self.keyed[fields["id"]] = span
        else:
            self.stacks[tid].append(span)
        return name, ts

    def end(self, tid, ts, name, fields):
        span = self.keyed.pop(fields["id"]) if KIND[name] == "keyed" else self.stacks[tid].pop()
        assert span["name"] == name
        span["fields"].update(fields)
        self.finish(span, tid, ts)

    def timed(self, tid, ts, name, fields):
        self.finish(self.described(tid, ts - int(fields["dur"]), name, fields), tid, ts)

    def finish(self, span, tid, ts):
        duration, inner, stack = ts - span["begin"], span.pop("inner"), self.stacks[tid]
        span.update(end=ts, end_tid=tid, own=None if KIND[span["name"]] == "keyed" else max(duration - inner, 0))
        if KIND[span["name"]] != "keyed" and stack and stack[-1]["begin"] <= span["begin"]:
            stack[-1]["inner"] += duration
        self.spans.append(span)

    def end_state(self, key, ts, is_open):
        state = self.state.pop(key, None)
        if state:
            self.states.append({**state, "end": ts, "is_open": is_open})

    def switch(self, tid, ts, task, name):
        before, since = self.task.get(tid, (0, 0))
        if before:
            self.tasks.append({"task": before, "name": self.names[before], "tid": tid, "begin": since, "end": ts})
        self.task[tid] = task, ts
        if name:
            self.names[task] = name

    def link(self, tid, ts, flow, span):
        before = self.flow.get(flow)
        if before:
            from_ts, from_tid, from_span = before
            self.flows.append({"flow": int(flow), "from_ts": from_ts, "from_tid": from_tid, "from_span": from_span,
                               "ts": ts, "tid": tid, "span": span})
        self.flow[flow] = ts, tid, span

    def set_lines(self):
        """The first line of the thread that is free at the begin; outer spans first."""
        ends = collections.defaultdict(list)
        for span in sorted(self.spans, key=lambda one: (one["begin"], -one["end"])):
            lines = ends[span["tid"]]
            span["line"] = next((i for i, end in enumerate(lines) if end <= span["begin"]), len(lines))
            lines[span["line"]:span["line"] + 1] = [span["end"]]


# ------------------------------------------------------------------------------------------------------------ the views

def from_sql(truth):
    tables = ("spans", "counters", "states", "flows", "tasks", "reply")
    rows = {name: json.loads(read(f"{name}.json")) for name in tables}
    by_id = {row["id"]: (row["name"], row["ts"]) for row in rows["spans"]}

    def fields(args):
        got = {name: str(value) for name, value in json.loads(args).items()}
        return {**got, "op": OPS[got["op"]]} if "op" in got else got

    assert all(row["state"] == "whole" for row in rows["spans"])
    for row in rows["spans"]:
        assert row["key"] == (int(fields(row["args"])["id"]) if KIND[row["name"]] == "keyed" else None)
    return {
        "spans": [{**row, "begin": row["ts"], "end": row["ts"] + row["dur"], "parent": by_id.get(row["parent"]),
                   "fields": fields(row["args"])} for row in rows["spans"]],
        "counters": rows["counters"],
        "states": [{**row, "value": row["value_name"], "begin": row["ts"], "end": row["ts"] + row["dur"],
                    "is_open": row["state"] == "open"} for row in rows["states"]],
        "flows": [{**row, "from_span": by_id.get(row["from_span"]), "span": by_id.get(row["span"])}
                  for row in rows["flows"] if row["from_ts"] is not None],
        "tasks": [{**row, "begin": row["ts"], "end": row["ts"] + row["dur"]} for row in rows["tasks"]],
        "points": [{**row, "fields": {name: str(row[name]) for name in ("id", "cause")}} for row in rows["reply"]],
    }


SPANS_LINE = re.compile(r"^ *.+-(\d+) +\[\d+\] +(\d+\.\d{9}): +(?:(\d+\.\d{3}) us +)?(?:(\d+\.\d{3}) us +)?"
                        r"\|  ( *)(.*)$")
SPANS_BODY = re.compile(r"^(?:storage:(\w+)\((.*?)\)(?: = (.*?))?( \{|;)|\} /\* storage:(\w+)(?: = (.*))? \*/)$")


def from_report(truth):
    spans, stacks, keyed = [], collections.defaultdict(list), {}
    for line in read("spans").splitlines()[1:]:
        tid, time, took, own, indent, body = SPANS_LINE.match(line).groups()
        name, first, alone, sign, ended, last = SPANS_BODY.match(body).groups()
        tid, ts, depth = int(tid), nanoseconds(time), len(indent) // 2
        assert not took or own or KIND[name or ended] == "keyed"
        if name:
            stack = stacks[tid]
            span = {"name": name, "tid": tid, "begin": ts, "depth": depth, "parent": stack[-1] if stack else None,
                    "fields": fields_of(first)}
            assert depth == (0 if KIND[name] == "keyed" else len(stack))
            if sign == ";":
                # A timed span's line has the time of its end.
                low = ts - nanoseconds(took) if KIND[name] == "timed" else ts
                span["fields"].update(fields_of(alone or ""))
                spans.append({**span, "begin": low, "end": low + nanoseconds(took), "end_tid": tid,
                              "own": own and nanoseconds(own)})
            elif KIND[name] == "keyed":
                keyed[span["fields"]["id"]] = span
            else:
                stack.append((name, ts))
                keyed[name, ts] = span
            continue
        more = fields_of(last or "")
        span = keyed.pop(more["id"] if KIND[ended] == "keyed" else stacks[tid].pop())
        span["fields"].update(more)
        assert (span["name"], span["depth"], span["begin"] + nanoseconds(took)) == (ended, depth, ts), line
        spans.append({**span, "end": ts, "end_tid": tid, "own": own and nanoseconds(own)})
    assert not keyed
    return {"spans": spans}


def from_perfetto(truth):
    rows = collections.defaultdict(list)
    for line in read("answers").splitlines():
        name, *values = line.split("\t")
        rows[name].append([None if value in ("null", "NULL") else value for value in values])
    arguments, slices = collections.defaultdict(dict), {}
    for number, key, value in rows["argument"]:
        arguments[number][key] = value
    got = {"spans": [], "counters": [], "states": [], "flows": [], "tasks": [], "points": []}
    for number, category, name, ts, took, depth, parent, track, tid in rows["slice"]:
        begin, is_open, track, fields = int(ts), took == "-1", track or "", arguments[number]
        one = {"name": name, "begin": begin, "end": truth.last if is_open else begin + int(took), "is_open": is_open,
               "tid": tid and int(tid), "depth": int(depth), "parent": parent and slices[parent], "fields": fields}
        slices[number] = name, begin
        if category == "task":
            task, label = re.fullmatch(r"task (\d+) (.*)", track).groups()
            assert name == truth.threads[int(fields["tid"])]
            got["tasks"].append({**one, "task": int(task), "name": label, "tid": int(fields["tid"])})
        elif track.startswith("storage:conn "):
            got["states"].append({**one, "name": "conn", "key": int(track.split()[1]), "value": name,
                                  "tid": int(fields["tid"])})
        elif name == "reply":
            assert took == "0"
            got["points"].append({**one, "ts": begin})
        else:
            assert not is_open and (KIND[name] == "nested" or track == f"storage:{name}")
            task = fields.pop("task", None)
            got["spans"].append({**one, "task": task and int(task)})
    for first, second in rows["flow"]:
        assert arguments[first]["cause"] == arguments[second]["cause"]
        (_, from_ts), (_, ts) = slices[first], slices[second]
        got["flows"].append({"flow": int(arguments[first]["cause"]), "from_ts": from_ts, "ts": ts})
    got["counters"] = [{"name": short(name), "ts": int(ts), "value": int(float(value))}
                       for ts, name, value in rows["counter"]]
    return got


PAGE = """(async () => {
    const { trace } = recorderView.view, rows = [];
    for (const row of trace.rows)
        for (const line of row.lines) {
            const { items } = line.levels[0], of = [];
            for (let i = 0; i < items.nr; i++)
                of.push({ begin: items.begin[i], end: items.end[i], low: items.low?.[i], flags: items.flags?.[i],
                          name: items.name ? trace.strings[items.name[i]] : "",
                          text: await recorderView.panels.fields({ row, line, i }) });
            rows.push({ kind: row.kind, id: row.id, name: row.name, line: line.kind, depth: line.depth, items: of });
        }
    const { arrows } = trace;
    return { begin: String(trace.begin), rows, arrows: Array.from({ length: arrows.nr }, (_, i) =>
        [arrows.from[i], trace.rows[arrows.fromRow[i]].id, arrows.to[i], trace.rows[arrows.toRow[i]].id]) };
})()"""


def from_page(truth):
    with Browser() as browser:
        browser.open(f"file://{directory}/storage.html")
        browser.wait("window.recorderView?.view.width > 0")
        page = browser.run(PAGE)
        assert not browser.told, browser.told
    zero, got = int(page["begin"]), {"spans": [], "counters": [], "states": [], "tasks": [], "points": []}
    around = {}  # the spans of a line, by thread and depth
    for row in page["rows"]:
        for item in row["items"]:
            begin, end = zero + int(item["begin"]), zero + int(item["end"])
            fields = fields_of(item["text"].replace(" → ", " "))
            one = {"begin": begin, "end": end, "is_open": item.get("flags") == 2, "tid": int(row["id"]),
                   "depth": row["depth"]}
            assert item.get("flags") in (0, None) or row["kind"] == "state"
            if row["kind"] == "counter":
                name, process = row["name"].split(", process ")
                assert int(process) in truth.threads
                got["counters"].append({"name": short(name), "ts": begin, "value": item["low"]})
            elif row["kind"] == "state":
                name, key = row["name"].split()
                got["states"].append({**one, "name": short(name), "key": int(key), "value": item["name"]})
            elif row["kind"] == "task":
                label, task = re.fullmatch(r"(.*), task (\d+)", row["name"]).groups()
                comm, tid = item["name"].rsplit("-", 1)
                assert truth.threads[int(tid)] == comm
                got["tasks"].append({**one, "task": int(task), "name": label, "tid": int(tid)})
            elif row["line"] == "points":
                assert item["name"] == "storage:reply"
                got["points"].append({**one, "ts": begin, "fields": fields})
            else:
                got["spans"].append({**one, "name": short(item["name"]), "fields": fields})
                around.setdefault((one["tid"], row["depth"]), []).append((short(item["name"]), begin, end))
    for span in got["spans"]:
        outer = around.get((span["tid"], span["depth"] - 1), [])
        span["parent"] = next(((name, begin) for name, begin, end in outer if begin < span["end"] <= end), None)
    got["flows"] = [{"from_ts": zero + int(low), "from_tid": int(one), "ts": zero + int(high), "tid": int(other)}
                    for low, one, high, other in page["arrows"]]
    return got


def from_kernelshark(truth):
    got = {"spans": [], "counters": []}
    for line in read("marks").splitlines():
        kind, tid, *rest = line.split()
        if kind == "bar":
            number, begin, end, name, state, _ = rest
            assert state == "whole"
            got["spans"].append({"tid": int(tid), "line": int(number), "begin": int(begin), "end": int(end),
                                 "name": short(name)})
        else:
            ts, name, value, _ = rest
            got["counters"].append({"name": short(name), "ts": int(ts), "value": int(value)})
    return got


# ----------------------------------------------------------------------------------------------- durations and causes

def check_facts(view, got, has):
    """Check what the comments of the program promise, in the data that this view has."""
    by_name = collections.defaultdict(list)
    for span in got["spans"]:
        by_name[span["name"]].append(span)
    check(f"{view}: the number of spans",
          {name: len(spans) for name, spans in by_name.items()} == dict.fromkeys(KIND, requests))
    # A microsecond is allowed for the difference between the file's clock and the program's.
    for name, least in (("job", 199000), ("disk", 150000), ("checksum", 49000)):
        took = [span["end"] - span["begin"] for span in by_name[name]]
        check(f"{view}: a {name} takes {least} ns or more", min(took) >= least, min(took))
    if "fields" in has["spans"]["nested"]:
        job, request = ({span["fields"]["id"]: span for span in by_name[name]} for name in ("job", "request"))
        check(f"{view}: every tenth fails", all(span["fields"]["result"] == ("-5" if int(number) % 10 == 0 else "0")
                                                for one in (job, request) for number, span in one.items()))
        check(f"{view}: a request is there before its job begins, and after it has ended",
              all(request[i]["begin"] < job[i]["begin"] and job[i]["end"] < request[i]["end"] for i in job))
    if "parent" in has["spans"]["nested"]:
        inside = {"job": None, "checksum": "job", "disk": "job"}
        check(f"{view}: a job has its checksum inside, and its disk", all(
            (span["parent"] and span["parent"][0]) == inside[name] for name in inside
            if "parent" in has["spans"][KIND[name]] for span in by_name[name]))
    if "counters" in has:
        values = [0] + [one["value"] for one in got["counters"]]
        steps = collections.Counter(b - a for a, b in zip(values, values[1:]))
        check(f"{view}: each request enters the queue and leaves it", steps == {1: requests, -1: requests}, steps)
    if "states" in has:
        states = collections.defaultdict(list)
        for one in sorted(got["states"], key=lambda one: one["begin"]):
            states[one["key"]].append(one["value"])
        check(f"{view}: a connection is idle and busy in turn, then closed", sorted(states) == [1, 2, 3, 4] and all(
            re.fullmatch("IDLE (BUSY IDLE )+CLOSED", " ".join(values)) for values in states.values()), dict(states))
    if "flows" in has:
        starts = {one["from_ts"]: one["ts"] for one in got["flows"]}
        chains = {span["begin"]: starts.get(starts.get(span["begin"])) for span in by_name["request"]}
        check(f"{view}: each request causes a job, and the job a reply", len(starts) == 2 * requests and
              sorted(filter(None, chains.values())) == sorted(one["ts"] for one in got["points"]), chains)
    if "tasks" in has:
        works = [(one["begin"], one["end"], one["task"]) for one in got["tasks"]]
        check(f"{view}: a request begins and ends in the task of its connection", all(
            str(task) == span["fields"]["conn"] for span in by_name["request"] for at in ("begin", "end")
            for task in [next((task for low, high, task in works if low <= span[at] < high), None)]))


# ---------------------------------------------------------------------------------------------------------------- all

def project(what, items, words):
    """A counter's values are in order. Views may list others in any order."""
    got = [{word: item[word] for word in words.split()} for item in items]
    return got if what == "counters" else sorted(got, key=repr)


def compare(view, what, got, expected, words):
    got, expected = project(what, got, words), project(what, expected, words)
    check(f"{view}: {what} ({words})", len(expected) > 0 and got == expected, f"{len(got)}, expected {len(expected)}",
          f"got {[one for one in got if one not in expected][:3]}",
          f"expected {[one for one in expected if one not in got][:3]}")


def main():
    truth = Truth(read("events"))
    views = {"sql": from_sql, "report": from_report, "perfetto": from_perfetto, "page": from_page,
             "kernelshark": from_kernelshark}
    for view, has in HAS.items():
        got = views[view](truth)
        check(f"{view}: it shows nothing else than the table says", sorted(has) == sorted(got), sorted(got))
        for what, words in has.items():
            if what != "spans":
                compare(view, what, got[what], getattr(truth, what), words)
                continue
            for kind, of in words.items():
                compare(view, f"{kind} spans", *([one for one in spans if KIND[one["name"]] == kind]
                                                 for spans in (got[what], truth.spans)), of)
        check_facts(view, got, has)


if __name__ == "__main__":
    main()
