/* SPDX-License-Identifier: MIT */
/*
 * Measures how long a single event may take: each of many millions of events is timed by itself, and so is the same
 * loop without events. bench/README.md explains the output.
 *
 * Blocks of both loops take turns, so that interrupts and other programs affect them in the same way.
 */
#include "bench/timing.h"

#include <inttypes.h>
#include <librecorder/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

REC_EVENT(bench, u64, u64(n));

#define NOINLINE __attribute__((noinline))

#define BLOCKS	     40u
#define BLOCK_EVENTS 1000000u

/* ---------------------------------------------------------------------------------------------------- histogram */

/* Values below 128 ticks are exact. Above, each power of two has 64 steps: the error is at most 1.6 %. */
#define STEP_BITS 6u
#define EXACT	  (2u << STEP_BITS)
#define BUCKETS	  (EXACT + (64u - STEP_BITS - 1u) * (1u << STEP_BITS))

struct histogram {
	const char *name;
	uint64_t n;
	uint64_t max;
	uint64_t count[BUCKETS];
};

static unsigned int bucket_of(uint64_t ticks)
{
	unsigned int shift;

	if (ticks < EXACT)
		return (unsigned int)ticks;
	shift = 63u - (unsigned int)__builtin_clzll(ticks) - STEP_BITS;
	return EXACT + (shift - 1) * (1u << STEP_BITS) + (unsigned int)(ticks >> shift) - (1u << STEP_BITS);
}

/* The largest value that falls into the bucket. */
static uint64_t bucket_end(unsigned int bucket)
{
	const unsigned int step = bucket - EXACT;
	const unsigned int shift = step / (1u << STEP_BITS) + 1;

	if (bucket < EXACT)
		return bucket;
	return (((uint64_t)(step % (1u << STEP_BITS)) + (1u << STEP_BITS) + 1) << shift) - 1;
}

static inline void add(struct histogram *histogram, uint64_t ticks)
{
	histogram->n++;
	histogram->count[bucket_of(ticks)]++;
	if (ticks > histogram->max)
		histogram->max = ticks;
}

/* Set all counts to 0. */
static void forget(struct histogram *histogram)
{
	memset(histogram->count, 0, sizeof(histogram->count));
	histogram->n = histogram->max = 0;
}

/* The least value that is not exceeded by this part of all values. */
static uint64_t quantile(const struct histogram *histogram, double part)
{
	uint64_t left = (uint64_t)((double)histogram->n * (1 - part));
	unsigned int bucket = BUCKETS;

	while (--bucket && left >= histogram->count[bucket])
		left -= histogram->count[bucket];
	return bucket_end(bucket) < histogram->max ? bucket_end(bucket) : histogram->max;
}

/* -------------------------------------------------------------------------------------------------------- loops */

static struct histogram without = { .name = "no event" };
static struct histogram plain = { .name = "u64" };
static struct histogram crossing = { .name = "u64 on the next sub-buffer" };

static NOINLINE void write_u64(uint64_t n)
{
	REC(bench, u64, n);
}

static NOINLINE void write_nothing(uint64_t n)
{
	__asm__ volatile("" : : "r"(n) : "memory");
}

static uint32_t tail_page(void)
{
	return REC_POS_ID(rec_load_relaxed(&rec_thread_handle->lane->tail));
}

static void block_without(void)
{
	for (uint64_t i = 0; i < BLOCK_EVENTS; i++) {
		const uint64_t begin = timing_ticks();

		write_nothing(i);
		add(&without, timing_ticks() - begin);
	}
}

static void block_with(void)
{
	uint32_t page = tail_page();

	for (uint64_t i = 0; i < BLOCK_EVENTS; i++) {
		const uint64_t begin = timing_ticks();
		uint64_t ticks;
		uint32_t now;

		write_u64(i);
		ticks = timing_ticks() - begin;
		now = tail_page();
		add(now == page ? &plain : &crossing, ticks);
		page = now;
	}
}

/* -------------------------------------------------------------------------------------------------------- output */

static const double parts[] = { 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999 };

#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

static void show(const struct histogram *histogram, double ns_per_tick)
{
	printf("%-30s%10" PRIu64, histogram->name, histogram->n);
	for (unsigned int i = 0; i < NR_PARTS; i++)
		printf("%10.0f", (double)quantile(histogram, parts[i]) * ns_per_tick);
	printf("%10.0f\n", (double)histogram->max * ns_per_tick);
}

int main(void)
{
	double ns_per_tick;

	if (rec_enable("bench:*") < 0 || rec_thread_attach() < 0) {
		fprintf(stderr, "bench_worst: no buffer; is there room in $RECORDER_DIR?\n");
		return 1;
	}
	timing_pin(0);
	ns_per_tick = timing_ns_per_tick();
	block_without();
	block_with();
	forget(&without);
	forget(&plain);
	forget(&crossing);
	for (unsigned int block = 0; block < BLOCKS; block++) {
		block_without();
		block_with();
	}
	printf("%-30s%10s%10s%10s%10s%10s%10s%10s%10s\n", "single events, ns", "n", "50 %", "90 %", "99 %", "99.9 %",
	       "99.99 %", "99.999 %", "max");
	show(&without, ns_per_tick);
	show(&plain, ns_per_tick);
	show(&crossing, ns_per_tick);
	return 0;
}
