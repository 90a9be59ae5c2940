# SPDX-License-Identifier: MIT
# Prints the pairs of report's flags for which the command and trace-cmd print different texts, or end with different statuses.
# Arguments: the command, a file, and a stride: every STRIDE-th pair is tried.
#
# DIFFERENCES has those that recorder-report(1) describes under DIFFERENCES: two patterns of flags, in the order of the command
# line, and the reason. A pair that differs and is not listed is printed. If all pairs are tried, a row is printed as well if
# no pair needs it.
import fnmatch
import itertools
import subprocess
import sys

recorder, path, stride = sys.argv[1], sys.argv[2], int(sys.argv[3])

FLAGS = [
    "-t", "-l", "-R", "-N", "-L", "-w", "-q", "-I", "-S", "-T", "-V", "-G", "--by-comm",
    "-r sched_switch", "-n sched_switch", "-O parent=0", "-F sched_switch", "-v -F sched_switch", "--pid 1001", "--comm sh", "--cpu 0",
    "--ts-diff", "--ts-check", "--align-ts", "--raw-ts", "--nodate", "--ts2secs 1000000", "--ts-offset 1000", "--boundary", "--debug",
    "-e", "-p", "-f", "-P", "-E", "--events", "--event sched", "--check-events", "--cpus", "--first-event", "--last-event",
    "--stat", "--uname", "--version", "--profile",
]

OFFSET = "trace-cmd takes --ts-offset only after -i"
NO_PROFILE = "trace-cmd ignores it without --profile; here it is an error"
PROFILE = "the file has no sched_wakeup; and with a list or an option of the text, which is an error here, trace-cmd ignores one of them"
QUIET = "in trace-cmd, -q after it suppresses the line of the file's version"
HANDLERS = "trace-cmd has not read all formats when it prints this list, and so names fewer handlers"

DIFFERENCES = [
    ("--ts-offset *", "*", OFFSET), ("*", "--ts-offset *", OFFSET),
    ("-G", "*", NO_PROFILE), ("*", "-G", NO_PROFILE),
    ("--by-comm", "*", NO_PROFILE), ("*", "--by-comm", NO_PROFILE),
    ("--profile", "*", PROFILE), ("*", "--profile", PROFILE),
    ("-V", "-q", QUIET), ("--debug", "-q", QUIET),
    ("-V", "-[ep]", HANDLERS), ("-[ep]", "-V", HANDLERS),
    ("-V", "--event*", HANDLERS), ("--event*", "-V", HANDLERS),
]


def output(program, flags):
    run = subprocess.run([program, "report"] + flags + [path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return run.returncode, run.stdout


def row_of(one, other):
    for row in DIFFERENCES:
        if fnmatch.fnmatchcase(one, row[0]) and fnmatch.fnmatchcase(other, row[1]):
            return row
    return None


needed, compared = set(), 0
for one, other in itertools.islice(itertools.permutations(FLAGS, 2), 0, None, stride):
    row = row_of(one, other)
    if row in needed:
        continue
    flags = (one + " " + other).split()
    (theirs, lines), (ours, own) = output("trace-cmd", flags), output(recorder, flags)
    compared += 1
    if ours == theirs and own == lines:
        continue
    if row:
        needed.add(row)
        continue
    where = [i for i, (a, b) in enumerate(zip(own.splitlines(), lines.splitlines())) if a != b]
    print(f"{one} {other}: status {ours}, {theirs}; lines {own.count(10)}, {lines.count(10)}, different from line", where[0] + 1 if where else "the last")
for row in DIFFERENCES:
    if stride == 1 and row not in needed:
        print("not needed:", row)
print("compared:", "some" if compared > 100 else compared)
