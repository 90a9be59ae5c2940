/* SPDX-License-Identifier: MIT */
/*
 * How far the kernel's clock is from that of programs, measured on each CPU. A write to trace_marker is stamped by
 * the kernel between two readings of the programs' clock, so the kernel's less the programs' lies between (its stamp
 * less the second reading) and (its stamp less the first); all rounds on a CPU together leave the interval common to
 * them.
 *
 * Done in a tracefs instance of its own, which exists from open to close.
 */
#ifndef CLI_CLOCK_OFFSET_H
#define CLI_CLOCK_OFFSET_H

#include "cli/base/message.h"
#include "format/dat/dat_notes.h"

struct clock_probe;

/*
 * Make the instance. kernel_clock: a word of trace_clock, which must outlive the probe; NULL: the one that a
 * recording takes. x86-tsc is compared with the TSC, everything else with CLOCK_MONOTONIC. 0; or -errno, and
 * one line was printed.
 */
int clock_probe_open(const struct message_sink *sink, const char *kernel_clock, struct clock_probe **ret_probe);

/* False: one line was printed. Takes NULL. */
bool clock_probe_close(const struct message_sink *sink, struct clock_probe *probe);

/*
 * Measure on one CPU, or (CLOCK_ALL_CPUS) on all that this thread may use, which it visits one after the other. What
 * was measured before widens: the interval holds all that has been found. 0; or -errno, nothing printed: -EINVAL, no
 * such CPU for this thread; -EPROTO, what came back was not ours.
 */
#define CLOCK_ALL_CPUS UINT32_MAX
int clock_probe_measure(struct clock_probe *probe, uint32_t cpu, unsigned int rounds);

/* What is known, CPUs ascending; the probe's. */
const struct clock_offset *clock_probe_offsets(const struct clock_probe *probe, unsigned int *ret_nr);

/* The kernel's clock; how far programs' is from CLOCK_MONOTONIC at most, in ns, by anchors: 0 if it is that. */
const char *clock_probe_name(const struct clock_probe *probe);
uint64_t clock_probe_error(const struct clock_probe *probe);

#endif
