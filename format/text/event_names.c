/* SPDX-License-Identifier: MIT */
/* See event_names.h. */
#include "format/text/event_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_lines.h"
#include "format/dat/dat_merge.h"
#include "format/dat/dat_notes.h"
#include "format/io/bytes.h"
#include "format/text/event_field.h"
#include "format/text/event_parse.h"

/* The name that libtraceevent, and the kernel's list of names, have for a thread without one. */
#define UNNAMED "<...>"

/* In event_names.places: the name is in the file's list. */
#define SAVED UINT64_MAX

/* A merged file may have several types of the same name, and so may programs. Further types name no threads. */
#define NAMINGS_MAX 32u

/* A name in events of one type. */
struct naming {
	int id;
	const struct tep_format_field *pid, *comm;
};

struct namings {
	struct naming all[NAMINGS_MAX];
	unsigned int nr;
	bool types[EVENT_NR_IDS]; /* the argument of dat_merge_only() */
};

int event_names_open(struct event_table *table, const struct dat_file *file)
{
	if (file->growth)
		return 0;
	table->names = calloc(1, sizeof(*table->names));
	if (!table->names)
		return -ENOMEM;
	table->names->file = file;
	return 0;
}

/* Removes all names, and the notes about saved ones. */
static void forget(struct event_names *names)
{
	for (size_t i = 0; i < names->nr; i++)
		free(names->all[i].name);
	free(names->all);
	names->all = NULL;
	names->nr = names->room = 0;
	number_map_free(&names->places);
	names->has_saved = false;
}

struct event_names *event_names_close(struct event_names *names)
{
	if (names)
		forget(names);
	free(names);
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------ saved names */

static bool is_unnamed(const char *name, size_t size)
{
	return size == strlen(UNNAMED) && !memcmp(name, UNNAMED, size);
}

/* Note the threads in the list: in the lines that libtraceevent gets, too (event_lists.c). 0; -ENOMEM. */
static int note_saved(struct event_names *names)
{
	const char *line = names->file->cmdlines.text;
	int err = 0;

	while (!err && line && *line) {
		const size_t size = strcspn(line, "\n");
		const char *name;
		uint64_t tid;

		if (!dat_line_thread(line, size, &tid, &name))
			break;
		if (tid <= INT32_MAX && !is_unnamed(name, (size_t)(line + size - name)))
			err = number_map_set(&names->places, tid, SAVED);
		line += size + (line[size] == '\n');
	}
	return err;
}

/* ------------------------------------------------------------------------------------------------------- the events */

static void add_naming(struct namings *namings, struct tep_event *event, const char *pid, const char *comm)
{
	const struct naming naming = { event->id, tep_find_field(event, pid), tep_find_field(event, comm) };

	if (namings->nr == NAMINGS_MAX || !naming.pid || naming.pid->size != 4 ||
	    naming.pid->flags & TEP_FIELD_IS_ARRAY || !naming.comm || !event_field_is_text(naming.comm))
		return;
	namings->all[namings->nr++] = naming;
	namings->types[event->id] = true;
}

static void find_namings(const struct event_table *table, struct namings *namings)
{
	for (uint32_t i = 0; i < table->nr_events; i++) {
		const struct event_type *type = event_type_at(table, i);
		struct tep_event *event = type ? type->event : NULL;

		if (!event || strcmp(event->system, "sched") != 0)
			continue;
		if (!strcmp(event->name, "sched_switch")) {
			add_naming(namings, event, "prev_pid", "prev_comm");
			add_naming(namings, event, "next_pid", "next_comm");
		} else if (!strcmp(event->name, "sched_wakeup") || !strcmp(event->name, "sched_wakeup_new")) {
			add_naming(namings, event, "pid", "comm");
		}
	}
}

/* A copy of a name, which is text of one line. NULL: not enough memory. */
static char *copy_name(const char *text, size_t size)
{
	char *name = strndup(text, size);

	for (size_t i = 0; name && name[i]; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			name[i] = '?';
	return name;
}

/* Add the name of a thread that has none so far. 0; -ENOMEM. */
static int add_name(struct event_names *names, int32_t tid, const char *text, size_t size)
{
	if (names->nr == names->room) {
		const size_t room = names->room ? 2 * names->room : 64;
		struct event_name *more = reallocarray(names->all, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		names->all = more;
		names->room = room;
	}
	names->all[names->nr] = (struct event_name){ tid, copy_name(text, size) };
	if (!names->all[names->nr].name)
		return -ENOMEM;
	names->nr++;
	return number_map_set(&names->places, (uint32_t)tid, names->nr);
}

static int take_name(struct event_names *names, const struct event_table *table, const struct naming *naming,
		     const struct dat_event *event)
{
	const uint32_t pid_at = (uint32_t)naming->pid->offset;
	const char *data = (const char *)event->data;
	uint32_t offset, length;
	int32_t tid;
	size_t size;

	if (event->size < 4 || pid_at > event->size - 4 ||
	    !event_field_place(naming->comm, data, event->size, table->big, &offset, &length))
		return 0;
	tid = (int32_t)bytes_get32(data + pid_at, table->big);
	/* All idle tasks are thread 0. */
	if (tid <= 0 || number_map_get(&names->places, (uint32_t)tid))
		return 0;
	size = strnlen(data + offset, length);
	return !size || is_unnamed(data + offset, size) ? 0 : add_name(names, tid, data + offset, size);
}

static int read_events(struct event_names *names, const struct event_table *table, const struct namings *namings,
		       const struct dat_time *time)
{
	const struct dat_event *event;
	struct dat_merge *merge;
	int err = dat_merge_open(names->file, time, NULL, NULL, &merge);

	if (err)
		return err;
	if (event_ids_lead(table))
		dat_merge_only(merge, namings->types);
	while (!err && (event = dat_merge_take(merge))) {
		const int id = event_id(table, event->data, event->size);

		if (names->ends && names->ends(names->arg))
			err = -EINTR;
		for (unsigned int i = 0; i < namings->nr && !err; i++)
			if (namings->all[i].id == id)
				err = take_name(names, table, &namings->all[i], event);
	}
	dat_merge_close(merge);
	return err;
}

static int read_names(struct event_names *names, const struct event_table *table)
{
	struct namings *namings = calloc(1, sizeof(*namings));
	struct dat_error error;
	struct dat_time time;
	int err;

	if (!namings)
		return -ENOMEM;
	find_namings(table, namings);
	err = namings->nr ? dat_time_open(names->file, 0, &time, &error) : 0;
	if (namings->nr && !err) {
		err = read_events(names, table, namings, &time);
		dat_time_close(&time);
	}
	free(namings);
	return err;
}

/* ------------------------------------------------------------------------------------------------------------ names */

/* Without memory, threads have no names, as functions in event_table_functions(). */
static void need_saved(struct event_names *names)
{
	if (!names->has_saved)
		(void)note_saved(names);
	names->has_saved = true;
}

static void need_events(struct event_names *names, const struct event_table *table)
{
	need_saved(names);
	if (names->has_events)
		return;
	names->has_events = true;
	if (read_names(names, table) == -EINTR) {
		forget(names);
		names->has_events = false;
	}
}

/* NULL: the thread has no name, or a saved one. */
static const char *name_from_events(const struct event_table *table, int32_t tid)
{
	struct event_names *names = table->names;
	uint64_t place;

	if (!names || tid <= 0)
		return NULL;
	need_saved(names);
	place = number_map_get(&names->places, (uint32_t)tid);
	if (!place && !names->has_events) {
		need_events(names, table);
		place = number_map_get(&names->places, (uint32_t)tid);
	}
	return place && place != SAVED ? names->all[place - 1].name : NULL;
}

const char *event_comm_shown(const struct event_table *table, int32_t tid)
{
	const char *name = name_from_events(table, tid);

	if (!name)
		name = tep_data_comm_from_pid(table->tep, tid);
	return name ? name : UNNAMED;
}

const char *event_comm(const struct event_table *table, int32_t tid)
{
	const char *name = event_comm_shown(table, tid);

	return strcmp(name, UNNAMED) != 0 ? name : "";
}

size_t event_names_unsaved(const struct event_table *table, const struct event_name **ret_names)
{
	struct event_names *names = table->names;

	if (names)
		need_events(names, table);
	*ret_names = names ? names->all : NULL;
	return names ? names->nr : 0;
}

bool event_names_are_saved(const struct event_table *table)
{
	struct dat_notes notes;

	return !table->names || dat_notes_of(table->names->file, &notes);
}
