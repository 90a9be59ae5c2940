/* SPDX-License-Identifier: MIT */
/*
 * All settings of a recording's instance except the events: sizes, clock, CPUs, options, processes, tracer and
 * functions.
 */
#ifndef CLI_KERNEL_SETTINGS_H
#define CLI_KERNEL_SETTINGS_H

#include "cli/base/message.h"
#include "cli/kernel/kernel_instance.h"
#include "cli/kernel/kernel_request.h"

/*
 * Write the requested settings, and the clock. `changed` has room for each option (-O), and is false before. 0; or
 * -errno, and one line was printed.
 */
int kernel_settings_set(const struct message_sink *sink, const struct instance *instance,
			const struct kernel_request *request, bool *changed);

/*
 * Set the options back that have changed, before the instance is removed: before Linux 6.19 a tracer has one set of
 * options for all instances.
 */
void kernel_settings_undo(const struct instance *instance, const struct kernel_request *request, const bool *changed);

/*
 * A new instance has the options of the top level, which other users may have set. Give the options that change what
 * is recorded the values that they have after boot. 0; or -errno, and one line was printed.
 */
int kernel_settings_clear_options(const struct message_sink *sink, const struct instance *instance);

/* The requested clock; by default the one that stamps programs' events, if the kernel has it, too. */
const char *kernel_settings_clock(const struct instance *instance, const struct kernel_request *request);

/* Whether there is such a clock. False: one line was printed, with the existing clocks. */
bool kernel_settings_has_clock(const struct message_sink *sink, const struct instance *instance, const char *clock);

/*
 * Record these threads. Pass all at once, because each call takes the kernel some tens of milliseconds. 0 or -errno,
 * nothing printed.
 */
int kernel_settings_add_tids(const struct instance *instance, const struct kernel_request *request, const pid_t *tids,
			     unsigned int nr);

/* Whether the instance can limit the depth of its function graph. */
bool kernel_settings_has_depth(const struct instance *instance);

/* The list of the CPUs that are online, "0-3,5"; "": it cannot be read. */
void kernel_cpus_online(char *text, size_t size);

/* Whether a CPU is in a mask of kernel_settings_set(); NULL contains all CPUs. */
bool kernel_mask_has(const char *mask, unsigned int cpu);

#endif
