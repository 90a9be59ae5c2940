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
#include "cli/kernel/kernel_request.h"

struct kernel_name {
	const char *system, *event;
	bool on;
};

struct kernel_events {
	char *text; /* the names are in it */
	struct kernel_name *names; /* system by system */
	unsigned int nr;
};

/*
 * Switch on in the instance what was requested. 0; or -errno, and one line was printed. The caller frees it in any
 * case.
 */
int kernel_events_set(const struct message_sink *sink, const struct instance *instance,
		      const struct kernel_request *request, struct kernel_events *events);
void kernel_events_free(struct kernel_events *events);

/* Whether one of a system's events is on, or may be switched on by a trigger. */
bool kernel_events_has_system(const struct kernel_events *events, const struct kernel_request *request,
			      const char *system);

#endif
