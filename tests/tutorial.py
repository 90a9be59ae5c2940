# SPDX-License-Identifier: MIT
#
# usage: tutorial.py script FILE.md DIRECTORY [KIND...]
#        tutorial.py check FILE.md DIRECTORY [KIND...]
#
# Runs the commands of a tutorial. script: writes its C sources to DIRECTORY, and DIRECTORY/run.sh, which runs its
# commands in their order in one shell and keeps their output. check: compares the output with the tutorial's, and
# prints a line of TAP for each command.
#
# The commands are in fenced blocks. In a block "console" they begin with "$ ", and their output follows. Digits, blanks
# and the directories of a path in parentheses are not compared; a line of three dots matches any lines. In a block "sh"
# each line is a command, which must succeed. A block with another word after this one is used only if that KIND is
# given.

import os, re, shlex, sys


def blocks(text):
    """Kind, other words, lines, and the line before, of each fenced block."""
    before = ""
    lines = iter(text.split("\n"))
    for line in lines:
        if line.startswith("```"):
            words = line[3:].split() or [""]
            body = []
            for inner in lines:
                if inner == "```":
                    break
                body.append(inner)
            yield words[0], words[1:], body, before
        if line:
            before = line


def commands(text, kinds):
    """Each command, with the lines that it should print; None: any."""
    found = []
    for kind, words, body, _ in blocks(text):
        if kind not in ("console", "sh") or not set(words) <= set(kinds):
            continue
        for line in body:
            if kind == "sh":
                found.append((line, None))
            elif line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def write_script(text, where, kinds):
    for kind, _, body, before in blocks(text):
        name = re.search(r"(\w+\.c):$", before)
        if kind == "c" and name:
            with open(os.path.join(where, name[1]), "w") as out:
                out.write("\n".join(body) + "\n")
    with open(os.path.join(where, "run.sh"), "w") as out:
        # A command must neither end the script nor read from it.
        out.write("exec </dev/null\n")
        for i, (command, _) in enumerate(commands(text, kinds)):
            out.write("{ eval %s; } >out.%d 2>&1\necho $? >status.%d\n" % (shlex.quote(command), i, i))


def plain(line):
    line = re.sub(r"\(/[^ )]*/", "(/", line)
    return " ".join(re.sub(r"[0-9]+(\.[0-9]+)?", "0", line).split())


def is_shown(expected, got):
    """Whether the lines are the expected ones, in order. A line of dots matches any lines."""
    if not expected:
        return not got
    if expected[0] == "...":
        return any(is_shown(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and plain(expected[0]) == plain(got[0]) and is_shown(expected[1:], got[1:])


def check(text, where, kinds):
    number = 0
    for i, (command, expected) in enumerate(commands(text, kinds)):
        try:
            got = open(os.path.join(where, "out.%d" % i)).read().split("\n")[:-1]
            status = open(os.path.join(where, "status.%d" % i)).read().strip()
        except OSError:
            got, status = [], "none"
        number += 1
        good = status == "0" and (expected is None or is_shown(expected, got))
        print("%s %d - %s" % ("ok" if good else "not ok", number, command.replace("#", "\\#")))
        if not good:
            print("# status %s" % status)
            for line in got[:20]:
                print("# " + line)


text = open(sys.argv[2]).read()
{"script": write_script, "check": check}[sys.argv[1]](text, sys.argv[3], sys.argv[4:])
