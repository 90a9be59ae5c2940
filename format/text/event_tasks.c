/* SPDX-License-Identifier: MIT */
/* See event_tasks.h. A hash table with open addressing; it is at most half full. */
#include "format/text/event_tasks.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/hash.h"

#define ROOM_MIN 256u

/* libtraceevent's name for threads without a name. */
#define UNNAMED "<...>"

void event_tasks_open(struct event_tasks *ret_tasks, struct tep_handle *tep)
{
	*ret_tasks = (struct event_tasks){ .tep = tep };
}

void event_tasks_close(struct event_tasks *tasks)
{
	for (size_t i = 0; i < tasks->room; i++)
		free(tasks->slots[i]);
	for (struct event_task *task = tasks->retired, *next; task; task = next) {
		next = task->retired;
		free(task);
	}
	free(tasks->slots);
	*tasks = (struct event_tasks){ 0 };
}

static struct event_task **slot_of(const struct event_tasks *tasks, int pid)
{
	size_t i = (size_t)hash_number((uint32_t)pid) & (tasks->room - 1);

	while (tasks->slots[i] && tasks->slots[i]->pid != pid)
		i = (i + 1) & (tasks->room - 1);
	return &tasks->slots[i];
}

static int grow(struct event_tasks *tasks)
{
	struct event_tasks grown = *tasks;

	grown.room = tasks->room ? 2 * tasks->room : ROOM_MIN;
	grown.slots = calloc(grown.room, sizeof(struct event_task *));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < tasks->room; i++)
		if (tasks->slots[i])
			*slot_of(&grown, tasks->slots[i]->pid) = tasks->slots[i];
	free(tasks->slots);
	*tasks = grown;
	return 0;
}

/* Whether libtraceevent has got a name for the thread meanwhile. */
static bool has_name(const struct event_tasks *tasks, int pid)
{
	return strcmp(tep_data_comm_from_pid(tasks->tep, pid), UNNAMED) != 0;
}

static struct event_task *ask(const struct event_tasks *tasks, int pid)
{
	const char *name = tep_data_comm_from_pid(tasks->tep, pid);
	const size_t room = strlen(name) + 48;
	struct event_task *task = malloc(sizeof(*task) + room);

	if (!task)
		return NULL;
	*task = (struct event_task){ .pid = pid, .is_known = strcmp(name, UNNAMED) != 0, .asked = tasks->generation };
	task->size = (unsigned int)snprintf(task->text, room, "%16s-%-5d ", name, pid);
	return task;
}

/* Replace a name. The old one is kept, because lines that are not printed yet may use it. */
static const struct event_task *replace(struct event_tasks *tasks, struct event_task **slot)
{
	struct event_task *task = ask(tasks, (*slot)->pid);

	if (!task)
		return NULL;
	(*slot)->retired = tasks->retired;
	tasks->retired = *slot;
	*slot = task;
	return task;
}

const struct event_task *event_tasks_find(struct event_tasks *tasks, int pid)
{
	struct event_task **slot;

	if (tasks->nr >= tasks->room / 2 && grow(tasks))
		return NULL;
	slot = slot_of(tasks, pid);
	if (*slot && ((*slot)->is_known || (*slot)->asked == tasks->generation))
		return *slot;
	if (*slot && has_name(tasks, pid))
		return replace(tasks, slot);
	if (*slot) {
		(*slot)->asked = tasks->generation;
		return *slot;
	}
	*slot = ask(tasks, pid);
	tasks->nr += *slot != NULL;
	return *slot;
}

int event_tasks_name(struct event_tasks *tasks, int pid, const char *name, size_t size)
{
	const struct event_task *task = event_tasks_find(tasks, pid);
	bool is_name;
	char *text;

	if (!task || task->is_known)
		return task ? 0 : -ENOMEM;
	text = strndup(name, size);
	if (!text)
		return -ENOMEM;
	/* The thread would still have no name, and each record would add another copy of this one. */
	is_name = strcmp(text, UNNAMED) != 0;
	if (is_name)
		tep_register_comm(tasks->tep, text, pid);
	free(text);
	return !is_name || replace(tasks, slot_of(tasks, pid)) ? 0 : -ENOMEM;
}
