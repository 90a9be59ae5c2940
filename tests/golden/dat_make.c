/* SPDX-License-Identifier: MIT */
#include "dat_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE 0u

const struct dat_make dat_makes[] = {
	{ "v6-plain", 6, false, 8, 4096, 2, 300, "[mono]", NONE },
	{ "v7-plain", 7, false, 8, 4096, 2, 300, "[mono]", NONE },
	{ "v6-one", 6, false, 8, 4096, 1, 1, "[mono]", NONE },
	{ "v6-bare", 6, false, 8, 4096, 1, 20, NULL, MAKE_BARE },
	{ "v7-bare", 7, false, 8, 4096, 1, 20, NULL, MAKE_BARE },
	{ "v6-many", 6, false, 8, 4096, 12, 100, "[mono]", MAKE_EMPTY },
	{ "v7-many", 7, false, 8, 4096, 12, 100, "[mono]", MAKE_EMPTY },
	{ "v7-sparse", 7, false, 8, 4096, 4, 50, "[mono]", MAKE_SPARSE },
	{ "v7-cpucount", 7, false, 8, 4096, 2, 50, "[mono]", MAKE_CPUCOUNT },
	{ "v7-only-cpucount", 7, false, 8, 4096, 2, 50, "[mono]", MAKE_INSTANCES | MAKE_ONLY | MAKE_CPUCOUNT },
	{ "v7-options", 7, false, 8, 4096, 2, 50, "[mono]", MAKE_LATE_OPTS },
	{ "v6-fields", 6, false, 8, 4096, 1, 40, "[mono]", MAKE_ALL_FIELDS },
	{ "v7-fields", 7, false, 8, 4096, 1, 40, "[mono]", MAKE_ALL_FIELDS },
	{ "v6-kernel", 6, false, 8, 4096, 2, 60, "[mono]", MAKE_KERNEL },
	{ "v6-lost", 6, false, 8, 4096, 2, 400, "[mono]", MAKE_LOST },
	{ "v7-lost", 7, false, 8, 4096, 2, 400, "[mono]", MAKE_LOST },
	{ "v6-lost-markers", 6, false, 8, 4096, 2, 400, "[mono]", MAKE_LOST | MAKE_MARKERS },
	{ "v6-markers", 6, false, 8, 4096, 2, 400, "[mono]", MAKE_MARKERS },
	{ "v6-extends", 6, false, 8, 4096, 2, 300, "[mono]", MAKE_EXTENDS },
	{ "v6-big-time", 6, false, 8, 4096, 2, 100, "[mono]", MAKE_EXTENDS | MAKE_BIG_TIME },
	{ "v6-ties", 6, false, 8, 4096, 5, 50, "[mono]", MAKE_TIES },
	{ "v6-zero-pages", 6, false, 8, 4096, 2, 300, "[mono]", MAKE_ZERO_PAGES },
	{ "v6-short", 6, false, 8, 4096, 2, 300, "[mono]", MAKE_SHORT },
	{ "v6-page64k", 6, false, 8, 65536, 2, 3000, "[mono]", NONE },
	{ "v7-page16k", 7, false, 8, 16384, 2, 1000, "[mono]", NONE },
	{ "v6-big-endian", 6, true, 8, 4096, 2, 300, "[mono]", MAKE_LOST | MAKE_EXTENDS },
	{ "v7-big-endian", 7, true, 8, 4096, 2, 300, "[mono]", MAKE_LOST },
	{ "v6-long4", 6, false, 4, 4096, 2, 300, "[mono]", MAKE_LOST },
	{ "v6-big-long4", 6, true, 4, 4096, 2, 300, "[mono]", MAKE_LOST },
	{ "v6-date", 6, false, 8, 4096, 2, 50, "[mono]", MAKE_DATE },
	{ "v6-clocks", 6, false, 8, 4096, 2, 300, "[mono]", MAKE_CLOCKS | MAKE_KERNEL },
	{ "v6-offset", 6, false, 8, 4096, 2, 50, "[mono]", MAKE_OFFSET },
	{ "v6-tsc", 6, false, 8, 4096, 2, 50, "[x86-tsc]", MAKE_TSC },
	{ "v7-tsc", 7, false, 8, 4096, 2, 50, "[x86-tsc]", MAKE_TSC },
	{ "v6-tsc-raw", 6, false, 8, 4096, 2, 50, "[x86-tsc]", NONE },
	{ "v7-tsc-raw", 7, false, 8, 4096, 2, 50, "[x86-tsc]", NONE },
	{ "v6-boot", 6, false, 8, 4096, 2, 50, "[boot]", NONE },
	{ "v6-local", 6, false, 8, 4096, 2, 50, "[local] global mono", NONE },
	{ "v6-global", 6, false, 8, 4096, 2, 50, "local [global] mono", NONE },
	{ "v6-shift", 6, false, 8, 4096, 2, 50, "[mono]", MAKE_SHIFT },
	{ "v6-shifts", 6, false, 8, 4096, 2, 50, "[mono]", MAKE_SHIFTS },
	{ "v6-instances", 6, false, 8, 4096, 2, 80, "[mono]", MAKE_INSTANCES },
	{ "v7-instances", 7, false, 8, 4096, 2, 80, "[mono]", MAKE_INSTANCES },
	{ "v7-only-instances", 7, false, 8, 4096, 2, 80, "[mono]", MAKE_INSTANCES | MAKE_ONLY },
	{ "v6-unknown", 6, false, 8, 4096, 2, 60, "[mono]", MAKE_UNKNOWN },
	{ "v7-unknown", 7, false, 8, 4096, 2, 60, "[mono]", MAKE_UNKNOWN },
	{ 0 }
};

const struct dat_make *dat_make_find(const char *name)
{
	for (const struct dat_make *m = dat_makes; m->name; m++) {
		if (!strcmp(m->name, name))
			return m;
	}
	return NULL;
}

/* ---------------------------------------------------------------------------------------------------- building */

struct out {
	unsigned char *data;
	size_t size;
	size_t room;
	const struct dat_make *what;
	size_t *marks;
	size_t nr_marks;
};

static void *put_space(struct out *o, size_t size)
{
	if (o->size + size > o->room) {
		o->room = (o->size + size) * 2;
		o->data = realloc(o->data, o->room);
		if (!o->data)
			abort();
	}
	memset(o->data + o->size, 0, size);
	o->size += size;
	return o->data + o->size - size;
}

static void put(struct out *o, const void *data, size_t size)
{
	if (size)
		memcpy(put_space(o, size), data, size);
}

static void set(const struct out *o, void *at, uint64_t value, unsigned int size)
{
	unsigned char *to = at;

	for (unsigned int i = 0; i < size; i++)
		to[o->what->big ? size - 1 - i : i] = (unsigned char)(value >> (8 * i));
}

static void put_number(struct out *o, uint64_t value, unsigned int size)
{
	set(o, put_space(o, size), value, size);
}

static void put_string(struct out *o, const char *text)
{
	put(o, text, strlen(text) + 1);
}

static void put_blob(struct out *o, const char *text, unsigned int size_of_size)
{
	put_number(o, strlen(text), size_of_size);
	put(o, text, strlen(text));
}

static void mark(struct out *o)
{
	if (o->nr_marks < DAT_MAKE_MARKS - 1)
		o->marks[o->nr_marks++] = o->size;
}

static void align(struct out *o, size_t to)
{
	while (o->size % to)
		put_number(o, 0, 1);
}

/* ----------------------------------------------------------------------------------------------------- formats */

#define COMMON                                                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                                         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                                         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                                 \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define FORMAT(name, id, fields, print) "name: " name "\nID: " id "\nformat:\n" COMMON fields "\nprint fmt: " print "\n"

#define FIELD(type, name, offset, size, is_signed)                                                                     \
	"\tfield:" type " " name ";\toffset:" offset ";\tsize:" size ";\tsigned:" is_signed ";\n"

static const char format_submit[] = FORMAT("submit", "16384",
	FIELD("u64", "id", "8", "8", "0") FIELD("s32", "fd", "16", "4", "1")
	FIELD("__data_loc char[]", "path", "20", "4", "0"),
	"\"id=%llu fd=%d path=%s\", REC->id, REC->fd, __get_str(path)");
static const char format_tick[] = FORMAT("a_name_longer_than_twenty_characters", "16385",
	FIELD("u64", "n", "8", "8", "0"), "\"n=%llu\", REC->n");
static const char format_kinds[] = FORMAT("kinds", "16386",
	FIELD("u8", "a", "8", "1", "0") FIELD("s8", "b", "9", "1", "1") FIELD("u16", "c", "10", "2", "0")
	FIELD("s16", "d", "12", "2", "1") FIELD("u32", "e", "14", "4", "0") FIELD("s32", "f", "18", "4", "1")
	FIELD("u64", "g", "22", "8", "0") FIELD("s64", "h", "30", "8", "1") FIELD("void *", "p", "38", "8", "0")
	FIELD("char", "name[16]", "46", "16", "0") FIELD("u32", "v[4]", "62", "16", "0"),
	"\"a=%u b=%d c=%u d=%d e=%u f=%d g=%llu h=%lld x=0x%llx p=%p name=%s v=%s state=%s flags=%s\", REC->a, "
	"REC->b, REC->c, REC->d, REC->e, REC->f, REC->g, REC->h, REC->g, REC->p, REC->name, "
	"__print_array(REC->v, 4, 4), __print_symbolic(REC->a, { 0, \"zero\" }, { 1, \"one\" }, { 2, \"two\" }), "
	"__print_flags(REC->e, \"|\", { 1, \"A\" }, { 2, \"B\" }, { 4, \"C\" })");
static const char format_bytes[] = FORMAT("bytes", "16387",
	FIELD("__data_loc u8[]", "data", "8", "4", "0") FIELD("u32", "n", "12", "4", "0"),
	"\"n=%u data=%s sum=%d\", REC->n, __print_hex(__get_dynamic_array(data), __get_dynamic_array_len(data)), "
	"REC->n * 2 + 1");
static const char format_bad[] =
	FORMAT("bad", "16388", FIELD("u64", "n", "8", "8", "0"), "\"n=%llu\", no_such_call(REC->n)");
static const char format_noprint[] = FORMAT("empty", "16389", FIELD("u32", "n", "8", "4", "0"), "");
static const char format_switch[] = FORMAT("sched_switch", "300",
	FIELD("char", "prev_comm[16]", "8", "16", "0") FIELD("pid_t", "prev_pid", "24", "4", "1")
	FIELD("int", "prev_prio", "28", "4", "1") FIELD("long", "prev_state", "32", "8", "1")
	FIELD("char", "next_comm[16]", "40", "16", "0") FIELD("pid_t", "next_pid", "56", "4", "1")
	FIELD("int", "next_prio", "60", "4", "1"),
	"\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d next_prio=%d\", "
	"REC->prev_comm, REC->prev_pid, REC->prev_prio, __print_flags(REC->prev_state, \"|\", { 1, \"S\" }), "
	"REC->next_comm, REC->next_pid, REC->next_prio");
static const char format_print[] = FORMAT("print", "5",
	FIELD("unsigned long", "ip", "8", "8", "0") FIELD("char", "buf[]", "16", "0", "0"),
	"\"%ps: %s\", (void *)REC->ip, REC->buf");
static const char format_function[] = FORMAT("function", "1",
	FIELD("unsigned long", "ip", "8", "8", "0") FIELD("unsigned long", "parent_ip", "16", "8", "0"),
	"\" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip");
static const char format_stack[] = FORMAT(
	"kernel_stack", "4", FIELD("int", "size", "8", "4", "1") FIELD("unsigned long", "caller[8]", "16", "64", "0"),
	"\"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" \"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" \"\\t=> %ps\\n\\t=> %ps\\n\","
	"(void *)REC->caller[0],(void *)REC->caller[1],(void *)REC->caller[2],(void *)REC->caller[3],"
	"(void *)REC->caller[4],(void *)REC->caller[5],(void *)REC->caller[6],(void *)REC->caller[7]");
static const char format_bprint[] = FORMAT("bprint", "6",
	FIELD("unsigned long", "ip", "8", "8", "0") FIELD("const char *", "fmt", "16", "8", "0")
	FIELD("u32", "buf[]", "24", "0", "0"), "\"%ps: %s\", (void *)REC->ip, REC->fmt");

static void put_header_info(struct out *o)
{
	unsigned int word = o->what->long_size;
	char text[400];

	snprintf(text, sizeof(text),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
		 word, 8 + word, o->what->page_size - 8 - word);
	put(o, "header_page", 12);
	put_blob(o, text, 8);
	put(o, "header_event", 13);
	put_blob(o, o->what->flags & MAKE_BARE ? "" : "# compressed entry header\n\ttype_len    :    5 bits\n", 8);
}

static void put_ftrace_events(struct out *o)
{
	const char *const formats[] = { format_function, format_stack, format_print, format_bprint };
	unsigned int count = o->what->flags & MAKE_BARE ? 0 : sizeof(formats) / sizeof(formats[0]);

	put_number(o, count, 4);
	for (unsigned int i = 0; i < count; i++)
		put_blob(o, formats[i], 8);
}

static void put_event_formats(struct out *o)
{
	put_number(o, 3, 4);
	put_string(o, "io");
	put_number(o, 2, 4);
	put_blob(o, format_submit, 8);
	put_blob(o, format_tick, 8);
	put_string(o, "test");
	put_number(o, 4, 4);
	put_blob(o, format_kinds, 8);
	put_blob(o, format_bytes, 8);
	put_blob(o, format_bad, 8);
	put_blob(o, format_noprint, 8);
	put_string(o, "sched");
	put_number(o, 1, 4);
	put_blob(o, format_switch, 8);
}

static const char kallsyms[] =
	"ffffffff81000000 T do_one\nffffffff81000100 t do_two\t[mod]\nffffffff81000200 T do_three\n";
static const char printk[] = "0xffffffff82000000 : \"x=%d s=%s\\n\"\n";
static const char cmdlines[] = "1001 worker\n1002 a name with spaces and very long\n1003 sh\n";

static void put_text(struct out *o, const char *text, unsigned int size_of_size)
{
	put_blob(o, o->what->flags & MAKE_BARE ? "" : text, size_of_size);
}

/* ------------------------------------------------------------------------------------------------------- pages */

struct page {
	size_t at;
	uint64_t ts;
	size_t used;
};

static size_t header_size(const struct out *o)
{
	return 8 + o->what->long_size;
}

static void put_word(struct out *o, unsigned int type, uint32_t delta)
{
	put_number(o, o->what->big ? type << 27 | delta : delta << 5 | type, 4);
}

static void page_begin(struct out *o, struct page *p, uint64_t ts)
{
	p->at = o->size;
	p->ts = ts;
	put_number(o, ts, 8);
	put_number(o, 0, o->what->long_size);
}

/* lost: 0 none, -1 uncounted, else the number */
static void page_end(struct out *o, struct page *p, int lost, bool cut)
{
	size_t used = o->size - p->at - header_size(o);
	uint64_t commit = used;

	if (lost)
		commit |= 1u << 31;
	if (lost > 0)
		commit |= 1u << 30;
	/* The kernel's 64-bit word shows the sign of its 32-bit flags (facts A1.3). */
	if (lost && o->what->long_size == 8)
		commit |= UINT64_C(0xffffffff) << 32;
	set(o, o->data + p->at + 8, commit, o->what->long_size);
	if (lost > 0)
		put_number(o, (uint64_t)lost, o->what->long_size);
	if (!cut)
		put_space(o, p->at + o->what->page_size - o->size);
}

static size_t page_left(const struct out *o, const struct page *p)
{
	return p->at + o->what->page_size - o->size;
}

static void put_record(struct out *o, struct page *p, uint64_t ts, const struct out *payload, bool absolute)
{
	uint64_t delta = ts - p->ts;
	size_t size = (payload->size + 3) & ~(size_t)3;

	if (absolute) {
		put_word(o, 31, (uint32_t)(ts & ((1u << 27) - 1)));
		put_number(o, (ts & ((UINT64_C(1) << 59) - 1)) >> 27, 4);
		delta = 0;
	} else if (delta >> 27) {
		put_word(o, 30, (uint32_t)(delta & ((1u << 27) - 1)));
		put_number(o, delta >> 27, 4);
		delta = 0;
	}
	p->ts = ts;
	if (size <= 112) {
		put_word(o, (unsigned int)(size / 4), (uint32_t)delta);
	} else {
		put_word(o, 0, (uint32_t)delta);
		put_number(o, size + 4, 4);
	}
	put(o, payload->data, payload->size);
	put_space(o, size - payload->size);
}

static void put_padding(struct out *o, uint32_t delta, uint32_t body)
{
	put_word(o, 29, delta);
	put_number(o, body + 4, 4);
	put_space(o, body);
}

/* ------------------------------------------------------------------------------------------------------ events */

static void put_common(struct out *o, unsigned int id, unsigned int n)
{
	static const unsigned char flags[] = { 0, 1, 4, 8, 16, 24, 0x0c };

	put_number(o, id, 2);
	put_number(o, n % 5 == 4 ? flags[n / 5 % sizeof(flags)] : 0, 1);
	put_number(o, n % 7 == 6 ? 0x21 : 0, 1);
	put_number(o, n % 11 == 10 ? 0 : n % 13 == 12 ? 777777 : 1001 + n % 3, 4);
}

static void put_loc(struct out *o, const void *data, size_t size, size_t fixed)
{
	put_number(o, (uint64_t)(size << 16 | fixed), 4);
	(void)data;
}

static void make_submit(struct out *o, unsigned int n)
{
	static const char long_path[] = "/a/rather/long/path/that/goes/on/and/on/and/does/not/end/before/it/has/passed/"
					"the/hundred/and/twelve/bytes/of/a/small/event";
	const char *const paths[] = { "/etc/passwd", "", long_path, "x" };
	const char *path = paths[n % 4];

	put_common(o, 16384, n);
	put_number(o, n * UINT64_C(0x123456789), 8);
	put_number(o, n % 2 ? n : 0u - n, 4);
	put_loc(o, path, strlen(path) + 1, 24);
	put_string(o, path);
}

static void make_kinds(struct out *o, unsigned int n)
{
	char name[16] = "";

	put_common(o, 16386, n);
	snprintf(name, sizeof(name), n % 2 ? "name%u" : "fifteen chars%u", n);
	put_number(o, n % 4, 1);
	put_number(o, 0u - n, 1);
	put_number(o, n * 1000, 2);
	put_number(o, 0u - n * 1000, 2);
	put_number(o, n % 9, 4);
	put_number(o, 0u - n * 100000, 4);
	put_number(o, UINT64_MAX - n, 8);
	put_number(o, 0u - (uint64_t)n * UINT64_C(10000000000), 8);
	put_number(o, UINT64_C(0xffffffff81000000) + n, 8);
	put(o, name, sizeof(name));
	for (unsigned int i = 0; i < 4; i++)
		put_number(o, i * n, 4);
}

static void make_bytes(struct out *o, unsigned int n)
{
	put_common(o, 16387, n);
	put_loc(o, NULL, n % 20, 16);
	put_number(o, n, 4);
	for (unsigned int i = 0; i < n % 20; i++)
		put_number(o, i * 7, 1);
}

static void make_plain(struct out *o, unsigned int id, unsigned int n)
{
	put_common(o, id, n);
	put_number(o, n, 8);
}

static void make_switch(struct out *o, unsigned int n)
{
	put_common(o, 300, n);
	put(o, "prev\0\0\0\0\0\0\0\0\0\0\0", 16);
	put_number(o, 1001, 4);
	put_number(o, 120, 4);
	put_number(o, n % 4, 8);
	put(o, "fifteen chars..\0", 16);
	put_number(o, 1002, 4);
	put_number(o, 100 + n, 4);
}

static void make_kernel(struct out *o, unsigned int n)
{
	switch (n % 5) {
	case 0:
		make_switch(o, n);
		break;
	case 1:
		put_common(o, 1, n);
		put_number(o, UINT64_C(0xffffffff81000000) + n % 3 * 0x100, 8);
		put_number(o, UINT64_C(0xffffffff81000010), 8);
		break;
	case 2:
		put_common(o, 5, n);
		put_number(o, UINT64_C(0xffffffff81000105), 8);
		put(o, "hello from print\n", 18);
		break;
	case 3:
		put_common(o, 4, n);
		put_number(o, 3, 4);
		put_number(o, 0, 4);
		for (unsigned int i = 0; i < 3; i++)
			put_number(o, UINT64_C(0xffffffff81000000) + i * 0x100, 8);
		put_number(o, n % 2 ? UINT64_MAX : 0x1234, 8);
		break;
	default:
		put_common(o, 6, n);
		put_number(o, UINT64_C(0xffffffff81000001), 8);
		put_number(o, UINT64_C(0xffffffff82000000), 8);
		put_number(o, n, 4);
		put(o, "str\0", 4);
	}
}

static void make_event(struct out *o, unsigned int n)
{
	unsigned int flags = o->what->flags;

	if (flags & MAKE_KERNEL) {
		make_kernel(o, n);
	} else if (flags & MAKE_UNKNOWN) {
		make_plain(o, n % 3 == 0 ? 16388 : n % 3 == 1 ? 16389 : 99, n);
	} else if (flags & MAKE_ALL_FIELDS && n % 3 == 1) {
		make_kinds(o, n);
	} else if (flags & MAKE_ALL_FIELDS && n % 3 == 2) {
		make_bytes(o, n);
	} else if (n % 3 == 2) {
		make_plain(o, 16385, n);
	} else {
		make_submit(o, n);
	}
}

/* The intervals between a CPU's events: irregular, and different on each CPU. */
static uint64_t next_time(const struct out *o, uint64_t ts, unsigned int cpu, unsigned int n)
{
	if (o->what->flags & MAKE_TIES)
		return ts + 1000;
	if (o->what->flags & MAKE_EXTENDS && n % 10 == 7)
		return ts + (UINT64_C(1) << 27) + n;
	return ts + 100 + (n * 2654435761u >> 22) + cpu * 7;
}

static void put_cpu(struct out *o, unsigned int cpu, unsigned int buffer)
{
	unsigned int flags = o->what->flags;
	uint64_t ts = UINT64_C(5000000000) + buffer * 333 + cpu * 10;
	struct out payload = { .what = o->what };
	struct page page = { 0 };
	unsigned int pages = 0;
	bool fresh = true;

	if (flags & MAKE_TIES)
		ts = UINT64_C(5000000000);
	if (flags & MAKE_BIG_TIME)
		ts = (UINT64_C(3) << 59) - UINT64_C(500000000);
	for (unsigned int n = 0; n < o->what->events; n++) {
		payload.size = 0;
		make_event(&payload, n);
		ts = next_time(o, ts, cpu, n);
		if (!fresh && page_left(o, &page) < payload.size + 64) {
			page_end(o, &page,
				 flags & MAKE_LOST ? pages % 4 == 1   ? 42
						     : pages % 4 == 2 ? -1
								      : 0
						   : 0,
				 false);
			pages++;
			fresh = true;
			if (flags & MAKE_ZERO_PAGES && pages % 2)
				put_space(o, o->what->page_size);
		}
		if (fresh) {
			if (flags & MAKE_ZERO_PAGES && !pages)
				put_space(o, o->what->page_size);
			page_begin(o, &page, ts);
			if (flags & MAKE_MARKERS)
				put_padding(o, 1, 8);
		}
		if (flags & MAKE_EXTENDS && n % 10 == 3)
			put_padding(o, 5, 24), page.ts += 5;
		put_record(o, &page, ts, &payload,
			   (fresh && flags & MAKE_MARKERS) || (flags & MAKE_EXTENDS && n % 10 == 5));
		fresh = false;
	}
	if (flags & MAKE_EXTENDS && page_left(o, &page) > 64)
		put_word(o, 29, 0);
	page_end(o, &page, 0, flags & MAKE_SHORT);
	if (flags & MAKE_ZERO_PAGES)
		put_space(o, o->what->page_size);
	free(payload.data);
}

static bool has_data(const struct out *o, unsigned int cpu, unsigned int buffer)
{
	if (o->what->flags & MAKE_EMPTY && cpu % 2)
		return false;
	return buffer || !(o->what->flags & MAKE_ONLY);
}

/* ----------------------------------------------------------------------------------------------------- options */

static void put_option(struct out *o, unsigned int id, const struct out *payload)
{
	put_number(o, id, 2);
	put_number(o, payload->size, 4);
	put(o, payload->data, payload->size);
}

static void put_string_option(struct out *o, unsigned int id, const char *text)
{
	struct out payload = { .what = o->what };

	put_string(&payload, text);
	put_option(o, id, &payload);
	free(payload.data);
}

static void put_time_shift(struct out *o, unsigned int samples)
{
	struct out p = { .what = o->what };

	put_number(&p, 0x1234, 8);
	put_number(&p, samples > 1, 4);
	put_number(&p, o->what->cpus, 4);
	for (unsigned int cpu = 0; cpu < o->what->cpus; cpu++) {
		put_number(&p, samples, 4);
		for (unsigned int i = 0; i < samples; i++)
			put_number(&p, UINT64_C(5000000000) + i * 7000, 8);
		for (unsigned int i = 0; i < samples; i++)
			put_number(&p, samples > 1 ? (i & 1 ? 5000u * i : (uint64_t)-3000) : UINT64_C(777000000), 8);
		for (unsigned int i = 0; i < samples; i++)
			put_number(&p, samples > 1 ? 16 + i : 1, 8);
	}
	for (unsigned int i = 0; samples > 1 && i < samples * o->what->cpus; i++)
		put_number(&p, 4, 8);
	put_option(o, 12, &p);
	free(p.data);
}

/*
 * 50 us of the file are 100 us of the time of day, from 20 us before 2023-11-15 00:00 UTC on. Before the second reading
 * the machine sleeps for 10 s.
 */
#define CLOCKS                                                                                                      \
	"recorder 1.0; clocks: monotonic 5000000000 realtime 1700006399999980000 boottime 3605000000000 ns, "         \
	"monotonic 5000050000 realtime 1700006400000080000 boottime 3615000050000 ns"

static void put_plain_options(struct out *o)
{
	unsigned int flags = o->what->flags;
	struct out p = { .what = o->what };

	if (flags & MAKE_BARE)
		return;
	if (flags & MAKE_DATE)
		put_string_option(o, 1, "0x5f5e100");
	put_string_option(o, 2, "CPU: 0\nentries: 0\noverrun: 0\n");
	put_string_option(o, 5, "Linux test 1.0");
	if (flags & MAKE_OFFSET)
		put_string_option(o, 7, "-1500000000");
	put_string_option(o, 9, flags & MAKE_CLOCKS ? CLOCKS : "a test");
	put_number(&p, UINT64_C(0x1122334455667788), 8);
	put_option(o, 11, &p);
	if (flags & MAKE_SHIFT)
		put_time_shift(o, 1);
	if (flags & MAKE_SHIFTS)
		put_time_shift(o, 3);
	p.size = 0;
	put_number(&p, 3000000, 4);
	put_number(&p, 22, 4);
	put_number(&p, 12345, 8);
	if (flags & MAKE_TSC)
		put_option(o, 14, &p);
	p.size = 0;
	put_number(&p, 7, 4);
	if (flags & MAKE_CPUCOUNT)
		put_option(o, 8, &p);
	if (flags & MAKE_UNKNOWN)
		put_string_option(o, 4242, "what is this");
	if (o->what->clock)
		put_string_option(o, 4, o->what->clock);
	free(p.data);
}

/* --------------------------------------------------------------------------------------------------- the files */

static const char *const buffer_names[] = { "", "alpha", "a_longer_name" };

static unsigned int nr_buffers(const struct dat_make *what)
{
	return what->flags & MAKE_INSTANCES ? 3 : 1;
}

static void put_prologue(struct out *o)
{
	put(o, "\x17\x08\x44tracing", 10);
	put_string(o, o->what->version == 6 ? "6" : "7");
	put_number(o, o->what->big, 1);
	put_number(o, o->what->long_size, 1);
	put_number(o, o->what->page_size, 4);
	mark(o);
}

static void put_v6_buffer(struct out *o, unsigned int buffer)
{
	unsigned int cpus = o->what->cpus;
	size_t table;

	put(o, "flyrecord", 10);
	mark(o);
	table = o->size;
	put_space(o, (size_t)cpus * 16);
	mark(o);
	if (o->what->clock)
		put_blob(o, o->what->clock, 8);
	mark(o);
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		size_t start;

		align(o, o->what->page_size > 4096 ? o->what->page_size : 4096);
		start = o->size;
		if (has_data(o, cpu, buffer))
			put_cpu(o, cpu, buffer);
		mark(o);
		set(o, o->data + table + cpu * 16, start, 8);
		set(o, o->data + table + cpu * 16 + 8, o->size - start, 8);
	}
}

static void make_v6(struct out *o)
{
	size_t where[3] = { 0 };

	put_header_info(o);
	mark(o);
	put_ftrace_events(o);
	mark(o);
	put_event_formats(o);
	mark(o);
	put_text(o, kallsyms, 4);
	mark(o);
	put_text(o, printk, 4);
	mark(o);
	put_text(o, cmdlines, 8);
	mark(o);
	put_number(o, o->what->cpus, 4);
	mark(o);
	if (!(o->what->flags & MAKE_BARE)) {
		put(o, "options  ", 10);
		mark(o);
		put_plain_options(o);
		for (unsigned int i = 1; i < nr_buffers(o->what); i++) {
			struct out p = { .what = o->what };

			put_number(&p, 0, 8);
			put_string(&p, buffer_names[i]);
			where[i] = o->size + 6;
			put_option(o, 3, &p);
			free(p.data);
		}
		put_number(o, 0, 2);
		mark(o);
	}
	for (unsigned int i = 0; i < nr_buffers(o->what); i++) {
		if (where[i])
			set(o, o->data + where[i], o->size, 8);
		put_v6_buffer(o, i);
	}
}

static size_t section_begin(struct out *o, unsigned int id)
{
	mark(o);
	put_number(o, id, 2);
	put_number(o, 0, 2);
	put_number(o, UINT32_MAX, 4);
	put_number(o, 0, 8);
	return o->size;
}

static size_t section_end(struct out *o, size_t begin)
{
	set(o, o->data + begin - 8, o->size - begin, 8);
	return begin - 16;
}

static void put_v7_buffer(struct out *o, unsigned int buffer, struct out *options)
{
	static const unsigned int sparse[] = { 10, 0, 3, 5 };
	struct out p = { .what = o->what };
	size_t begin = section_begin(o, 3);
	unsigned int count = 0;
	size_t count_at;

	put_number(&p, begin - 16, 8);
	put_string(&p, buffer_names[buffer]);
	put_string(&p, o->what->clock ? o->what->clock : "");
	put_number(&p, o->what->page_size, 4);
	count_at = p.size;
	put_number(&p, 0, 4);
	for (unsigned int cpu = 0; cpu < o->what->cpus; cpu++) {
		size_t start;

		if (!has_data(o, cpu, buffer))
			continue;
		align(o, o->what->page_size > 4096 ? o->what->page_size : 4096);
		start = o->size;
		put_cpu(o, cpu, buffer);
		put_number(&p, o->what->flags & MAKE_SPARSE ? sparse[cpu % 4] : cpu, 4);
		put_number(&p, start, 8);
		put_number(&p, o->size - start, 8);
		count++;
	}
	set(o, p.data + count_at, count, 4);
	section_end(o, begin);
	put_option(options, 3, &p);
	free(p.data);
}

static void put_where(struct out *options, unsigned int id, size_t offset)
{
	struct out p = { .what = options->what };

	put_number(&p, offset, 8);
	put_option(options, id, &p);
	free(p.data);
}

static size_t put_options_section(struct out *o, const struct out *options, size_t next)
{
	size_t begin = section_begin(o, 0);

	put(o, options->data, options->size);
	put_where(o, 0, next);
	return section_end(o, begin);
}

static void make_v7(struct out *o)
{
	struct out options = { .what = o->what };
	size_t first_at, begin, early = 0;
	bool bare = o->what->flags & MAKE_BARE;

	put_string(o, "none");
	put_string(o, "");
	first_at = o->size;
	put_number(o, 0, 8);
	if (o->what->flags & MAKE_LATE_OPTS) {
		put_plain_options(&options);
		early = put_options_section(o, &options, 0);
		options.size = 0;
	}
	begin = section_begin(o, 16);
	put_header_info(o);
	put_where(&options, 16, section_end(o, begin));
	begin = section_begin(o, 18);
	put_event_formats(o);
	put_where(&options, 18, section_end(o, begin));
	if (!bare) {
		begin = section_begin(o, 17);
		put_ftrace_events(o);
		put_where(&options, 17, section_end(o, begin));
		begin = section_begin(o, 19);
		put_text(o, kallsyms, 4);
		put_where(&options, 19, section_end(o, begin));
		begin = section_begin(o, 20);
		put_text(o, printk, 4);
		put_where(&options, 20, section_end(o, begin));
		begin = section_begin(o, 21);
		put_text(o, cmdlines, 8);
		put_where(&options, 21, section_end(o, begin));
	}
	for (unsigned int i = 0; i < nr_buffers(o->what); i++) {
		if (i || !(o->what->flags & MAKE_ONLY))
			put_v7_buffer(o, i, &options);
	}
	if (!early)
		put_plain_options(&options);
	begin = put_options_section(o, &options, 0);
	set(o, o->data + first_at, early ? early : begin, 8);
	if (early)
		/* The next of the early section: the last eight bytes of it. */
		set(o, o->data + early + 16 + 0, 0, 0);
	if (early) {
		struct out plain = { .what = o->what };

		put_plain_options(&plain);
		set(o, o->data + early + 16 + plain.size + 6, begin, 8);
		free(plain.data);
	}
	free(options.data);
}

unsigned char *dat_make(const struct dat_make *what, size_t *ret_size, size_t ret_marks[DAT_MAKE_MARKS])
{
	size_t marks[DAT_MAKE_MARKS] = { 0 };
	struct out o = { .what = what, .marks = ret_marks ? ret_marks : marks };

	put_prologue(&o);
	if (what->version == 6)
		make_v6(&o);
	else
		make_v7(&o);
	o.marks[o.nr_marks] = o.size;
	*ret_size = o.size;
	return o.data;
}
