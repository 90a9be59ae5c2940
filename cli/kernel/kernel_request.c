/* SPDX-License-Identifier: MIT */
#include "cli/kernel/kernel_request.h"

#include <stdlib.h>

#include "cli/kernel/kernel_triggers.h"

bool kernel_request_is_any(const struct kernel_request *request)
{
	return request->nr_events || request->tracer;
}

bool kernel_request_has_triggers(const struct kernel_request *request)
{
	for (unsigned int i = 0; i < request->nr_events; i++)
		if (request->events[i].nr_triggers)
			return true;
	return false;
}

bool kernel_request_sets_clock(const struct kernel_request *request)
{
	for (unsigned int i = 0; i < request->nr_events; i++)
		for (unsigned int j = 0; j < request->events[i].nr_triggers; j++)
			if (kernel_trigger_sets_clock(request->events[i].triggers[j]))
				return true;
	return false;
}

void kernel_request_free(struct kernel_request *request)
{
	for (unsigned int i = 0; i < request->nr_events; i++) {
		free(request->events[i].filter);
		free(request->events[i].triggers);
	}
	free(request->events);
	free(request->tids);
	free(request->functions);
	free(request->options);
	*request = (struct kernel_request){ .nr_events = 0 };
}
