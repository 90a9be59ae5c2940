#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""other_clock.py SHIFT CLOCK NOTES <IN >OUT: a little-endian trace.dat of version 6 as a machine would have recorded it
whose clock CLOCK is SHIFT ns ahead: all pages are later by that, and the option VERSION has the text NOTES. No page may
have absolute stamps."""

import struct
import sys

VERSION, TRACECLOCK = 9, 4


def options(data, at):
    """The options as (id, payload), and the offset after them."""
    found = []
    while True:
        (number,) = struct.unpack_from("<H", data, at)
        if not number:
            return found, at + 2
        (size,) = struct.unpack_from("<I", data, at + 2)
        found.append((number, data[at + 6 : at + 6 + size]))
        at += 6 + size


def moved(data, offset, size, shift, page_size):
    """The pages of a CPU, with later times."""
    pages = bytearray(data[offset : offset + size])
    for page in range(0, size, page_size):
        (time,) = struct.unpack_from("<Q", pages, page)
        struct.pack_into("<Q", pages, page, (time + shift) % 2**64)
    return bytes(pages)


def main():
    shift, clock, notes = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3].encode()
    data = sys.stdin.buffer.read()
    (page_size,) = struct.unpack_from("<I", data, 14)
    at = data.index(b"options  \0")
    (cpus,) = struct.unpack_from("<I", data, at - 4)
    all_options, after = options(data, at + 10)
    assert data[after : after + 10] == b"flyrecord\0"
    table = struct.unpack_from(f"<{2 * cpus}Q", data, after + 10)
    new = {VERSION: notes + b"\0", TRACECLOCK: b"[" + clock + b"]\0"}
    head = data[: at + 10]
    for number, payload in all_options:
        payload = new.get(number, payload)
        head += struct.pack("<HI", number, len(payload)) + payload
    head += struct.pack("<H", 0) + b"flyrecord\0"
    text = new[TRACECLOCK]
    begin = len(head) + 16 * cpus + 8 + len(text)
    body = b""
    for cpu in range(cpus):
        place = -(-(begin + len(body)) // page_size) * page_size
        body += bytes(place - begin - len(body))
        body += moved(data, table[2 * cpu], table[2 * cpu + 1], shift, page_size)
        head += struct.pack("<QQ", place, table[2 * cpu + 1])
    sys.stdout.buffer.write(head + struct.pack("<Q", len(text)) + text + body)


main()
