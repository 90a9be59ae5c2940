#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# usage: coverage.py [-f] GCOV UNREACHED FILE... -- NAME=DIRECTORY...
#
# Merges the counters that gcov finds below the directories, for the sources FILE (base names), and compares the lines
# that none of them reached with the list UNREACHED. NAME is a name for what ran there. Prints the figures of each file,
# all that was not reached, and the differences between that and the list, each after a word of its own:
#
#	reached FILE LINES OF BRANCHES OF, by NAME: LINES BRANCHES
#	listed FILE FUNCTION: TEXT (branch N of M), and why it is on the list
#	new FILE FUNCTION: TEXT				not reached, and not on the list
#	stale FILE FUNCTION: TEXT			on the list, but reached, or not in the source
#
# With -f, functions are compared instead of lines and branches: those of which no line was reached, as TEXT *.
#
# A line of the list is FILE FUNCTION "TEXT" REASON, with the text of a source line without its indentation, for that
# line and its branches, or * for the whole function. A branch that was not reached counts for the line that it belongs to.
import gzip
import json
import os
import shlex
import subprocess
import sys
import tempfile


def counters(gcov, directory):
    """What gcov reports about each object below the directory."""
    for at, _, names in os.walk(directory):
        for name in sorted(names):
            if not name.endswith(".gcda"):
                continue
            with tempfile.TemporaryDirectory() as here:
                subprocess.run([gcov, "-b", "-j", os.path.join(os.path.abspath(at), name)], cwd=here, check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for made in os.listdir(here):
                    with gzip.open(os.path.join(here, made), "rt") as file:
                        yield json.load(file)


class Line:
    """A line of the source that has code, and the runs that reached it and each of its branches."""

    def __init__(self, file, function, text):
        self.file, self.function, self.text = file, function, text
        self.by = set()
        self.branches = []

    def add(self, who, line):
        if line["count"]:
            self.by.add(who)
        for number, branch in enumerate(line["branches"]):
            while len(self.branches) <= number:
                self.branches.append(set())
            if branch["count"]:
                self.branches[number].add(who)

    def missing(self):
        """What was not reached, as text: the line, or some of its branches. None: all was reached."""
        if not self.by:
            return ""
        unreached = [str(number + 1) for number, by in enumerate(self.branches) if not by]
        return f" (branch {', '.join(unreached)} of {len(self.branches)})" if unreached else None


def read(gcov, files, runs):
    """The lines of the files, in their order."""
    lines, texts = {}, {}
    for who, directory in runs:
        for unit in counters(gcov, directory):
            for source in unit["files"]:
                path = os.path.join(unit["current_working_directory"], source["file"])
                name = os.path.basename(path)
                if name not in files:
                    continue
                if name not in texts:
                    with open(path, encoding="utf-8") as file:
                        texts[name] = file.read().splitlines()
                for line in source["lines"]:
                    number = line["line_number"]
                    new = Line(name, line.get("function_name", ""), texts[name][number - 1].strip())
                    lines.setdefault((name, number), new).add(who, line)
    return [lines[key] for key in sorted(lines)]


def read_list(path):
    """What need not be reached: (file, function, text) and the reason."""
    with open(path, encoding="utf-8") as file:
        for text in file:
            if text.strip() and not text.startswith("#"):
                name, function, line, reason = shlex.split(text)
                yield (name, function, line), reason


def unreached_lines(lines):
    """What was not reached: (line, its text, more text)."""
    return [(line, line.text, missing) for line in lines if (missing := line.missing()) is not None]


def unreached_functions(lines):
    """One line of each function of which no line was reached, in the same form."""
    reached = {(line.file, line.function) for line in lines if line.by}
    first = {}
    for line in lines:
        first.setdefault((line.file, line.function), line)
    return [(line, "*", "") for key, line in first.items() if key not in reached]


def print_figures(lines, files, runs):
    for name in files:
        here = [line for line in lines if line.file == name]
        branches = [by for line in here for by in line.branches]
        text = f"reached {name}: {sum(bool(line.by) for line in here)} of {len(here)} lines"
        text += f", {sum(map(bool, branches))} of {len(branches)} branches"
        for who, _ in runs:
            text += f"; {who}: {sum(who in line.by for line in here)}, {sum(who in by for by in branches)}"
        print(text)


def main():
    by_function = sys.argv[1] == "-f"
    gcov, unreached, *rest = sys.argv[1 + by_function:]
    files = rest[:rest.index("--")]
    runs = [argument.split("=", 1) for argument in rest[rest.index("--") + 1:]]
    lines = read(gcov, files, runs)
    reasons = {key: reason for key, reason in read_list(unreached) if key[0] in files}
    used = set()
    for line, text, missing in unreached_functions(lines) if by_function else unreached_lines(lines):
        what = f"{line.file} {line.function}: {text}{missing}"
        keys = [(line.file, line.function, text) for text in (line.text, "*")]
        key = next((key for key in keys if key in reasons), None)
        used.add(key)
        print(f"listed {what}: {reasons[key]}" if key else f"new {what}")
    for key in reasons:
        here = [line for line in lines if (line.file, line.function) == key[:2]]
        if key not in used or (key[2] == "*" and any(line.by for line in here)):
            print(f"stale {key[0]} {key[1]}: {key[2]}")
    print_figures(lines, files, runs)


main()
