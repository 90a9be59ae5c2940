# SPDX-License-Identifier: MIT
"""
zlib_file.py IN OUT [PAGES]: a little-endian trace.dat of version 7 without compression, compressed with zlib as trace-cmd
would: all sections except the options, and the data of CPUs in chunks of ten pages, or of PAGES. The options are at the end.
"""
import struct
import sys
import zlib

with open(sys.argv[1], "rb") as file:
    data = file.read()
out = bytearray(data[:18] + b"zlib\0" + b"1.2\0" + bytes(8))
moved = {}  # sections
pages = int(sys.argv[3]) if len(sys.argv) > 3 else 10


def frame(plain):
    packed = zlib.compress(plain)
    return struct.pack("<II", len(packed), len(plain)) + packed


def header(id, flags, size):
    return struct.pack("<HHIQ", id, flags, 0xffffffff, size)


def buffer(payload):
    """The data of a buffer, compressed; returns the option for it."""
    name_end = payload.index(b"\0", 8) + 1
    clock_end = payload.index(b"\0", name_end) + 1
    page, count = struct.unpack_from("<II", payload, clock_end)
    section = len(out)
    out.extend(header(3, 1, 0))
    option = struct.pack("<Q", section) + payload[8:clock_end] + struct.pack("<II", page, count)
    for cpu, at, size in struct.iter_unpack("<IQQ", payload[clock_end + 8:]):
        parts = [data[p:min(p + pages * page, at + size)] for p in range(at, at + size, pages * page)]
        stream = struct.pack("<I", len(parts)) + b"".join(frame(part) for part in parts)
        option += struct.pack("<IQQ", cpu, len(out), len(stream))
        out.extend(stream)
    out[section:section + 16] = header(3, 1, len(out) - section - 16)
    return option


def options(at):
    """Each option of the file, without the last of a section."""
    while at:
        position = at + 16
        while True:
            id, size = struct.unpack_from("<HI", data, position)
            payload = data[position + 6:position + 6 + size]
            position += 6 + size
            if not id:
                at = struct.unpack("<Q", payload)[0]
                break
            yield id, payload


assert data[18:24] == b"none\0\0"
new = b""
for id, payload in options(struct.unpack_from("<Q", data, 24)[0]):
    if 16 <= id <= 21:
        at = struct.unpack("<Q", payload)[0]
        size = struct.unpack_from("<Q", data, at + 8)[0]
        payload = struct.pack("<Q", len(out))
        contents = frame(data[at + 16:at + 16 + size])
        out.extend(header(id, 1, len(contents)) + contents)
    elif id == 3:
        payload = buffer(payload)
    new += struct.pack("<HI", id, len(payload)) + payload
new += struct.pack("<HIQ", 0, 8, 0)
out[27:35] = struct.pack("<Q", len(out))
out.extend(header(0, 0, len(new)) + new)
with open(sys.argv[2], "wb") as file:
    file.write(out)
