/* SPDX-License-Identifier: MIT */
#include "cli/record/kernel_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool out_of_memory(const char *command)
{
	complain(command, "out of memory");
	return false;
}

static struct kernel_event *last_event(struct kernel_request *request)
{
	return request->nr_events ? &request->events[request->nr_events - 1] : NULL;
}

static bool add_event(const char *command, struct kernel_request *request, const char *pattern, bool excluded)
{
	struct kernel_event *events = realloc(request->events, (request->nr_events + 1) * sizeof(*events));

	if (!events)
		return out_of_memory(command);
	request->events = events;
	events[request->nr_events++] = (struct kernel_event){ .pattern = pattern, .excluded = excluded };
	return true;
}

static bool add_filter(const char *command, struct kernel_event *event, const char *filter)
{
	char *joined = NULL;

	if (event->excluded) {
		complain(command, "a filter (-f) needs an event that is recorded, not '%s' after -v", event->pattern);
		return false;
	}
	if (!event->filter)
		joined = strdup(filter);
	else if (asprintf(&joined, "(%s)&&(%s)", event->filter, filter) < 0)
		joined = NULL;
	if (!joined)
		return out_of_memory(command);
	free(event->filter);
	event->filter = joined;
	return true;
}

static bool add_trigger(const char *command, struct kernel_event *event, const char *trigger)
{
	const char **triggers;

	if (!event) {
		complain(command, "a trigger (-R) needs an -e before it");
		return false;
	}
	triggers = realloc(event->triggers, (event->nr_triggers + 1) * sizeof(*triggers));
	if (!triggers)
		return out_of_memory(command);
	event->triggers = triggers;
	triggers[event->nr_triggers++] = trigger;
	return true;
}

static bool pass_on(const char *command, const struct opt_list *given, unsigned int at, struct opt_list *user)
{
	if (opt_list_add(user, given->opts[at], given->items[at]))
		return true;
	return out_of_memory(command);
}

bool kernel_options_events(const char *command, const struct opt_list *given, struct kernel_request *const *requests,
			   struct opt_list *ret_user)
{
	struct kernel_request *request = *requests;
	struct kernel_event *last = NULL;
	struct opt_list user = { NULL, NULL, 0 };
	bool good = true, excluded = false, filters_kernel = false, waits = false;

	for (unsigned int i = 0; good && i < given->nr; i++) {
		const char letter = given->opts[i]->letter;

		if (letter == 'v') {
			excluded = waits = true;
		} else if (letter == 'e') {
			good = add_event(command, request, given->items[i], excluded);
			last = last_event(request);
			filters_kernel = true;
			waits = false;
		} else if (letter == 'R') {
			good = add_trigger(command, last, given->items[i]);
		} else if (letter == 'f' && filters_kernel) {
			good = add_filter(command, last, given->items[i]);
		} else if (letter == 'B') {
			good = !waits;
			if (waits)
				complain(command,
					 "'-v' needs an -e after it; before a -B it would remove a buffer of the "
					 "kernel, and the recorder removes only its own");
			request = *++requests;
			excluded = waits = false;
		} else {
			good = pass_on(command, given, i, &user);
			filters_kernel = filters_kernel && letter != 'u';
		}
	}
	if (good && waits) {
		complain(command, "'-v' needs an -e after it");
		good = false;
	}
	if (good)
		*ret_user = user;
	else
		opt_list_free(&user);
	return good;
}

/*
 * Options that the kernel accepts for an instance, but that change something for all users of tracing: whether and
 * where it writes the texts of trace_printk(), and whether it notes the names and processes of threads.
 */
static bool is_of_all(const char *option)
{
	static const char *const names[] = { "trace_printk", "trace_printk_dest", "record-cmd", "record-tgid" };

	option += strncmp(option, "no", 2) ? 0 : 2;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(option, names[i]))
			return true;
	return false;
}

bool kernel_options_lists(const char *command, const struct opt_list *functions, const struct opt_list *options,
			  struct kernel_request *request)
{
	request->functions = calloc(functions->nr + 1, sizeof(*request->functions));
	request->options = calloc(options->nr + 1, sizeof(*request->options));
	if (!request->functions || !request->options)
		return out_of_memory(command);
	for (; request->nr_functions < functions->nr; request->nr_functions++)
		request->functions[request->nr_functions] = (struct kernel_function){
			.kind = functions->opts[request->nr_functions]->letter,
			.pattern = functions->items[request->nr_functions],
		};
	for (; request->nr_options < options->nr; request->nr_options++) {
		const char *option = options->items[request->nr_options];

		if (is_of_all(option)) {
			complain(command,
				 "the option '%s' (-O) applies to all users of tracing, not only to a recording",
				 option);
			return false;
		}
		request->options[request->nr_options] = option;
	}
	return true;
}
