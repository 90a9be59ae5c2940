# SPDX-License-Identifier: MIT
"""
as_kernel.py FILE TID EVENT...: in FILE, which is not compressed and has events of one thread, these events get ids below 16384,
which are the kernel's; and so are the losses in the file's notes.
"""

import re
import struct
import sys

path, tid = sys.argv[1], int(sys.argv[2])
with open(path, "rb") as file:
    data = file.read()
for new, name in enumerate(sys.argv[3:], 301):
    [old] = re.findall(rb"name: " + name.encode() + rb"\nID: (\d{5})\n", data)
    data = data.replace(b"\nID: " + old + b"\n", b"\nID: %5d\n" % new)
    # An event begins with its id, flags, preempt count and thread.
    begin = re.escape(struct.pack("<H", int(old))) + rb"(..)" + re.escape(struct.pack("<i", tid))
    data, nr = re.subn(begin, lambda found, new=new: struct.pack("<H", new) + found[1] + struct.pack("<i", tid), data, flags=re.DOTALL)
    assert nr, name
# What the program lost is now lost by the kernel. The notes keep their size: the writer's version is shorter by two characters.
data = re.sub(rb"(recorder \d+\.\d+)\.\d;(.*); events of programs lost from", rb"\1;\2; events of the kernel lost from", data)
with open(path, "wb") as file:
    file.write(data)
