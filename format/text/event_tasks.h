/* SPDX-License-Identifier: MIT */
/*
 * The names of the threads of a file, as they are printed at the beginning of each line: looked up in libtraceevent
 * once for each thread. Some events name further threads. When libtraceevent's plugins print them, they add these names
 * to libtraceevent's, and so do we; the first name of a thread is kept. So in the lines before that event the thread
 * has no name, as in trace-cmd. Everything except these lines, also the lines of spans, has the names of event_names.h.
 */
#ifndef FORMAT_EVENT_TASKS_H
#define FORMAT_EVENT_TASKS_H

#include <stdbool.h>
#include <stddef.h>

#include <event-parse.h>

/* Does not change, and is valid as long as the table. */
struct event_task {
	int pid;
	bool is_known;
	unsigned int asked; /* the generation when the name was looked up */
	unsigned int size;
	struct event_task *retired;
	char text[]; /* "            name-123  " */
};

struct event_tasks {
	struct tep_handle *tep;
	struct event_task **slots; /* by pid */
	size_t room, nr;
	struct event_task *retired; /* names that were replaced, because lines may still use them */
	unsigned int generation;
};

void event_tasks_open(struct event_tasks *ret_tasks, struct tep_handle *tep);
void event_tasks_close(struct event_tasks *tasks);

/* NULL: not enough memory. */
const struct event_task *event_tasks_find(struct event_tasks *tasks, int pid);

/* A record names this thread. 0; -ENOMEM. */
int event_tasks_name(struct event_tasks *tasks, int pid, const char *name, size_t size);

/* libtraceevent may have got further names: from now on, look up again those that it did not have. */
static inline void event_tasks_refresh(struct event_tasks *tasks)
{
	tasks->generation++;
}

#endif
