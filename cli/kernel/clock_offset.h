/* SPDX-License-Identifier: MIT */
/*
 * The difference of the kernel's clock from that of programs, measured on each CPU. The kernel stamps a write to
 * trace_marker between two readings of the programs' clock. So the difference lies between (its stamp minus the second
 * reading) and (its stamp minus the first). The intervals of all rounds on a CPU are intersected.
 *
 * This uses a separate tracefs instance, which exists from open to close.
 */
#ifndef CLI_CLOCK_OFFSET_H
#define CLI_CLOCK_OFFSET_H

#include "cli/base/message.h"
#include "format/dat/dat_notes.h"

struct clock_probe;

/*
 * Make the instance. kernel_clock: a word of trace_clock, which must outlive the probe; NULL: the clock that a
 * recording uses. x86-tsc is compared with the TSC, everything else with CLOCK_MONOTONIC. 0; or -errno, and one line
 * was printed.
 */
int clock_probe_open(const struct message_sink *sink, const char *kernel_clock, struct clock_probe **ret_probe);

/* False: one line was printed. Takes NULL. */
bool clock_probe_close(const struct message_sink *sink, struct clock_probe *probe);

/*
 * Measure on one CPU, or (CLOCK_ALL_CPUS) on all that this thread may use, one after the other. Later measurements are
 * combined with earlier ones. 0; or -errno, and nothing was printed: -ENXIO, this thread cannot use the CPU; -EPROTO,
 * the event that was read back was not ours.
 */
#define CLOCK_ALL_CPUS UINT32_MAX
int clock_probe_measure(struct clock_probe *probe, uint32_t cpu, unsigned int rounds);

/* The results, CPUs ascending; they belong to the probe. */
const struct clock_offset *clock_probe_offsets(const struct clock_probe *probe, unsigned int *ret_nr);

/*
 * The name of the kernel's clock; and the maximum distance of the programs' clock from CLOCK_MONOTONIC in ns, according
 * to anchors: 0 if the programs' clock is CLOCK_MONOTONIC.
 */
const char *clock_probe_name(const struct clock_probe *probe);
uint64_t clock_probe_error(const struct clock_probe *probe);

#endif
