# SPDX-License-Identifier: MIT
"""Adds what trace-cmd 3.4 adds to a version 7 file: python3 boot_file.py IN OUT KIND, little-endian and not compressed.

The kernel and its module had other addresses when the events were written: the new kallsyms has the current ones, and
last_boot_info has the old ones. KIND: sections, the contents are in sections of their own; sized, these begin with their
size; options, the contents are in the options; current, the ring is of this boot; gone, the module is not loaded now.
"""
import struct
import sys

KERNEL, MODULE = 0x11000000, 0x22000000  # how much higher both are now


def section(out, number, contents):
    place = len(out)
    out += struct.pack("<HHIQ", number, 0, 0xFFFFFFFF, len(contents)) + contents
    return place


def main():
    out = bytearray(open(sys.argv[1], "rb").read())
    kind = sys.argv[3]
    at = 18
    for _ in range(2):
        at = out.index(b"\0", at) + 1
    options = struct.unpack_from("<Q", out, at)[0]
    end = options + 16 + struct.unpack_from("<Q", out, options + 8)[0]
    assert out[end - 14 : end] == struct.pack("<HIQ", 0, 8, 0)

    current = kind == "current"
    kernel, module = (0, 0) if current else (KERNEL, MODULE)
    symbols = [
        (0xFFFFFFFF80FFF000 + kernel, "T _text"),
        (0xFFFFFFFF81000000 + kernel, "T do_one"),
        (0xFFFFFFFF81000100 + module, "t do_two\t[mod]"),
        (0xFFFFFFFF81000200 + kernel, "T do_three"),
    ]
    kallsyms = "".join(f"{address:016x} {name}\n" for address, name in symbols).encode()
    modules = b"other 16384 0 - Live 0xffffffffc0000000\n"
    if kind != "gone":
        modules += b"mod 20480 1 other, Live 0x%016x (OE)\n" % (0xFFFFFFFF81000100 + module)
    boot = b"# Current\n" if current else b"ffffffff80fff000\t[kernel]\nffffffff81000100\tmod\n"
    btf = struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, 100, 100, 50) + bytes(150)

    added = b""
    for number, contents in ((23, btf), (24, boot), (25, modules)):
        if kind == "options":
            added += struct.pack("<HI", number, len(contents)) + contents
            continue
        if kind == "sized":
            contents = struct.pack("<Q" if number == 23 else "<I", len(contents)) + contents
        added += struct.pack("<HIQ", number, 8, section(out, number, contents))
    added += struct.pack("<HIQ", 19, 8, section(out, 19, struct.pack("<I", len(kallsyms)) + kallsyms))
    struct.pack_into("<Q", out, end - 8, section(out, 0, added + struct.pack("<HIQ", 0, 8, 0)))
    open(sys.argv[2], "wb").write(out)


main()
