/* SPDX-License-Identifier: MIT */
#include "cli/common/about_tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text/event_names.h"

int about_tasks_add(struct about_tasks *tasks, int32_t tid)
{
	/* The room is the power of two that is not less than the number. */
	if (!(tasks->nr & (tasks->nr - 1))) {
		int32_t *tids = realloc(tasks->tids, (tasks->nr ? 2ul * tasks->nr : 1) * sizeof(*tids));

		if (!tids)
			return -ENOMEM;
		tasks->tids = tids;
	}
	tasks->tids[tasks->nr++] = tid;
	return number_map_set(&tasks->by_tid, (uint64_t)tid, 1);
}

int about_tasks_add_unsaved(struct about_tasks *tasks, const struct event_table *table, const char *comm, bool *found)
{
	const struct event_name *names;
	const size_t nr = event_names_unsaved(table, &names);

	for (size_t i = 0; i < nr; i++) {
		if (strcmp(names[i].name, comm) != 0)
			continue;
		*found = true;
		if (about_tasks_add(tasks, names[i].tid))
			return -ENOMEM;
	}
	return 0;
}

int about_tasks_open(struct about_tasks *tasks, const struct event_table *table)
{
	tasks->table = table;
	tasks->fields = calloc(table->nr_events + 1, sizeof(*tasks->fields));
	if (!tasks->fields)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->nr_events; i++) {
		tasks->fields[i][0] = tep_find_field(table->all[i].event, "pid");
		tasks->fields[i][1] = tep_find_field(table->all[i].event, "next_pid");
	}
	return 0;
}

void about_tasks_close(struct about_tasks *tasks)
{
	free(tasks->tids);
	free(tasks->fields);
	number_map_free(&tasks->by_tid);
	*tasks = (struct about_tasks){ 0 };
}

bool about_tasks_has_tid(const struct about_tasks *tasks, int64_t tid)
{
	return number_map_get(&tasks->by_tid, (uint64_t)tid) != 0;
}

bool about_tasks_has(const struct about_tasks *tasks, const void *data, uint32_t size)
{
	const struct event_type *type;

	if (!tasks->nr)
		return false;
	type = event_type(tasks->table, event_id(tasks->table, data, size));
	/* An event that the file does not describe belongs to no task. */
	if (!type)
		return false;
	if (about_tasks_has_tid(tasks, event_pid(tasks->table, data, size)))
		return true;
	for (unsigned int i = 0; i < 2; i++) {
		struct tep_format_field *field = tasks->fields[type - tasks->table->all][i];
		unsigned long long number;

		if (field && (uint32_t)(field->offset + field->size) <= size &&
		    !tep_read_number_field(field, data, &number) && about_tasks_has_tid(tasks, (int64_t)number))
			return true;
	}
	return false;
}
