#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Spans, counters, states and tasks of librecorder from another language: a queue of jobs, and workers that serve it.

    recorder record -o jobs.dat python3 spans.py [JOBS]
    recorder report --spans jobs.dat
    recorder view jobs.dat
"""
import contextlib
import ctypes
import queue
import sys
import threading
from ctypes import POINTER, byref, c_char_p, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

lib = ctypes.CDLL("librecorder.so.0")


class Fields(ctypes.Structure):  # struct rec_fields
    _fields_ = [("event", c_void_p), ("room", c_void_p), ("own", c_uint32 * 4), ("reserved", c_uint64 * 3)]


lib.rec_event_declare.argtypes = [c_char_p, c_char_p, POINTER(c_int64), c_uint, POINTER(c_void_p)]
lib.rec_span_declare.argtypes = [c_char_p, c_char_p, POINTER(c_int64), c_uint, POINTER(c_void_p), POINTER(c_void_p)]
lib.rec_fields_begin.argtypes = [POINTER(Fields), c_void_p, c_void_p, c_size_t]
lib.rec_fields_put_unsigned.argtypes = [POINTER(Fields), c_uint64]
lib.rec_fields_put_signed.argtypes = [POINTER(Fields), c_int64]
lib.rec_fields_put_text.argtypes = [POINTER(Fields), c_char_p, c_size_t]
lib.rec_fields_write.argtypes = [POINTER(Fields)]
lib.rec_task_write.argtypes = [c_uint64, c_char_p]
lib.rec_clock_mono.restype = c_uint64


def check(result, what):
    if result < 0:
        raise OSError(-result, what)


class Unsigned(int):
    """A value of a field without a sign; a plain int is for fields with one."""


class Event:
    """An event that was declared; a call records it. The values are in the order of the declaration."""

    def __init__(self, handle):
        self.handle = handle

    @classmethod
    def declare(cls, system, declaration, *constants):
        handle = c_void_p()
        numbers = (c_int64 * len(constants))(*constants)
        check(lib.rec_event_declare(system.encode(), declaration.encode(), numbers, len(constants), byref(handle)), declaration)
        return cls(handle)

    def __call__(self, *values):
        fields, room = Fields(), ctypes.create_string_buffer(1024)
        if not lib.rec_fields_begin(byref(fields), self.handle, room, len(room)):
            return  # the event is off
        for value in values:
            if isinstance(value, Unsigned):
                lib.rec_fields_put_unsigned(byref(fields), value)
            elif isinstance(value, int):
                lib.rec_fields_put_signed(byref(fields), value)
            else:
                text = value.encode()
                lib.rec_fields_put_text(byref(fields), text, len(text))
        check(lib.rec_fields_write(byref(fields)), "write")  # the first mistake of all calls


class Span:
    """Two events. Without a key the span is a block: with span(...) as end_values: ..."""

    def __init__(self, system, declaration, *constants):
        begin, end = c_void_p(), c_void_p()
        numbers = (c_int64 * len(constants))(*constants)
        check(lib.rec_span_declare(system.encode(), declaration.encode(), numbers, len(constants), byref(begin), byref(end)),
              declaration)
        self.begin, self.end = Event(begin), Event(end)

    @contextlib.contextmanager
    def __call__(self, *values):
        end_values = []
        self.begin(*values)
        try:
            yield end_values
        finally:  # also if the block raises an exception
            self.end(*end_values)


WAITING, RUNNING, DONE = range(3)
serve = Span("jobs", "serve, u64(id), string(name)")
wait = Span("jobs", "wait, key(u64(id)), end(flag(is_even))")  # from the queue to a worker: on two threads
depth = Event.declare("jobs", "counter:depth, s32(jobs)")
state = Event.declare("jobs", "state:state, key(u64(id)), named(value, WAITING, RUNNING, DONE)", 3, WAITING, RUNNING, DONE)
pause = Event.declare("jobs", "timed:pause, string(why)")


def work(jobs):
    while (number := jobs.get()) is not None:
        job = Unsigned(number)
        lib.rec_task_write(job, f"job {number}".encode())
        wait.end(job, Unsigned(number % 2 == 0))
        depth(jobs.qsize())
        state(job, RUNNING)
        with serve(job, f"job {number}"):
            sum(range(1000))
        state(job, DONE)
        lib.rec_task_write(0, None)


def main(count):
    jobs = queue.Queue()
    workers = [threading.Thread(target=work, args=(jobs,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for number in range(1, count + 1):
        wait.begin(Unsigned(number))
        state(Unsigned(number), WAITING)
        jobs.put(number)
    began = lib.rec_clock_mono()
    for worker in workers:
        jobs.put(None)
    for worker in workers:
        worker.join()
    pause(Unsigned(lib.rec_clock_mono() - began), "the last jobs")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
