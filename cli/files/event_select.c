/* SPDX-License-Identifier: MIT */
/* See event_select.h. Formats are parsed only if events or threads are selected. */
#include "cli/files/event_select.h"

#include <errno.h>
#include <librecorder/pattern.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_lines.h"

#define IDS	 65536u
#define CPUS_MAX (1u << 20)

/* -------------------------------------------------------------------------------------------------------- lists */

static bool read_number(const char **text, unsigned long max, unsigned long *ret_number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*ret_number = strtoul(*text, &end, 10);
	*text = end;
	return !errno && *ret_number <= max;
}

static bool want_cpus(struct event_select *select, unsigned long first, unsigned long last)
{
	bool *wanted;

	if (last >= select->nr_cpus) {
		wanted = realloc(select->wanted_cpus, last + 1);
		if (!wanted)
			return false;
		memset(wanted + select->nr_cpus, 0, last + 1 - select->nr_cpus);
		select->wanted_cpus = wanted;
		select->nr_cpus = (uint32_t)last + 1;
	}
	memset(select->wanted_cpus + first, true, last - first + 1);
	return true;
}

/* Read the list of CPUs, "0,2-5". */
static bool read_cpus(struct event_select *select)
{
	const char *at = select->cpus;
	unsigned long first, last;

	while (read_number(&at, CPUS_MAX - 1, &first)) {
		last = first;
		if (*at == '-') {
			at++;
			if (!read_number(&at, CPUS_MAX - 1, &last) || last < first)
				return false;
		}
		if (!want_cpus(select, first, last))
			return false;
		if (!*at)
			return true;
		if (*at++ != ',')
			return false;
	}
	return false;
}

/* Read a list of threads, "12,13". */
static bool read_pids(struct event_select *select, const char *list)
{
	unsigned long pid;

	while (read_number(&list, INT32_MAX, &pid)) {
		if (about_tasks_add(&select->tasks, (int32_t)pid))
			return false;
		if (!*list)
			return true;
		if (*list++ != ',')
			return false;
	}
	return false;
}

bool event_select_check(struct event_select *select, const char *command)
{
	if (select->patterns && rec_pattern_check(select->patterns)) {
		complain(command, "'%s' is not a pattern of events", select->patterns);
		return false;
	}
	if (select->cpus && !read_cpus(select)) {
		complain(command, "'%s' is not a list of CPUs such as 0,2-5", select->cpus);
		return false;
	}
	for (unsigned int i = 0; i < select->pids.nr; i++) {
		if (!read_pids(select, select->pids.items[i])) {
			complain(command, "'%s' is not a list of threads such as 12,13", select->pids.items[i]);
			return false;
		}
	}
	return true;
}

/* ----------------------------------------------------------------------------------------------------- of a file */

/* Select the threads whose saved name is this one. */
static int find_saved(struct event_select *select, const struct dat_file *file, const char *comm, bool *found)
{
	const char *at = file->cmdlines.text;
	const size_t length = strlen(comm);

	while (at && *at) {
		const size_t size = strcspn(at, "\n");
		const char *name;
		uint64_t pid;

		if (dat_line_thread(at, size, &pid, &name) && (size_t)(at + size - name) == length &&
		    !memcmp(name, comm, length)) {
			*found = true;
			if (about_tasks_add(&select->tasks, (int32_t)pid))
				return -ENOMEM;
		}
		at += size + (at[size] == '\n');
	}
	return 0;
}

/* Select the threads that have this name in the file. */
static int find_comm(struct event_select *select, const char *command, const struct dat_file *file, const char *comm)
{
	bool found = false;
	int err = find_saved(select, file, comm, &found);

	if (!err && !(found && event_names_are_saved(select->table)))
		err = about_tasks_add_unsaved(&select->tasks, select->table, comm, &found);
	if (err || found)
		return err;
	complain(command, "no thread of the file is called '%s'", comm);
	return -ENOENT;
}

static int find_events(struct event_select *select, const char *command)
{
	bool found = false;

	select->ids = calloc(IDS, sizeof(*select->ids));
	if (!select->ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < select->table->nr_events; i++) {
		const struct event_type *type = event_type_at(select->table, i);
		const struct tep_event *event = type ? type->event : NULL;

		if (!event)
			continue;
		select->ids[event->id] = rec_pattern_match(select->patterns, event->system, strlen(event->system),
							   event->name, strlen(event->name));
		found = found || select->ids[event->id];
	}
	if (found)
		return 0;
	complain(command, "no event of the file matches '%s'", select->patterns);
	return -ENOENT;
}

static int find_cpus(const struct event_select *select, const char *command, const struct dat_file *file)
{
	for (size_t i = 0; i < file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &file->buffers[i];

		for (uint32_t s = 0; s < buffer->nr_streams; s++) {
			if (event_select_has_cpu(select, buffer, buffer->streams[s].cpu))
				return 0;
		}
	}
	complain(command, "the file has none of the CPUs '%s'", select->cpus);
	return -ENOENT;
}

int event_select_open(struct event_select *select, const char *command, const struct dat_file *file)
{
	int err = select->cpus ? find_cpus(select, command, file) : 0;

	if (!err && (select->patterns || select->pids.nr || select->comms.nr))
		err = event_table_open(file, EVENT_NO_PLUGINS | EVENT_FUNCTIONS_LATER | EVENT_NAMES, &select->table);
	if (!err && select->patterns)
		err = find_events(select, command);
	for (unsigned int i = 0; i < select->comms.nr && !err; i++)
		err = find_comm(select, command, file, select->comms.items[i]);
	return err || !select->tasks.nr ? err : about_tasks_open(&select->tasks, select->table);
}

void event_select_close(struct event_select *select)
{
	about_tasks_close(&select->tasks);
	event_table_close(select->table);
	free(select->ids);
	free(select->wanted_cpus);
	opt_list_free(&select->pids);
	opt_list_free(&select->comms);
}

bool event_select_has_threads(const struct event_select *select)
{
	return select->pids.nr || select->comms.nr;
}

bool event_select_has_cpu(const void *arg, const struct dat_buffer *buffer, uint32_t cpu)
{
	const struct event_select *select = arg;

	(void)buffer;
	return !select->cpus || (cpu < select->nr_cpus && select->wanted_cpus[cpu]);
}

bool event_select_has(const struct event_select *select, const struct dat_event *event)
{
	int id;

	if (select->ids) {
		id = event_id(select->table, event->data, event->size);
		if (id < 0 || id >= (int)IDS || !select->ids[id])
			return false;
	}
	return !event_select_has_threads(select) ||
	       about_tasks_has_tid(&select->tasks, event_pid(select->table, event->data, event->size)) ||
	       about_tasks_has(&select->tasks, event->data, event->size);
}
