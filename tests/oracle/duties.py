# SPDX-License-Identifier: MIT
"""
The duties of writers (format/trace-dat.md, part 10), each a function named after it, checked on files: written from the
document alone, with no code in common with the writer or recorder check.

    duties.py --list        the names of all duties
    duties.py FILE...       one line for each duty that a file breaks; exit status 1 if there is one
"""
import re
import sys


class Broken(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Broken(text)


class Cursor:
    """Numbers and strings of a file, from a position on."""

    def __init__(self, dat, at):
        self.dat, self.at = dat, at

    def take(self, size):
        need(self.at + size <= len(self.dat.bytes), "the file ends at %d, before %d" % (len(self.dat.bytes), self.at + size))
        self.at += size
        return self.dat.bytes[self.at - size:self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), self.dat.order)

    def string(self):
        end = self.dat.bytes.index(b"\0", self.at)
        return self.take(end - self.at + 1)[:-1].decode()


class Dat:
    """What is in a file; reading it is a part of W1 to W3."""

    def __init__(self, path):
        self.bytes = open(path, "rb").read()
        need(self.bytes[:10] == b"\x17\x08\x44tracing", "the first bytes")
        self.version = int(self.bytes[10:11])
        self.order = "big" if self.bytes[12] else "little"
        self.long_size = self.bytes[13]
        self.page_size = Cursor(self, 14).number(4)
        self.ranges, self.options, self.buffers, self.formats = [], [], [], []
        self.compression = "none"
        self.texts = {}
        self.read6() if self.version == 6 else self.read7()

    def read_blob(self, id, c):
        if id == 16:
            need(c.take(12) == b"header_page\0", "no header_page")
            self.header_page = c.take(c.number(8)).decode()
            need(c.take(13) == b"header_event\0", "no header_event")
            c.take(c.number(8))
        elif id == 17:
            self.formats += [("ftrace", c.take(c.number(8)).decode()) for _ in range(c.number(4))]
        elif id == 18:
            for _ in range(c.number(4)):
                system = c.string()
                self.formats += [(system, c.take(c.number(8)).decode()) for _ in range(c.number(4))]
        else:
            self.texts[id] = c.take(c.number(8 if id == 21 else 4)).decode()

    def read_table(self, c, name, clock):
        need(c.take(10) == b"flyrecord\0", "no table of CPUs")
        cpus = [(cpu, c.number(8), c.number(8)) for cpu in range(self.cpus)]
        self.buffers.append((name, self.page_size, False, [s for s in cpus if s[2]]))
        if clock:
            c.take(c.number(8))

    def read6(self):
        c = Cursor(self, 18)
        for id in range(16, 22):
            self.read_blob(id, c)
        self.cpus = c.number(4)
        if self.bytes[c.at:c.at + 10] == b"options  \0":
            c.take(10)
            while True:
                id = c.number(2)
                if not id:
                    break
                self.options.append((id, c.take(c.number(4))))
        clock = any(id == 4 for id, _ in self.options)
        self.read_table(c, "", clock)
        self.ranges.append((0, c.at, "head"))
        for id, payload in self.options:
            if id == 3:
                at = int.from_bytes(payload[:8], self.order)
                c = Cursor(self, at)
                self.read_table(c, payload[8:-1].decode(), clock)
                self.ranges.append((at, c.at, "table"))

    def section(self, at, id):
        c = Cursor(self, at)
        need(c.number(2) == id, "no section %d at %d" % (id, at))
        flags = c.number(2)
        c.number(4)
        size = c.number(8)
        need(c.at + size <= len(self.bytes), "section %d ends after the file" % id)
        if id != 3:
            self.ranges.append((at, c.at + size, "section %d" % id))
        return c, flags, size

    def read7(self):
        c = Cursor(self, 18)
        self.compression = c.string()
        c.string()
        at, blobs = c.number(8), []
        need(at, "no options")
        while at:
            c, flags, _ = self.section(at, 0)
            need(not flags, "compressed options")
            while True:
                id, payload = c.number(2), c.take(c.number(4))
                if not id:
                    at = int.from_bytes(payload, self.order)
                    break
                self.options.append((id, payload))
                if 16 <= id <= 21:
                    blobs.append((id, int.from_bytes(payload, self.order)))
        for id, at in blobs:
            c, flags, _ = self.section(at, id)
            need(not flags or self.compression != "none", "a compressed section, and no compression")
            if not flags:
                self.read_blob(id, c)
        for id, payload in self.options:
            if id != 3:
                continue
            c = Cursor(self, 0)
            c.dat = type("", (), {"bytes": payload, "order": self.order})
            at, name = c.number(8), c.string()
            c.string()
            page_size, streams = c.number(4), [(c.number(4), c.number(8), c.number(8)) for _ in range(c.number(4))]
            _, flags, _ = self.section(at, 3)
            need(not flags or self.compression != "none", "a compressed buffer, and no compression")
            self.buffers.append((name, page_size, bool(flags), streams))

    def pages(self):
        for _, size, packed, streams in self.buffers:
            for cpu, at, length in streams if not packed else []:
                yield cpu, [self.bytes[p:p + size] for p in range(at, at + length, size)]

    def records(self, page):
        """type, delta, payload size, time, position of each record of a page"""
        time = int.from_bytes(page[:8], self.order)
        used = int.from_bytes(page[8:16], self.order) & 0x7ffffff
        need(used <= len(page) - 16, "a page says that it holds %d bytes" % used)
        at, end = 16, 16 + used
        while at < end:
            word = int.from_bytes(page[at:at + 4], self.order)
            kind, delta = (word & 31, word >> 5) if self.order == "little" else (word >> 27, word & 0x7ffffff)
            more = int.from_bytes(page[at + 4:at + 8], self.order)
            start = at
            if 1 <= kind <= 28:
                at, time = at + 4 + 4 * kind, time + delta
            elif kind == 29 and not delta:
                at = end
            elif kind in (0, 29):
                need(more >= 4, "a record of %d bytes" % more)
                at, time = at + 4 + (more + 3 & ~3), time + delta
            elif kind == 30:
                at, time = at + 8, time + delta + (more << 27)
            else:
                at, time = at + 8, (time >> 59 << 59) | delta + (more << 27)
            need(at <= end, "a record leaves its page")
            yield kind, delta, time, start


def W1(dat):
    need(dat.version in (6, 7) and dat.long_size in (4, 8), "version or long")
    need(dat.page_size >= 4096 and not dat.page_size & dat.page_size - 1, "a page size of %d" % dat.page_size)


def W2(dat):
    ranges = sorted(dat.ranges + [(at, at + size, "CPU %d" % cpu) for b in dat.buffers for cpu, at, size in b[3]])
    need(all(a[1] <= b[0] for a, b in zip(ranges, ranges[1:])), "parts overlap")
    need(ranges[-1][1] <= len(dat.bytes), "a part ends after the file")


def W3(dat):
    for name, page, packed, streams in dat.buffers:
        for cpu, at, size in streams if not packed else []:
            need(at % page == 0 and at % 4096 == 0 and size % page == 0, "CPU %d: %d bytes at %d" % (cpu, size, at))


def W4(dat):
    clocks = [payload for id, payload in dat.options if id == 4]
    need(all(re.fullmatch(rb"[^\[]*\[[a-z0-9_-]+\][^\[]*\0", clock) for clock in clocks), "a clock without its name")
    need(dat.version == 7 or all(id != 8 for id, _ in dat.options), "cpucount in version 6")


def W5(dat):
    names = [b[0] for b in dat.buffers]
    need(len(set(names)) == len(names), "two buffers with one name")
    for name, _, _, streams in dat.buffers:
        cpus = [cpu for cpu, _, _ in streams]
        need(len(set(cpus)) == len(cpus) and all(size for _, _, size in streams), "the CPUs of buffer '%s'" % name)


def W6(dat):
    for _, page, packed, streams in dat.buffers:
        for cpu, at, size in streams if packed else []:
            c = Cursor(dat, at)
            for _ in range(c.number(4)):
                length, plain = c.number(4), c.number(4)
                need(plain and plain % page == 0 and plain <= 1 << 20, "CPU %d: a chunk of %d bytes" % (cpu, plain))
                c.take(length)
            need(c.at == at + size, "CPU %d: its chunks end at %d" % (cpu, c.at))


def W7(dat):
    if not hasattr(dat, "header_page"):
        return  # compressed
    fields = dict((m[1], (int(m[2]), int(m[3]))) for m in
                  re.finditer(r"field: \w+ (\w+);\s*offset:(\d+);\s*size:(\d+);", dat.header_page))
    need(fields["timestamp"] == (0, 8) and fields["commit"][0] == 8, "timestamp or commit")
    need(sum(fields["data"]) == dat.page_size, "data does not end with the page")


def W8(dat):
    ids = set()
    for system, text in dat.formats:
        m = re.match(r"name: (\w+)\nID: (\d+)\nformat:\n((?:\tfield:.*;\n)+)\n((?:\tfield:.*;\n)*)", text)
        need(m and text.endswith("\n"), "a format of %s: %.60r" % (system, text))
        need(int(m[2]) not in ids and int(m[2]) <= 32767, "id %s" % m[2])
        ids.add(int(m[2]))


def W9(dat):
    lines = dat.texts.get(21, "").split("\n")
    pids = [line.split(" ")[0] for line in lines[:-1]]
    need(all(re.fullmatch(r"\d+ .+", line) for line in lines[:-1]) and not lines[-1], "a line of the names of threads")
    need(len(set(pids)) == len(pids), "two names of a thread")


def W10(dat):
    for cpu, pages in dat.pages():
        last = 0
        for page in pages:
            for kind, _, time, _ in dat.records(page):
                if kind <= 28:
                    need(time >= last, "CPU %d: time goes back" % cpu)
                    last = time


def W11(dat):
    for cpu, pages in dat.pages():
        for page in pages:
            commit = int.from_bytes(page[8:16], dat.order)
            if commit >> 31 & 1:
                first = next(dat.records(page), None)
                need(first and first[0] <= 28, "CPU %d: a loss that no viewer shows" % cpu)
            need(not commit >> 30 & 1 or (commit >> 31 & 1 and (commit & 0x7ffffff) + 24 <= len(page)),
                 "CPU %d: a number of lost events that does not fit" % cpu)
            need(not commit >> 32 and not commit >> 27 & 7, "CPU %d: reserved bits of a commit word" % cpu)


def W12(dat):
    for cpu, pages in dat.pages():
        for page in pages:
            need(all(kind != 29 or delta <= 1 for kind, delta, _, _ in dat.records(page)), "CPU %d: padding that takes time" % cpu)


DUTIES = [W1, W2, W3, W4, W5, W6, W7, W8, W9, W10, W11, W12]

if sys.argv[1:] == ["--list"]:
    print("\n".join(duty.__name__ for duty in DUTIES))
    sys.exit(0)
status = 0
for path in sys.argv[1:]:
    for duty in DUTIES:
        try:
            duty(Dat(path))
        except (Broken, KeyError, IndexError, ValueError) as error:
            print("%s breaks %s: %s" % (path, duty.__name__, error))
            status = 1
sys.exit(status)
