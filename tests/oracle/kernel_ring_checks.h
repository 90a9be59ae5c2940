/* SPDX-License-Identifier: MIT */
/* The state of a run of kernel_ring, and the checks made in it. */
#ifndef KERNEL_RING_CHECKS_H
#define KERNEL_RING_CHECKS_H

#include "kernel_side.h"
#include "lane_side.h"
#include "ring_model.h"

/* Events are distinguished by their number in 32 bits; the times of this many are kept. */
#define NUMBERS (1u << 20)

enum check { READS, EVENTS, FILL, LOSSES, LOST_TIME, TIMES, REFUSALS, STATS, BYTES, OLDEST, FORM, EQUAL, NR_CHECKS };

/* An event was written between these two times. */
struct moment {
	uint64_t from, to;
};

struct side {
	const char *name;
	struct model *model;
	struct batch batch;
	struct moment *moments; /* by number */
	uint64_t last;		/* number of the last event that was taken */
	bool has_last;
};

struct run {
	struct kernel_side kernel;
	struct lane_side lane;
	struct side k, o; /* the kernel's, ours */
	bool same_ends;
	bool overwrite;
	uint64_t number;    /* of the next event */
	uint32_t total_min; /* a smaller event would go where the kernel has put a filler */
	uint64_t disabled;  /* events that the lane refused because it was off */
	unsigned int seed;  /* of the first configuration; each has its own */
	unsigned int draws; /* state of the random numbers */
	unsigned int configuration, sequence;
	bool disturbed; /* we were stopped for so long that it is not known which form an event took */
	uint64_t nr_disturbed, nr_writes, nr_reads, nr_pauses, nr_resets;
	uint64_t nr_unknown; /* losses without a time */
	uint64_t good[2][NR_CHECKS], bad[2][NR_CHECKS];
};

/* Count a comparison; print in which sequence it failed. Returns `good`. */
bool check(struct run *run, enum check what, bool good, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Checks that a read delivered what the model predicts. */
void check_batch(struct run *run, const struct side *side, const struct model_read *expected);

/* The last page of both holds the same events. */
void check_same_batch(struct run *run);

/* The statistics of both agree with the models, and, with the same page ends, with each other. */
void check_stats(struct run *run);

/* A line of TAP for each kind; returns how many. `all`: each must have occurred. */
unsigned int report_checks(const struct run *run, bool all);

#endif
