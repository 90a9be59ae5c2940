/* SPDX-License-Identifier: MIT */
/* How far the kernel's clock was from that of programs: as numbers, and as a text that a trace.dat keeps. */
#ifndef CLI_CLOCK_TEXT_H
#define CLI_CLOCK_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* One CPU. low > high: no offset explains all rounds, so one of the clocks is none. */
struct clock_offset {
	unsigned int cpu;
	unsigned int rounds; /* 0: not measured */
	int64_t low, high;   /* the kernel's clock less the programs', ns */
};

/* What was measured allows for no offset at all. */
static inline bool clock_offset_is_none(const struct clock_offset *offset)
{
	return offset->low <= 0 && offset->high >= 0;
}

/* The offset is no more than this, either way. */
static inline uint64_t clock_offset_bound(const struct clock_offset *offset)
{
	const uint64_t low = (uint64_t)(offset->low < 0 ? -offset->low : offset->low);
	const uint64_t high = (uint64_t)(offset->high < 0 ? -offset->high : offset->high);

	return low > high ? low : high;
}

/* What was found of the same CPU holds, too: both are in the interval then, which is empty if one of them is. */
void clock_offset_join(struct clock_offset *known, const struct clock_offset *found);

/*
 * As it stands in a file, in the string that names its writer: "kernel - programs: CPU 0 -120 to 95 ns in 400 rounds,
 * CPU 1 ...". The text is the caller's to free; NULL: out of memory. Back again: the next CPU at *at, which moves on;
 * false: that was all.
 */
#define CLOCK_OFFSETS_BEGIN "kernel - programs: "
char *clock_offsets_text(const struct clock_offset *offsets, unsigned int nr);
bool clock_offsets_next(const char **at, struct clock_offset *ret_offset);

#endif
