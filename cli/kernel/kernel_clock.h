/* SPDX-License-Identifier: MIT */
/* The names in trace_clock of the kernel's clocks that programs can use, too. */
#ifndef CLI_KERNEL_CLOCK_H
#define CLI_KERNEL_CLOCK_H

#include <librecorder/clock.h>
#include <stdbool.h>
#include <string.h>

static inline bool kernel_clock_is_tsc(const char *name)
{
	return !strcmp(name, "x86-tsc");
}

static inline bool kernel_clock_is_shared(const char *name)
{
	return kernel_clock_is_tsc(name) || !strcmp(name, "mono");
}

/* The clock of programs that matches a clock of the kernel: the TSC for x86-tsc, otherwise CLOCK_MONOTONIC. */
static inline uint32_t kernel_clock_program(const char *name)
{
	return kernel_clock_is_tsc(name) ? REC_CLOCK_TSC : REC_CLOCK_MONO;
}

#endif
