/* SPDX-License-Identifier: MIT */
/*
 * The kernel's events, and which of them a recording has on. As in trace-cmd, the events of all -e are on except those
 * after -v; a filter or trigger of a whole system applies to its events that have the fields; a later one replaces an
 * earlier one.
 */
#ifndef CLI_KERNEL_EVENTS_H
#define CLI_KERNEL_EVENTS_H

#include "cli/base/message.h"
#include "cli/kernel/kernel_instance.h"
#include "cli/kernel/kernel_names.h"
#include "cli/kernel/kernel_request.h"

/*
 * Set filters, and switch on in the instance what was requested. 0; or -errno, and one line was printed. The caller
 * frees `events` in any case.
 */
int kernel_events_set(const struct message_sink *sink, const struct instance *instance,
		      const struct kernel_request *request, struct kernel_names *events);

/*
 * Then set the triggers, which take effect at once; `clock` is the recording's. 0; or -errno, and one line was printed.
 */
int kernel_events_set_triggers(const struct message_sink *sink, const struct instance *instance,
			       const struct kernel_request *request, struct kernel_names *events, const char *clock);

/* Whether one of a system's events is on, or may be switched on by a trigger. */
bool kernel_events_has_system(const struct kernel_names *events, const struct kernel_request *request,
			      const char *system);

#endif
