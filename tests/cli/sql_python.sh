# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced after tests/tap.sh, for tests of the SQLite extension in Python.
#
#	$extension	the extension; it exists if it was configured
#	$python		a Python that loads extensions; it is empty if there is none
#	interrupted FILE TABLE...	what a scan of each table gives if sqlite3_interrupt() is called immediately before it begins

extension=$top_builddir/.libs/librecorder-sql.so
# Some builds of Python cannot load extensions; Debian's can.
for python in python3 /usr/bin/python3 ''; do
	$python -c 'import sqlite3; sqlite3.Connection.enable_load_extension' 2>/dev/null && break
done

# result() is called after a scan that did not end early.
interrupted()
{
	$python -c '
import sqlite3, sys
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.execute("SELECT recorder_open(?)", (sys.argv[2],))
db.create_function("stop", 0, lambda: db.interrupt() or 0)
db.create_function("result", 1, print)
for table in sys.argv[3:]:
    try:
        db.execute(f"SELECT result(count(*)) FROM {table} WHERE tid > stop() AND tid = 77").fetchone()
    except sqlite3.OperationalError as error:
        print(table, error)
print(*(db.execute(f"SELECT count(*) > 0 FROM {table}").fetchone()[0] for table in sys.argv[3:]))
db.close()' "$extension" "$@" 2>&1
}
