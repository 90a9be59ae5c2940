/* SPDX-License-Identifier: MIT */
/* The options of the files that dat_make.c makes. */
#include "dat_out.h"

#include <stdlib.h>

void put_option(struct out *o, unsigned int id, const struct out *payload)
{
	out_number(o, id, 2);
	out_number(o, payload->size, 4);
	out_put(o, payload->data, payload->size);
}

static void put_string_option(struct out *o, unsigned int id, const char *text)
{
	struct out payload = { .what = o->what };

	out_string(&payload, text);
	put_option(o, id, &payload);
	free(payload.data);
}

static void put_time_shift(struct out *o, unsigned int samples)
{
	struct out p = { .what = o->what };

	out_number(&p, 0x1234, 8);
	out_number(&p, samples > 1, 4);
	out_number(&p, o->what->cpus, 4);
	for (unsigned int cpu = 0; cpu < o->what->cpus; cpu++) {
		out_number(&p, samples, 4);
		for (unsigned int i = 0; i < samples; i++)
			out_number(&p, UINT64_C(5000000000) + i * 7000, 8);
		for (unsigned int i = 0; i < samples; i++)
			out_number(&p, samples > 1 ? (i & 1 ? 5000u * i : (uint64_t)-3000) : UINT64_C(777000000), 8);
		for (unsigned int i = 0; i < samples; i++)
			out_number(&p, samples > 1 ? 16 + i : 1, 8);
	}
	for (unsigned int i = 0; samples > 1 && i < samples * o->what->cpus; i++)
		out_number(&p, 4, 8);
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

void put_plain_options(struct out *o)
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
	out_number(&p, UINT64_C(0x1122334455667788), 8);
	put_option(o, 11, &p);
	if (flags & MAKE_SHIFT)
		put_time_shift(o, 1);
	if (flags & MAKE_SHIFTS)
		put_time_shift(o, 3);
	p.size = 0;
	out_number(&p, 3000000, 4);
	out_number(&p, 22, 4);
	out_number(&p, 12345, 8);
	if (flags & MAKE_TSC)
		put_option(o, 14, &p);
	p.size = 0;
	out_number(&p, 7, 4);
	if (flags & MAKE_CPUCOUNT)
		put_option(o, 8, &p);
	if (flags & MAKE_UNKNOWN)
		put_string_option(o, 4242, "what is this");
	if (o->what->clock)
		put_string_option(o, 4, o->what->clock);
	free(p.data);
}
