/* SPDX-License-Identifier: MIT */
/*
 * Names of threads. A file has a list of saved names. Recorder also saves the names that events state; trace-cmd saves
 * only those that the kernel kept, by default 128. A thread without a saved name has the name in the first event
 * sched_switch, sched_wakeup or sched_wakeup_new that names it. It has this name in the whole trace, also in earlier
 * events, as if the name had been saved. The text of 'recorder report' is that of trace-cmd: see event_tasks.h.
 *
 * A pass over the file reads these events when the first name that is not saved is needed. It does not read a file that
 * is still being written: there, threads have only their saved names.
 */
#ifndef FORMAT_EVENT_NAMES_H
#define FORMAT_EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/dat/dat_read.h"
#include "format/io/number_map.h"

struct event_table;

/* A thread that has no saved name, and its name in an event. Control characters in it are replaced by a ?. */
struct event_name {
	int32_t tid;
	char *name;
};

struct event_names {
	const struct dat_file *file;
	bool has_saved, has_events; /* what `places` has */
	struct number_map places;   /* by thread: place in `all` plus one; or that its name is saved */
	struct event_name *all;	    /* in the order of the events */
	size_t nr, room;
	/* NULL, or called for each event of the pass. If it returns true, the pass ends; the next one begins anew. */
	bool (*ends)(void *arg);
	void *arg;
};

/* event_table_open() calls it for EVENT_NAMES. The file must be open as long as names are needed. 0; -ENOMEM. */
int event_names_open(struct event_table *table, const struct dat_file *file);

/* Takes NULL. Returns NULL. */
struct event_names *event_names_close(struct event_names *names);

/*
 * The name of a thread, or of a process, which is that of its first thread. The first function returns "" if the file
 * has no name, the second one "<...>". A name is valid as long as the table.
 */
const char *event_comm(const struct event_table *table, int32_t tid);
const char *event_comm_shown(const struct event_table *table, int32_t tid);

/* For searches by name: all threads that have names from events. Returns their number. */
size_t event_names_unsaved(const struct event_table *table, const struct event_name **ret_names);

/*
 * Whether recorder wrote the file. Then a search by name that finds saved names needs no event_names_unsaved(), which
 * would read the file. Only after a merge with a file of trace-cmd may it miss threads.
 */
bool event_names_are_saved(const struct event_table *table);

#endif
