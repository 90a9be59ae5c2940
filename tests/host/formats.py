# SPDX-License-Identifier: MIT
# Writes a file of version 6 with many formats: argument 1 is a made file of the same version, with one CPU; argument 2 the
# number of events that are added to each of two systems, whose events have the same names; argument 3 the result.
import struct
import sys

data, number = open(sys.argv[1], "rb").read(), int(sys.argv[2])

FORMAT = """name: event_%d
ID: %d
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:u32 x;	offset:8;	size:4;	signed:0;

print fmt: "x=%%u", REC->x
"""


def after_text(at):
    return at + 8 + struct.unpack_from("<Q", data, at)[0]


at = after_text(data.index(b"header_page\0") + 12)
at = after_text(at + len(b"header_event\0"))
count, at = struct.unpack_from("<I", data, at)[0], at + 4
for _ in range(count):
    at = after_text(at)
systems = struct.unpack_from("<I", data, at)[0]
added = b""
for n, system in enumerate((b"one", b"two")):
    added += system + b"\0" + struct.pack("<I", number)
    for i in range(number):
        text = (FORMAT % (i, 2000 + n * number + i)).encode()
        added += struct.pack("<Q", len(text)) + text
# The events' pages stay aligned.
table = data.index(b"flyrecord\0") + 10
pages = struct.unpack_from("<Q", data, table)[0]
moved = pages + (len(added) + 4095) // 4096 * 4096
result = data[:at] + struct.pack("<I", systems + 2) + added + data[at + 4 : table] + struct.pack("<Q", moved) + data[table + 8 : pages]
open(sys.argv[3], "wb").write(result + bytes(moved - len(result)) + data[pages:])
