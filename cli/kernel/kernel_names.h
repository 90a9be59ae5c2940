/* SPDX-License-Identifier: MIT */
/* The names of the kernel's events, and the patterns of -e that select among them. */
#ifndef CLI_KERNEL_NAMES_H
#define CLI_KERNEL_NAMES_H

#include <stdbool.h>

#include "cli/base/message.h"

struct kernel_name {
	const char *system, *event;
	bool on; /* selected */
};

struct kernel_names {
	char *text;		   /* the names are in it */
	struct kernel_name *names; /* system by system */
	unsigned int nr;
};

/* List all events of the kernel, none of them selected. 0 or -errno; the caller frees the list in any case. */
int kernel_names_read(struct kernel_names *list);
void kernel_names_free(struct kernel_names *list);

/* A pattern in its parts: "system:event", or one word that is either. */
struct kernel_pattern {
	char system[128];
	const char *event; /* NULL: the word may be either */
};

/* False: it is too long for any event. "all" stands for all events. The result points into `pattern`. */
bool kernel_pattern_parse(const char *pattern, struct kernel_pattern *ret);
bool kernel_pattern_matches(const struct kernel_pattern *pattern, const struct kernel_name *name);
/* Whether the pattern selects the event's whole system. */
bool kernel_pattern_is_system(const struct kernel_pattern *pattern, const struct kernel_name *name);

/* Print one line: no event matches `wrong`, which was parsed to `pattern`; and the names that may have been meant. */
void kernel_names_say_none(const struct message_sink *sink, const struct kernel_names *list, const char *wrong,
			   const struct kernel_pattern *pattern);

#endif
