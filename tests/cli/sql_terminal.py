# SPDX-License-Identifier: MIT
"""
sql_terminal.py RECORDER FILE [INTERRUPT]: uses the shell of recorder sql on a terminal. Prints "whole", or what was not as
expected. INTERRUPT is a library to preload that interrupts the first wait for input (interrupt_poll.c).
"""

import os
import pty
import re
import select
import sys
import termios
import time

LIMIT = 60  # seconds without output
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"

seen = b""


def expect(regex, what):
    """Reads until the output since the last match has the text."""
    global seen
    while True:
        match = re.search(regex.encode(), seen)
        if match:
            seen = seen[match.end():]
            return
        if not select.select([terminal], [], [], LIMIT)[0]:
            break
        try:
            data = os.read(terminal, 65536)
        except OSError:
            data = b""
        if not data:
            break
        seen += data
    print(f"{what}: {regex!r} is not in {seen[-500:]!r}")
    sys.exit(1)


def type_in(text):
    os.write(terminal, text.encode())


pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm", LC_ALL="C.UTF-8", HOME="/nonexistent", COLUMNS="200")
    if len(sys.argv) > 3:
        os.environ.update(LD_PRELOAD=sys.argv[3], ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0")
    os.execv(sys.argv[1], [sys.argv[1], "sql", "--list", "--color", "never", sys.argv[2]])

expect("recorder> ", "the prompt")
if len(sys.argv) > 3:
    expect("recorder> ", "an interrupt just before the shell waits")
type_in("SELECT max(count.numb\t) FROM count;\n")
expect("\n999\r\n", "a column after the name of its table")
type_in("SELECT max(c.numb\t) + 1 FROM count c;\n")
expect("\n1000\r\n", "a column after an alias")
type_in("SELECT count(*) FROM proces\t;\n")
expect("\n1\r\n", "the name of a table")
type_in(".tab\t cou%\n")
expect("\ncount\r\ncounters\r\n", "a command")
type_in("SELECT 'a\u00e4\u20ac' || char(122);\n")
expect("\na\u00e4\u20acz\r\n", "characters of several bytes")
expect("recorder> ", "the prompt")

type_in("SELECT no such line\x03")
expect("\r\nrecorder> ", "a line that is interrupted")
type_in("SELECT no such line,\n")
expect("\\.\\.\\.> ", "a statement of two lines")
type_in("more\x03")
expect("recorder> ", "it is interrupted in the second line")
type_in("SELECT 6 * 7;\n")
expect("\n42\r\n", "nothing of them is left")

type_in(f"{ENDLESS} SELECT 'b' || 'egun' UNION ALL SELECT i FROM n WHERE i < 0;\n")
expect("\nbegun\r\n", "a statement that does not end")
type_in("\x03")
expect("recorder sql: interrupted\r\n", "a statement that is interrupted")
type_in(".mode box\n")
type_in(f"{ENDLESS} SELECT i FROM n LIMIT 100000;\n")
expect("\u2502 +1000 ", "a box that is printed")
type_in("\x03")
expect("recorder sql: interrupted\r\n", "a box that is interrupted")
type_in(".mode list\nSELECT 6 * 8;\n")
expect("\n48\r\n", "the shell continues")
expect("recorder> ", "the prompt")
# The shell takes single keys only after its prompt. Before that, the terminal would take this one for the end of a line.
while termios.tcgetattr(terminal)[3] & termios.ICANON:
    time.sleep(0.01)
type_in("\x04")
expect("\r\n", "the end of the input")
_, status = os.waitpid(pid, 0)
print("whole" if status == 0 else f"status {status}")
