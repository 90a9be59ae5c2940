/* SPDX-License-Identifier: MIT */
/*
 * Which events tasks wrote, and which are about tasks: those whose field pid or next_pid is a task's (wake-ups,
 * switches).
 */
#ifndef CLI_ABOUT_TASKS_H
#define CLI_ABOUT_TASKS_H

#include <stdbool.h>

#include "format/io/number_map.h"
#include "format/text/event_parse.h"

/* All zeros: no tasks. */
struct about_tasks {
	const struct event_table *table;
	int32_t *tids;
	unsigned int nr;
	struct number_map by_tid; /* a name may have very many tasks */
	/* By event of the table: the fields pid and next_pid. */
	struct tep_format_field *(*fields)[2];
};

/* 0; -ENOMEM. */
int about_tasks_add(struct about_tasks *tasks, int32_t tid);

/*
 * Add the tasks that have this name, and only in events (event_names.h). *found is set if there is one, and otherwise
 * unchanged. 0; -ENOMEM.
 */
int about_tasks_add_unsaved(struct about_tasks *tasks, const struct event_table *table, const char *comm, bool *found);

/* Call it before about_tasks_has(). 0; -ENOMEM. The table must outlive the tasks. */
int about_tasks_open(struct about_tasks *tasks, const struct event_table *table);
void about_tasks_close(struct about_tasks *tasks);

bool about_tasks_has_tid(const struct about_tasks *tasks, int64_t tid);

/*
 * Whether a record is of one of the tasks, or about one. Without tasks, or if the table does not know the event: false.
 */
bool about_tasks_has(const struct about_tasks *tasks, const void *data, uint32_t size);

#endif
