/* SPDX-License-Identifier: MIT */
#include "dat_out.h"

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
	{ "v6-big-kernel", 6, true, 8, 4096, 2, 60, "[mono]", MAKE_KERNEL | MAKE_UNLISTED },
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
	{ "v6-latency", 6, false, 8, 4096, 2, 3000, NULL, MAKE_LATENCY },
	{ "v7-latency", 7, false, 8, 4096, 2, 3000, "[mono]", MAKE_LATENCY },
	{ "v7-latency-zstd", 7, false, 8, 4096, 2, 400, "[mono]", MAKE_LATENCY | MAKE_ZSTD },
	{ "v7-large-instances", 7, false, 8, 4096, 2, 80, "[mono]", MAKE_INSTANCES | MAKE_LARGE },
	{ "v7-zstd", 7, false, 8, 4096, 2, 200, "[mono]", MAKE_ZSTD },
	{ "v7-zstd-instances", 7, true, 8, 4096, 3, 80, "[mono]", MAKE_ZSTD | MAKE_INSTANCES | MAKE_EMPTY },
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

static const char *const buffer_names[] = { "", "alpha", "a_longer_name" };

static unsigned int nr_buffers(const struct dat_make *what)
{
	return what->flags & MAKE_INSTANCES ? 3 : 1;
}

static void put_prologue(struct out *o)
{
	out_put(o, "\x17\x08\x44tracing", 10);
	out_string(o, o->what->version == 6 ? "6" : "7");
	out_number(o, o->what->big, 1);
	out_number(o, o->what->long_size, 1);
	out_number(o, o->what->page_size, 4);
	out_mark(o);
}

static void put_v6_buffer(struct out *o, unsigned int buffer)
{
	unsigned int cpus = o->what->cpus;
	size_t table;

	out_put(o, "flyrecord", 10);
	out_mark(o);
	table = o->size;
	out_space(o, (size_t)cpus * 16);
	out_mark(o);
	if (o->what->clock)
		out_blob(o, o->what->clock, 8);
	out_mark(o);
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		size_t start;

		out_align(o, o->what->page_size > 4096 ? o->what->page_size : 4096);
		start = o->size;
		if (has_data(o, cpu, buffer))
			put_cpu(o, cpu, buffer);
		out_mark(o);
		out_set(o, o->data + table + cpu * 16, start, 8);
		out_set(o, o->data + table + cpu * 16 + 8, o->size - start, 8);
	}
}

static void make_v6(struct out *o)
{
	size_t where[3] = { 0 };

	put_header_info(o);
	out_mark(o);
	put_ftrace_events(o);
	out_mark(o);
	put_event_formats(o);
	out_mark(o);
	put_kallsyms(o);
	out_mark(o);
	put_printk(o);
	out_mark(o);
	put_cmdlines(o);
	out_mark(o);
	out_number(o, o->what->cpus, 4);
	out_mark(o);
	if (!(o->what->flags & MAKE_BARE)) {
		out_put(o, "options  ", 10);
		out_mark(o);
		put_plain_options(o);
		for (unsigned int i = 1; i < nr_buffers(o->what); i++) {
			struct out p = { .what = o->what };

			out_number(&p, 0, 8);
			out_string(&p, buffer_names[i]);
			where[i] = o->size + 6;
			put_option(o, 3, &p);
			free(p.data);
		}
		out_number(o, 0, 2);
		out_mark(o);
	}
	if (o->what->flags & MAKE_LATENCY) {
		out_put(o, "latency  ", 10);
		put_latency_text(o);
		return;
	}
	for (unsigned int i = 0; i < nr_buffers(o->what); i++) {
		if (where[i])
			out_set(o, o->data + where[i], o->size, 8);
		put_v6_buffer(o, i);
	}
}

/* Take the bytes from `start` on out of the file; the caller frees them. */
static unsigned char *take_from(struct out *o, size_t start)
{
	unsigned char *taken = malloc(o->size - start + 1);

	if (!taken)
		abort();
	memcpy(taken, o->data + start, o->size - start);
	o->size = start;
	return taken;
}

static size_t section_begin(struct out *o, unsigned int id)
{
	out_mark(o);
	out_number(o, id, 2);
	out_number(o, 0, 2);
	out_number(o, UINT32_MAX, 4);
	out_number(o, 0, 8);
	return o->size;
}

/* Begin a section with data or text at `begin`. */
static size_t data_end(struct out *o, size_t begin)
{
	out_set(o, o->data + begin - 8, o->size - begin, 8);
	return begin - 16;
}

/* Turn the data of a section from `start` on into chunks of two pages each. */
static void pack_data(struct out *o, size_t begin, size_t start)
{
	const size_t size = o->size - start;
	unsigned char *plain;

	if (!(o->what->flags & MAKE_ZSTD))
		return;
	plain = take_from(o, start);
	out_chunks(o, plain, size, 2 * o->what->page_size);
	out_set(o, o->data + begin - 14, 1, 2);
	free(plain);
}

/* Put the contents, compressed if the file is. */
static size_t section_end(struct out *o, size_t begin)
{
	if (o->what->flags & MAKE_ZSTD) {
		const size_t size = o->size - begin;
		unsigned char *plain = take_from(o, begin);

		out_packed(o, plain, size);
		out_set(o, o->data + begin - 14, 1, 2);
		free(plain);
	}
	return data_end(o, begin);
}

static void put_v7_text(struct out *o, struct out *options)
{
	struct out p = { .what = o->what };
	size_t begin = section_begin(o, 22);

	out_number(&p, begin - 16, 8);
	out_string(&p, "");
	out_string(&p, o->what->clock);
	put_latency_text(o);
	pack_data(o, begin, begin);
	data_end(o, begin);
	put_option(options, 22, &p);
	free(p.data);
}

static void put_v7_buffer(struct out *o, unsigned int buffer, struct out *options)
{
	static const unsigned int sparse[] = { 10, 0, 3, 5 };
	const struct dat_make *file = o->what;
	struct dat_make what = *file;
	struct out p = { .what = &what };
	size_t begin = section_begin(o, 3);
	unsigned int count = 0;
	size_t count_at;

	if (buffer && what.flags & MAKE_LARGE)
		what.page_size *= 16;
	o->what = &what;
	out_number(&p, begin - 16, 8);
	out_string(&p, buffer_names[buffer]);
	out_string(&p, o->what->clock ? o->what->clock : "");
	out_number(&p, o->what->page_size, 4);
	count_at = p.size;
	out_number(&p, 0, 4);
	for (unsigned int cpu = 0; cpu < o->what->cpus; cpu++) {
		size_t start;

		if (!has_data(o, cpu, buffer))
			continue;
		if (!(what.flags & MAKE_TIGHT))
			out_align(o, o->what->page_size > 4096 ? o->what->page_size : 4096);
		start = o->size;
		put_cpu(o, cpu, buffer);
		pack_data(o, begin, start);
		out_number(&p, o->what->flags & MAKE_SPARSE ? sparse[cpu % 4] : cpu, 4);
		out_number(&p, start, 8);
		out_number(&p, o->size - start, 8);
		count++;
	}
	out_set(o, p.data + count_at, count, 4);
	o->what = file;
	data_end(o, begin);
	put_option(options, 3, &p);
	free(p.data);
}

static void put_where(struct out *options, unsigned int id, size_t offset)
{
	struct out p = { .what = options->what };

	out_number(&p, offset, 8);
	put_option(options, id, &p);
	free(p.data);
}

static size_t put_options_section(struct out *o, const struct out *options, size_t next)
{
	size_t begin = section_begin(o, 0);

	out_put(o, options->data, options->size);
	put_where(o, 0, next);
	return section_end(o, begin);
}

static void make_v7(struct out *o)
{
	struct out options = { .what = o->what };
	size_t first_at, begin, early = 0;
	bool bare = o->what->flags & MAKE_BARE;

	out_string(o, o->what->flags & MAKE_ZSTD ? "zstd" : "none");
	out_string(o, o->what->flags & MAKE_ZSTD ? "1.5.4" : "");
	first_at = o->size;
	out_number(o, 0, 8);
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
		put_kallsyms(o);
		put_where(&options, 19, section_end(o, begin));
		begin = section_begin(o, 20);
		put_printk(o);
		put_where(&options, 20, section_end(o, begin));
		begin = section_begin(o, 21);
		put_cmdlines(o);
		put_where(&options, 21, section_end(o, begin));
	}
	if (o->what->flags & MAKE_LATENCY)
		put_v7_text(o, &options);
	for (unsigned int i = 0; i < nr_buffers(o->what) && !(o->what->flags & MAKE_LATENCY); i++) {
		if (i || !(o->what->flags & MAKE_ONLY))
			put_v7_buffer(o, i, &options);
	}
	if (!early)
		put_plain_options(&options);
	begin = put_options_section(o, &options, 0);
	out_set(o, o->data + first_at, early ? early : begin, 8);
	if (early)
		/* The link to the next section: the last eight bytes of the early one. */
		out_set(o, o->data + early + 16 + 0, 0, 0);
	if (early) {
		struct out plain = { .what = o->what };

		put_plain_options(&plain);
		out_set(o, o->data + early + 16 + plain.size + 6, begin, 8);
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
