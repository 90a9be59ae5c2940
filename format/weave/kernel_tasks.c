/* SPDX-License-Identifier: MIT */
#include "format/weave/kernel_tasks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_lines.h"
#include "format/weave/kernel_format.h"

#define FIRST_ROOM 256u

/* The name that saved_cmdlines has for a task that it does not know. */
#define NO_NAME "<...>"

int kernel_tasks_new(struct kernel_tasks **ret_tasks)
{
	struct kernel_tasks *tasks = calloc(1, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	*ret_tasks = tasks;
	return 0;
}

struct kernel_tasks *kernel_tasks_free(struct kernel_tasks *tasks)
{
	if (tasks) {
		number_map_free(&tasks->places);
		free(tasks->tasks);
	}
	free(tasks);
	return NULL;
}

/* -------------------------------------------------------------------------------------------------- the table */

/* The entry of a task, which is made if necessary. NULL: no memory. */
static struct kernel_task *get_task(struct kernel_tasks *tasks, int32_t pid)
{
	const uint64_t place = number_map_get(&tasks->places, (uint32_t)pid);
	struct kernel_task *task;

	if (place)
		return &tasks->tasks[place - 1];
	if (tasks->nr_tasks == tasks->room) {
		const size_t room = tasks->room ? 2 * tasks->room : FIRST_ROOM;
		struct kernel_task *more = realloc(tasks->tasks, room * sizeof(*more));

		if (!more)
			return NULL;
		tasks->tasks = more;
		tasks->room = room;
	}
	if (number_map_set(&tasks->places, (uint32_t)pid, tasks->nr_tasks + 1))
		return NULL;
	task = &tasks->tasks[tasks->nr_tasks++];
	*task = (struct kernel_task){ .pid = pid };
	return task;
}

int kernel_tasks_learn(struct kernel_tasks *tasks, unsigned int id, uint64_t clock, const void *payload, uint32_t size)
{
	const struct task_fields *fields = &tasks->fields[tasks->by_id[id] - 1];
	const unsigned char *bytes = payload;
	struct kernel_task *task;
	unsigned int i;
	int32_t pid;

	for (i = 0; i < fields->nr; i++) {
		/* The text gives the offsets, so they are checked. */
		if ((uint64_t)fields->at[i].pid + sizeof(pid) > size ||
		    (uint64_t)fields->at[i].comm + TASK_NAME_SIZE > size)
			continue;
		memcpy(&pid, bytes + fields->at[i].pid, sizeof(pid));
		/* All idle tasks have pid 0. */
		if (pid <= 0)
			continue;
		task = get_task(tasks, pid);
		if (!task)
			return -ENOMEM;
		if (clock < task->said_at)
			continue;
		task->said_at = clock;
		memcpy(task->from_events, bytes + fields->at[i].comm, TASK_NAME_SIZE);
	}
	return 0;
}

int kernel_tasks_saved(struct kernel_tasks *tasks, const char *text, size_t size)
{
	const char *end = text + size, *stop;

	for (; text < end; text = stop + 1) {
		const char *newline = memchr(text, '\n', (size_t)(end - text)), *name;
		struct kernel_task *task;
		uint64_t pid;

		stop = newline ? newline : end;
		if (!dat_line_thread(text, (size_t)(stop - text), &pid, &name) || !pid || pid > INT32_MAX)
			continue;
		task = get_task(tasks, (int32_t)pid);
		if (!task)
			return -ENOMEM;
		snprintf(task->saved, sizeof(task->saved), "%.*s", (int)(stop - name), name);
	}
	return 0;
}

const char *kernel_task_name(const struct kernel_task *task)
{
	return task->saved[0] && strcmp(task->saved, NO_NAME) ? task->saved : task->from_events;
}

static int by_pid(const void *a, const void *b)
{
	const struct kernel_task *left = a;
	const struct kernel_task *right = b;

	return left->pid < right->pid ? -1 : left->pid > right->pid;
}

int kernel_tasks_sorted(const struct kernel_tasks *tasks, struct kernel_task **ret_tasks, size_t *ret_nr)
{
	struct kernel_task *sorted = calloc(tasks->nr_tasks + 1, sizeof(*sorted));
	size_t i;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < tasks->nr_tasks; i++) {
		sorted[i] = tasks->tasks[i];
		sorted[i].from_events[TASK_NAME_SIZE - 1] = '\0';
	}
	qsort(sorted, tasks->nr_tasks, sizeof(*sorted), by_pid);
	*ret_tasks = sorted;
	*ret_nr = tasks->nr_tasks;
	return 0;
}

/* -------------------------------------------------------------------------------------------------- the formats */

/* The pid field that belongs to a name field: prev_pid for prev_comm; task_rename has newcomm and pid. NULL: none. */
static const struct kernel_field *pid_of(const struct kernel_format *format, const struct kernel_field *comm)
{
	const size_t prefix = strlen(comm->name) - 4;
	char name[40];

	if (!strcmp(comm->name, "newcomm"))
		return kernel_format_field(format, "pid", sizeof(int32_t));
	snprintf(name, sizeof(name), "%.*spid", (int)prefix, comm->name);
	return kernel_format_field(format, name, sizeof(int32_t));
}

static bool is_comm(const struct kernel_field *field)
{
	const size_t length = strlen(field->name);

	return length >= 4 && !strcmp(field->name + length - 4, "comm") && field->size == TASK_NAME_SIZE;
}

void kernel_tasks_format(struct kernel_tasks *tasks, const char *text, size_t size)
{
	struct task_fields found = { .nr = 0 };
	struct kernel_format format;
	unsigned int i;

	/* Only a few of hundreds of formats name tasks. */
	if (!size || !memmem(text, size, "comm[", 5))
		return;
	kernel_format_parse(text, size, &format);
	for (i = 0; i < format.nr && found.nr < 2; i++) {
		const struct kernel_field *comm = &format.fields[i];
		const struct kernel_field *pid = is_comm(comm) ? pid_of(&format, comm) : NULL;

		if (!pid)
			continue;
		found.at[found.nr].pid = pid->offset;
		found.at[found.nr++].comm = comm->offset;
	}
	if (!found.nr || !format.id || format.id >= REC_EVENT_ID_FIRST || tasks->nr_fields == UINT8_MAX)
		return;
	tasks->fields[tasks->nr_fields++] = found;
	tasks->by_id[format.id] = (unsigned char)tasks->nr_fields;
}
