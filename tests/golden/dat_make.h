/* SPDX-License-Identifier: MIT */
/*
 * Makes the trace.dat files that the tests read, from the format's description alone. It shares no code with this
 * project's writer and reader, so it can test both. Each file is the same each time.
 */
#ifndef TESTS_DAT_MAKE_H
#define TESTS_DAT_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Features of a file, in addition to those of a plain one. */
#define MAKE_DATE	(1u << 0)
#define MAKE_OFFSET	(1u << 1)
#define MAKE_TSC	(1u << 2)  /* TSC2NSEC */
#define MAKE_SHIFT	(1u << 3)  /* TIME_SHIFT, one sample */
#define MAKE_SHIFTS	(1u << 4)  /* TIME_SHIFT, three samples, interpolated, with fraction bits */
#define MAKE_LOST	(1u << 5)  /* counted losses on page 1, uncounted on page 2 of each CPU */
#define MAKE_INSTANCES	(1u << 6)  /* two more buffers, the top one with data */
#define MAKE_ONLY	(1u << 7)  /* two more buffers, the top one without data */
#define MAKE_EMPTY	(1u << 8)  /* every second CPU has no data */
#define MAKE_ZERO_PAGES (1u << 9)  /* pages never used, before, between and after */
#define MAKE_SHORT	(1u << 10) /* the last page of a CPU is cut after its data */
#define MAKE_EXTENDS	(1u << 11) /* long pauses, absolute stamps, padding, discarded events */
#define MAKE_BARE	(1u << 12) /* no optional parts */
#define MAKE_UNKNOWN	(1u << 13) /* unknown options, ids without format, formats that do not parse */
#define MAKE_MARKERS	(1u << 14) /* each page begins with a padding record and an absolute stamp */
#define MAKE_LATE_OPTS	(1u << 15) /* version 7: two options sections, the first of them before everything */
#define MAKE_SPARSE	(1u << 16) /* version 7: CPUs 10, 0, 3 ... in this order */
#define MAKE_TIES	(1u << 17) /* the same times on all CPUs */
#define MAKE_BIG_TIME	(1u << 18) /* times above 2^59 with absolute stamps */
#define MAKE_ALL_FIELDS (1u << 19) /* one event of each kind of field and print format */
#define MAKE_KERNEL	(1u << 20) /* events for which viewers have code of their own */
#define MAKE_CPUCOUNT	(1u << 21) /* version 7: an option states 7 CPUs */
#define MAKE_CLOCKS	(1u << 22) /* readings of the clocks: the time of day runs twice as fast */
#define MAKE_LATENCY	(1u << 23) /* the text of a latency tracer instead of events */
#define MAKE_ZSTD	(1u << 24) /* version 7: all sections and all data are compressed */
#define MAKE_LARGE	(1u << 25) /* version 7: instances have pages 16 times larger, and one event as much larger */
#define MAKE_TIGHT	(1u << 26) /* compressed data of CPUs follow one another without padding */
#define MAKE_UNLISTED	(1u << 27) /* mkdat makes it, but does not list it */

struct dat_make {
	const char *name;
	unsigned int version;
	bool big;
	unsigned int long_size;
	uint32_t page_size;
	unsigned int cpus;
	unsigned int events; /* of each CPU and buffer */
	const char *clock;   /* NULL: no TRACECLOCK option */
	unsigned int flags;
};

/* The list of all files; its last element has no name. */
extern const struct dat_make dat_makes[];

const struct dat_make *dat_make_find(const char *name);

/*
 * Makes one in memory; the caller frees it. *ret_marks receives the offsets where sections and tables begin and end,
 * for tests that cut there; it ends with the size.
 */
#define DAT_MAKE_MARKS 64
unsigned char *dat_make(const struct dat_make *what, size_t *ret_size, size_t ret_marks[DAT_MAKE_MARKS]);

#endif
