# SPDX-License-Identifier: MIT
"""
sql_tables.py EXTENSION FILE: queries that use some columns of a table, each in a connection of its own, compared with the whole
table; then statements that take turns, and connections of several threads. Prints what differs, and whether there were enough
queries.
"""

import sqlite3
import sys
import threading

TABLES = "spans counters states flows tasks threads processes events".split()
# The second statement needs more columns than the first one, which then continues with its rows.
TURNS = (
    ("SELECT ts, name FROM spans", "SELECT ts, name, args FROM spans"),
    ("SELECT a.ts, b.ts FROM events a JOIN events b ON b.ts = a.ts", "SELECT a.ts, b.text FROM events a JOIN events b ON b.ts = a.ts"),
    ("SELECT ts FROM events", "SELECT text FROM events"),
)


def connect():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(sys.argv[1])
    db.execute("SELECT recorder_open(?)", (sys.argv[2],)).fetchone()
    return db


def check_table(table):
    whole = connect().execute("SELECT * FROM " + table)
    columns, rows = [c[0] for c in whole.description], whole.fetchall()
    nr = 0
    for i, column in enumerate(columns):
        if connect().execute(f'SELECT "{column}" FROM {table}').fetchall() != [(row[i],) for row in rows]:
            print(f"{table}.{column} differs")
        # A text that only a condition uses.
        texts = sorted({row[i] for row in rows if isinstance(row[i], str)})[:1]
        for text in texts:
            found = connect().execute(f'SELECT "{columns[0]}" FROM {table} WHERE "{column}" = ?', (text,)).fetchall()
            if found != [(row[0],) for row in rows if row[i] == text]:
                print(f"{table}.{column} = {text} differs")
        nr += 1 + len(texts)
    return nr


def check_turns(first, second):
    db = connect()
    one = db.execute(first)
    rows = one.fetchmany(3)
    other = db.execute(second)
    more = other.fetchmany(2)
    rows += one.fetchmany(5)
    more += other.fetchall()
    rows += one.fetchall()
    if not rows or rows != connect().execute(first).fetchall() or more != connect().execute(second).fetchall():
        print(f"{first}; {second}: differ")


def check_threads():
    """Each thread has a connection of its own to the same file; sqlite3 releases Python's lock while a statement runs."""
    queries = [f"SELECT * FROM {table}" for table in ("spans", "events", "states", "counters")]
    alone = [connect().execute(query).fetchall() for query in queries]
    start, results = threading.Barrier(len(queries)), [[] for _ in queries]

    def work(number):
        start.wait()
        db = connect()
        for i in range(len(queries)):
            which = (number + i) % len(queries)
            results[number].append((which, db.execute(queries[which]).fetchall()))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(queries))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if any(len(result) != len(queries) or any(rows != alone[which] for which, rows in result) for result in results):
        print("threads with connections of their own have other rows")


for turns in TURNS:
    check_turns(*turns)
check_threads()
print(sum(check_table(table) for table in TABLES) > 80 or "few queries")
