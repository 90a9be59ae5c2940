/* SPDX-License-Identifier: MIT */
#include "format/weave/kernel_tasks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_lines.h"

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

#define FIELDS_MAX 64u
#define LINE_SIZE  256u

/* A field of a format. */
struct field {
	char name[32];
	uint32_t offset, size;
};

/* Parse a line such as "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;" */
static bool parse_field(const char *line, struct field *ret_field)
{
	const char *declaration = strstr(line, "field:");
	const char *end = declaration ? strchr(declaration, ';') : NULL;
	const char *name;

	if (!end || sscanf(end, "; offset:%u; size:%u;", &ret_field->offset, &ret_field->size) != 2)
		return false;
	if (end[-1] == ']')
		while (end > declaration && *end != '[')
			end--;
	for (name = end; name > declaration && name[-1] != ' ' && name[-1] != '*' && name[-1] != ':'; name--)
		;
	snprintf(ret_field->name, sizeof(ret_field->name), "%.*s", (int)(end - name), name);
	return true;
}

static const struct field *find_field(const struct field *fields, unsigned int nr, const char *name, uint32_t size)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(fields[i].name, name) && fields[i].size == size)
			return &fields[i];
	return NULL;
}

/* The pid field that belongs to a name field: prev_pid for prev_comm; task_rename has newcomm and pid. NULL: none. */
static const struct field *pid_of(const struct field *fields, unsigned int nr, const struct field *comm)
{
	const size_t prefix = strlen(comm->name) - 4;
	char name[40];

	if (!strcmp(comm->name, "newcomm"))
		return find_field(fields, nr, "pid", sizeof(int32_t));
	snprintf(name, sizeof(name), "%.*spid", (int)prefix, comm->name);
	return find_field(fields, nr, name, sizeof(int32_t));
}

static bool is_comm(const struct field *field)
{
	const size_t length = strlen(field->name);

	return length >= 4 && !strcmp(field->name + length - 4, "comm") && field->size == TASK_NAME_SIZE;
}

void kernel_tasks_format(struct kernel_tasks *tasks, const char *text, size_t size)
{
	struct task_fields found = { .nr = 0 };
	struct field fields[FIELDS_MAX];
	const char *end = text + size;
	unsigned int id = 0;
	unsigned int nr = 0;
	unsigned int i;

	/* Only a few of hundreds of formats name tasks. */
	if (!size || !memmem(text, size, "comm[", 5))
		return;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const size_t length = (size_t)((newline ? newline : end) - text);
		char line[LINE_SIZE];

		snprintf(line, sizeof(line), "%.*s", (int)(length < sizeof(line) ? length : sizeof(line) - 1), text);
		if (!strncmp(line, "print fmt:", 10))
			break;
		if (!strncmp(line, "ID: ", 4))
			id = (unsigned int)strtoul(line + 4, NULL, 10);
		else if (nr < FIELDS_MAX && parse_field(line, &fields[nr]))
			nr++;
		text += length + 1;
	}
	for (i = 0; i < nr && found.nr < 2; i++) {
		const struct field *pid = is_comm(&fields[i]) ? pid_of(fields, nr, &fields[i]) : NULL;

		if (!pid)
			continue;
		found.at[found.nr].pid = pid->offset;
		found.at[found.nr++].comm = fields[i].offset;
	}
	if (!found.nr || !id || id >= REC_EVENT_ID_FIRST || tasks->nr_fields == UINT8_MAX)
		return;
	tasks->fields[tasks->nr_fields++] = found;
	tasks->by_id[id] = (unsigned char)tasks->nr_fields;
}
