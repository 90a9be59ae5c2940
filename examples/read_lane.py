#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librecorder from another language: read the lanes of a running program live, and write events of our own.

    read_lane.py BUFFER [SECONDS]    print the events of a program's buffer (PID-START.rec)
    read_lane.py --write COUNT       be such a program: record COUNT events, print the buffer's directory, wait for a line
"""
import ctypes
import errno
import re
import struct
import sys
import time
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

lib = ctypes.CDLL("librecorder.so.0")


class Page(ctypes.Structure):  # struct rec_page
    _fields_ = [("data", c_void_p), ("size", c_uint32), ("start", c_uint32), ("entries", c_uint32),
                ("first", c_uint64), ("lost", c_uint64), ("lost_time", c_uint64)]


class Iter(ctypes.Structure):  # struct rec_page_iter
    _fields_ = [("data", c_void_p), ("size", c_uint32), ("offset", c_uint32), ("cpu", c_uint32), ("time", c_uint64)]


class Record(ctypes.Structure):  # struct rec_record
    _fields_ = [("time", c_uint64), ("payload", c_void_p), ("size", c_uint32), ("offset", c_uint32), ("cpu", c_uint32)]


class Fields(ctypes.Structure):  # struct rec_fields
    _fields_ = [("event", c_void_p), ("room", c_void_p), ("own", c_uint32 * 4), ("reserved", c_uint64 * 3)]


lib.rec_page_iter_init.argtypes = [POINTER(Iter), c_void_p, c_uint32]
lib.rec_view_log.argtypes = [c_void_p, c_uint64, c_void_p, c_size_t]
lib.rec_view_log.restype = c_size_t
lib.rec_log_next.argtypes = [c_void_p, c_size_t, POINTER(c_size_t)]
lib.rec_log_next.restype = c_void_p
lib.rec_event_text.argtypes = [c_void_p, ctypes.c_uint16, c_char_p, c_size_t]
for name in "rec_view_lanes", "rec_map_lane", "rec_map_get_reader", "rec_map_close", "rec_view_close", "rec_view_alive":
    getattr(lib, name).argtypes = {"rec_map_lane": [c_void_p, c_uint, POINTER(c_void_p)],
                                   "rec_map_get_reader": [c_void_p, POINTER(Page)]}.get(name, [c_void_p])
lib.rec_fields_begin.argtypes = [POINTER(Fields), c_void_p, c_char_p, c_size_t]
lib.rec_fields_put_unsigned.argtypes = [POINTER(Fields), c_uint64]
lib.rec_fields_put_text.argtypes = [POINTER(Fields), c_char_p, c_size_t]
lib.rec_fields_write.argtypes = [POINTER(Fields)]

FIELD = re.compile(r"\tfield:(.*?)(\w+)(?:\[\d*\])?;\toffset:(\d+);\tsize:(\d+);\tsigned:(\d);")


def check(result, what):
    if result < 0:
        sys.exit(f"{what}: error {-result}")
    return result


def read_formats(view):
    """Event id -> (name, fields), as the kernel's format files describe them."""
    log = ctypes.create_string_buffer(4 << 20)
    size = lib.rec_view_log(view, 0, log, len(log))
    offset, text, formats = c_size_t(0), ctypes.create_string_buffer(65536), {}
    while record := lib.rec_log_next(log, size, byref(offset)):
        _, kind, number = struct.unpack("IHH", ctypes.string_at(record, 8))
        if kind == 1 and lib.rec_event_text(record, number, text, len(text)) > 0:
            lines = text.value.decode()
            fields = [f for f in FIELD.findall(lines) if not f[1].startswith("common_")]
            formats[number] = (re.match(r"name: (\w+)", lines).group(1), fields)
    return formats


def value_of(payload, kind, offset, size, signed):
    if "__data_loc" in kind:
        (word,) = struct.unpack_from("I", payload, offset)
        return payload[word & 0xFFFF:(word & 0xFFFF) + (word >> 16)].rstrip(b"\0").decode(errors="replace")
    return int.from_bytes(payload[offset:offset + size], sys.byteorder, signed=signed)


def show(view, lane, page, formats):
    walk, record = Iter(), Record()
    lib.rec_page_iter_init(byref(walk), page.data, page.size)
    while lib.rec_page_next(byref(walk), byref(record)) == 1:
        if record.offset < page.start:
            continue
        payload = ctypes.string_at(record.payload, record.size)
        number, _, tid = struct.unpack_from("HHi", payload)
        if number not in formats:
            formats.update(read_formats(view))
        name, fields = formats.get(number, (str(number), []))
        values = (f"{f[1]}={value_of(payload, f[0], int(f[2]), int(f[3]), f[4] == '1')}" for f in fields)
        print(f"{record.time} lane {lane} tid {tid} {name}:", *values)


def read(path, seconds):
    view, maps, formats, end = c_void_p(), {}, {}, time.monotonic() + seconds
    check(lib.rec_view_open(path.encode(), byref(view)), path)
    while True:
        alive = lib.rec_view_alive(view) & 1
        for lane in range(lib.rec_view_lanes(view)):
            if lane not in maps:
                mapped = c_void_p()
                got = lib.rec_map_lane(view, lane, byref(mapped))
                if got in (-errno.ENODATA, -errno.EAGAIN):  # the lane is being made or changed: try again later
                    continue
                check(got, f"lane {lane}")
                maps[lane] = mapped
            page = Page()
            while (got := lib.rec_map_get_reader(maps[lane], byref(page))) == 1:
                show(view, lane, page, formats)
            if got != -errno.EAGAIN:  # the writer is just moving the head: there will be more
                check(got, f"lane {lane}")
        if not alive or time.monotonic() >= end:
            break
        time.sleep(0.05)
    for each in maps.values():
        lib.rec_map_close(each)
    lib.rec_view_close(view)


def write(count):
    event, where = c_void_p(), ctypes.create_string_buffer(4096)
    check(lib.rec_event_declare(b"python", b"step, u32(number), string(text)", None, 0, byref(event)), "declare")
    check(lib.rec_enable(b"python"), "enable")
    fields, room = Fields(), ctypes.create_string_buffer(512)
    for number in range(count):
        text = f"step {number}".encode()
        lib.rec_fields_begin(byref(fields), event, room, len(room))
        lib.rec_fields_put_unsigned(byref(fields), number)
        lib.rec_fields_put_text(byref(fields), text, len(text))
        check(lib.rec_fields_write(byref(fields)), "write")  # the first mistake of all four calls
    check(lib.rec_buffer_dir(0, where, c_size_t(len(where))), "directory")
    print(where.value.decode(), flush=True)
    sys.stdin.readline()


if len(sys.argv) == 3 and sys.argv[1] == "--write":
    write(int(sys.argv[2]))
elif len(sys.argv) in (2, 3):
    read(sys.argv[1], float(sys.argv[2]) if len(sys.argv) == 3 else 1e9)
else:
    sys.exit(__doc__)
