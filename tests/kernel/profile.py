# SPDX-License-Identifier: MIT
"""Reads a profile, and writes it sorted wherever trace-cmd's order depends on addresses in its memory: neighbouring
lines of the same event and the same total time, each with its stacks, and groups of tasks. In groups, the moments of
the minimum and the maximum are left out: if several tasks have the same one, trace-cmd takes any. Lines about hooks are
left out, too."""

import re
import sys

EVENT = re.compile(r"  Event: (func: [^(]*|[^:]*).*?\(\d+\)(?: Total: (\d+))?")

parts = [[]]
for line in sys.stdin:
    if re.match(r"start .* end .*\(.*\)$", line):
        continue
    if line == "\n":
        parts.append([])
    parts[-1].append(line)


def same_order(lines):
    """The lines of a task, in blocks: an event with its stacks."""
    blocks, keys = [], []
    for line in lines:
        event = EVENT.match(line)
        if event or not keys or keys[-1] is None:
            blocks.append([line])
            name = "func" if event and event[1].startswith("func") else event and event[1]
            keys.append((name, event[2]) if event else None)
        else:
            blocks[-1].append(line)
    i = 0
    while i < len(blocks):
        end = i + 1
        while end < len(blocks) and keys[i] and keys[end] == keys[i]:
            end += 1
        blocks[i:end] = sorted(blocks[i:end])
        i = end
    return "".join(line for block in blocks for line in block)


groups = sorted(re.sub(r"\(ts:[0-9.]*\)", "", same_order(p)) for p in parts if len(p) > 1 and p[1].startswith("group: "))
others = [same_order(p) for p in parts if not (len(p) > 1 and p[1].startswith("group: "))]
sys.stdout.write(others[0] + "".join(groups) + "".join(others[1:]))
