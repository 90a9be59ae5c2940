# SPDX-License-Identifier: MIT
"""
Compares recorder sql with recorder report --json: python3 sql_json.py RECORDER FILE...

The JSON of each file is imported into plain tables of SQLite, which then answer the same queries as the tables of the
file. Both must refuse a file, or neither. Prints "N files, N refused, N queries, N rows"; status 1 and the differences
otherwise.
"""
import json
import re
import sqlite3
import subprocess
import sys

COMMON = {"_ts": "ts", "_cpu": "cpu", "_tid": "pid", "_comm": "comm"}
SIMPLE = re.compile(r"[ -Z\]-~]*$")  # no escapes, which the two commands write in different ways
COLUMNS = "SELECT t.name AS t, c.name AS c FROM temp.sqlite_master t, pragma_table_xinfo(t.name) c WHERE c.type != 'BLOB'"


def run(*words, text=""):
    done = subprocess.run(words, input=text.encode(), capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(f"status {done.returncode}: {done.stderr.decode('utf-8', 'replace')}")
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def sql(recorder, path, queries):
    """The rows of each query, and the messages."""
    # An array in a condition may be longer than a word of a command.
    status, out, err = run(recorder, "sql", "--json", path, text=";\n".join(queries) + ";\n")
    results, at, text = [], 0, out.decode("utf-8")
    while text[at:].strip():
        rows, at = json.JSONDecoder().raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        results.append([tuple(row.values()) for row in rows])
    return status, results, err


def value(shown):
    """Converts a value of the JSON to the value in SQL."""
    if isinstance(shown, bool):
        return int(shown)
    if isinstance(shown, int):
        return (shown + 2**63) % 2**64 - 2**63
    if isinstance(shown, list):
        return json.dumps(shown, separators=(",", ":"))
    return shown


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def literal(constant):
    return "'" + constant.replace("'", "''") + "'" if isinstance(constant, str) else str(constant)


class Trace:
    """What report --json prints, as plain tables."""

    def __init__(self, text, names):
        self.items = [json.loads(line) for line in text.splitlines()]
        for item in self.items:
            if item.get("comm") == "<...>":  # the file does not name the thread: NULL
                item["comm"] = None
        self.losses = [item for item in self.items if "lost" in item]
        self.events = [item for item in self.items if "lost" not in item]
        self.db = sqlite3.connect(":memory:")
        self.tables = {}
        for item in self.events:
            if item["event"] is not None:
                self.tables.setdefault((item["system"], item["event"]), []).append(item)
        self.columns = {}
        for (system, name), items in list(self.tables.items()):
            table = name if name in names and system + "_" + name not in names else system + "_" + name
            self.columns[table] = self.add(table, items, names.get(table, ()))
        self.make("events", ["ts", "cpu", "tid", "comm", "system", "name"],
                  [[item[key] for key in ("ts", "cpu", "pid", "comm", "system", "event")] for item in self.events])
        self.make("losses", ["ts", "cpu", "lost"], [[item[key] for key in ("ts", "cpu", "lost")] for item in self.losses])

    def make(self, table, columns, rows):
        self.db.execute(f"CREATE TABLE {quoted(table)} ({', '.join(map(quoted, columns))})")
        self.db.executemany(f"INSERT INTO {quoted(table)} VALUES ({', '.join('?' * len(columns))})",
                            [[value(one) for one in row] for row in rows])

    def add(self, table, items, known):
        fields = [name for name in items[0]["fields"] if not name.startswith("common_")]
        columns = {}
        for name in fields:
            if name not in known:
                continue  # a field of bytes, which has no column here
            values = [item["fields"].get(name) for item in items]
            if all(SIMPLE.match(one) for one in values if isinstance(one, str)):
                columns[name] = values
        common = {name: [item[key] for item in items] for name, key in COMMON.items()}
        columns = {**common, **columns}
        self.make(table, list(columns), list(zip(*columns.values())))
        return {name: value(values[len(values) // 2]) for name, values in columns.items()}


def queries_of(table, columns, conditions_on_time):
    """Queries of an event's table; the constants in them are values of the row in the middle."""
    name, numbers = quoted(table), [c for c, v in columns.items() if isinstance(v, int)]
    every = ", ".join(map(quoted, columns))
    some = f"SELECT count(*), min({quoted(numbers[-1])}), max(_ts) FROM {name} WHERE "
    yield f"SELECT {every} FROM {name}"
    yield f"SELECT count(*), {', '.join(f'min({quoted(c)}), max({quoted(c)}), count(DISTINCT {quoted(c)})' for c in columns)} FROM {name}"
    for column, middle in columns.items():
        if column == "_ts" and not conditions_on_time or middle is None:
            continue
        for condition in "= {}", "< {}", ">= {}", "!= {}", "IN ({}, 7, NULL)":
            yield some + quoted(column) + " " + condition.format(literal(middle))
        if isinstance(middle, int):
            yield some + f"{quoted(column)} BETWEEN {middle} - 5 AND {middle} + 100000 AND _cpu = {columns['_cpu']}"
    for column in numbers[-1:] + ["_comm"]:
        yield f"SELECT {quoted(column)}, count(*), sum(_tid) FROM {name} GROUP BY 1 ORDER BY 1"
    if conditions_on_time:
        join = quoted(numbers[-1])
        yield (f"SELECT count(*), min(b._ts), max(b._tid) FROM {name} a JOIN {name} b ON b.{join} = a.{join} AND b._ts >= a._ts "
               f"WHERE a._ts < {columns['_ts']} AND a._cpu = {columns['_cpu']}")
        yield f"SELECT count(*), sum(e.tid) FROM {name} a JOIN events e ON e.ts = a._ts AND e.cpu = a._cpu WHERE e.name = {literal(table)}"


def compare(recorder, path):
    """(queries, rows), or None if both refuse the file."""
    refused, text, _ = run(recorder, "report", "--json", path)
    cut, columns, err = sql(recorder, path, [COLUMNS])
    if not columns or (refused and not text):
        # report may show no event if recorder sql refuses the file, or reports that it is cut off.
        if columns and not cut or text:
            raise AssertionError(f"report: {refused}, sql: {cut} {err}")
        return None
    names = {}
    for table, column in columns[0]:
        names.setdefault(table, set()).add(column)
    trace = Trace(text, names)
    # In a damaged file times may go back. recorder sql reports that conditions on times may then miss events.
    in_order = all(a["ts"] <= b["ts"] for a, b in zip(trace.events, trace.events[1:]))
    queries = ["SELECT ts, cpu, tid, comm, system, name FROM events", "SELECT ts, cpu, lost FROM losses ORDER BY ts, cpu", "SELECT count(*) FROM events",
               "SELECT system, name, count(*), min(tid) FROM events GROUP BY 1, 2 ORDER BY 1, 2",
               "SELECT cpu, tid, count(*), max(comm) FROM events GROUP BY 1, 2 ORDER BY 1, 2"]
    for table, middle in trace.columns.items():
        queries += list(queries_of(table, middle, in_order))
    status, results, err = sql(recorder, path, queries)
    # The columns were found without reading pages, so only these queries report damaged ones.
    if status != int(cut or " damaged page" in err) or len(results) != len(queries):
        raise AssertionError(f"status {status}, {len(results)} results of {len(queries)} queries: {err}")
    rows = 0
    for query, result in zip(queries, results):
        expected = [tuple(row) for row in trace.db.execute(query)]
        if result != expected:
            first = next((pair for pair in zip(result, expected) if pair[0] != pair[1]), (len(result), len(expected)))
            raise AssertionError(f"{query}: {first[0]}, of report: {first[1]}")
        rows += len(result)
    if bool(trace.losses) != ("lost" in err) and not refused:
        raise AssertionError(f"{len(trace.losses)} losses, and the message is {err}")
    return len(queries), rows


def main():
    refused = queries = rows = 0
    failed = []
    for path in sys.argv[2:]:
        try:
            result = compare(sys.argv[1], path)
        except AssertionError as difference:
            failed.append(f"{path}: {difference}"[:600])
            continue
        refused += result is None
        queries += result[0] if result else 0
        rows += result[1] if result else 0
    for line in failed:
        print(line)
    print(f"{len(sys.argv) - 2} files, {refused} refused, {queries} queries, {rows} rows")
    sys.exit(bool(failed))


main()
