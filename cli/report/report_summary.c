/* SPDX-License-Identifier: MIT */
/*
 * A summary of the selected events: number, rate, bytes, first and last time by event, task, process, CPU and buffer;
 * and the losses. The process of a thread is known from the notes that recordings of programs have in the file, from
 * events task_newtask, and from the names of the buffers of `record --buffers=split`. Any other thread counts as a
 * process.
 */
#include "cli/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/show_text.h"
#include "cli/common/terminal.h"
#include "format/io/number_map.h"

#define CLONE_AS_THREAD 0x10000u
#define NS_PER_S	1000000000u

struct row {
	uint64_t key;
	uint64_t count, bytes, first, last;
	uint64_t lost; /* of a CPU, a buffer, or the file */
	uint64_t gaps; /* losses of unknown number */
};

struct group {
	const char *title;
	struct row *rows;
	size_t nr, room;
	struct number_map places; /* index + 1 of a key */
};

struct summary {
	struct report *r;
	struct group events, tasks, processes, cpus, buffers;
	struct row all;
	struct number_map process_of; /* process + 1 of a thread */
	const struct tep_event *new_task;
	struct tep_format_field *child, *flags;
	int err; /* of count_loss() */
};

/* ------------------------------------------------------------------------------------------------------------- rows */

/* Find or make the row of a key. NULL: no memory. */
static struct row *find_row(struct group *group, uint64_t key)
{
	const uint64_t place = number_map_get(&group->places, key);

	if (place)
		return &group->rows[place - 1];
	if (group->nr == group->room) {
		const size_t room = group->room ? 2 * group->room : 64;
		struct row *rows = realloc(group->rows, room * sizeof(*rows));

		if (!rows)
			return NULL;
		group->rows = rows;
		group->room = room;
	}
	if (number_map_set(&group->places, key, group->nr + 1))
		return NULL;
	group->rows[group->nr] = (struct row){ .key = key };
	return &group->rows[group->nr++];
}

static void add_row(struct row *to, const struct row *from)
{
	if (!to->count || from->first < to->first)
		to->first = from->first;
	if (!to->count || from->last > to->last)
		to->last = from->last;
	to->count += from->count;
	to->bytes += from->bytes;
}

static void lose(struct row *row, const struct dat_event *event)
{
	row->lost += event->lost > 0 ? (uint64_t)event->lost : 0;
	row->gaps += event->lost < 0;
}

static int add_to(struct group *group, uint64_t key, const struct row *one)
{
	struct row *row = find_row(group, key);

	if (!row)
		return -ENOMEM;
	add_row(row, one);
	return 0;
}

static int add_loss(struct group *group, uint64_t key, const struct dat_event *event)
{
	struct row *row = find_row(group, key);

	if (!row)
		return -ENOMEM;
	lose(row, event);
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->key > y->key ? 1 : x->key < y->key ? -1 : 0;
}

static int by_key(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->key > y->key ? 1 : x->key < y->key ? -1 : 0;
}

static void free_group(struct group *group)
{
	free(group->rows);
	number_map_free(&group->places);
}

/* -------------------------------------------------------------------------------------------------------- processes */

static uint32_t process_of(const struct summary *s, uint32_t tid)
{
	const int32_t noted = event_process(s->r->table, (int32_t)tid);
	const uint64_t process = number_map_get(&s->process_of, tid);

	if (noted >= 0)
		return (uint32_t)noted;
	return process ? (uint32_t)(process - 1) : tid;
}

/* The pid in the name of a buffer, NAME-PID; 0: it has another name. */
static uint32_t buffer_process(const struct dat_buffer *buffer)
{
	const char *dash = strrchr(buffer->name, '-');
	unsigned long pid;
	char *end;

	if (!dash || dash[1] < '1' || dash[1] > '9')
		return 0;
	pid = strtoul(dash + 1, &end, 10);
	return *end || pid > INT32_MAX ? 0 : (uint32_t)pid;
}

/* Only program events are in buffers that are named after processes; an instance of the kernel may have such a name. */
static int learn(struct summary *s, const struct dat_event *event, const struct tep_record *record, uint32_t tid)
{
	const int id = event_id(s->r->table, record->data, event->size);
	const uint32_t process = event_is_programs(id) ? buffer_process(event->buffer) : 0;
	unsigned long long child, flags;

	if (process)
		return number_map_set(&s->process_of, tid, (uint64_t)process + 1);
	if (!s->new_task || id != s->new_task->id ||
	    event->size < (uint32_t)(s->child->offset + s->child->size) ||
	    event->size < (uint32_t)(s->flags->offset + s->flags->size))
		return 0;
	if (tep_read_number_field(s->child, record->data, &child) ||
	    tep_read_number_field(s->flags, record->data, &flags) || !(flags & CLONE_AS_THREAD))
		return 0;
	return number_map_set(&s->process_of, (uint32_t)child, (uint64_t)process_of(s, tid) + 1);
}

static void find_new_task(struct summary *s)
{
	struct tep_event *event = tep_find_event_by_name(s->r->table->tep, "task", "task_newtask");

	s->child = event ? tep_find_field(event, "pid") : NULL;
	s->flags = event ? tep_find_field(event, "clone_flags") : NULL;
	if (s->child && s->flags)
		s->new_task = event;
}

/* --------------------------------------------------------------------------------------------------------- counting */

static int count_event(struct summary *s, const struct dat_event *event, const struct tep_record *record)
{
	const struct event_table *table = s->r->table;
	const uint32_t tid = (uint32_t)event_pid(table, record->data, event->size);
	const uint32_t id = (uint32_t)event_id(table, record->data, event->size);
	const struct row one = {
		.count = 1, .bytes = event->size, .first = event->ts, .last = event->ts,
	};
	int err = add_to(&s->events, id, &one);

	add_row(&s->all, &one);
	if (!err)
		err = add_to(&s->tasks, tid, &one);
	if (!err)
		err = add_to(&s->cpus, event->cpu, &one);
	if (!err)
		err = add_to(&s->buffers, (uint64_t)(event->buffer - s->r->file->buffers), &one);
	return err ? err : learn(s, event, record, tid);
}

/* A CPU or buffer without selected events has a row, too, if it has losses. */
static void count_loss(void *arg, const struct dat_event *event)
{
	struct summary *s = arg;

	lose(&s->all, event);
	if (!s->err)
		s->err = add_loss(&s->cpus, event->cpu, event);
	if (!s->err)
		s->err = add_loss(&s->buffers, (uint64_t)(event->buffer - s->r->file->buffers), event);
}

static int count(struct summary *s)
{
	struct report *r = s->r;
	struct tep_record record;
	struct report_walk walk;
	struct dat_event event;
	int err = 0, status = report_walk_open(r, false, &walk);

	if (status)
		return status;
	walk.loss = count_loss;
	walk.loss_arg = s;
	while (!err && report_walk_next(&walk, &event, &record))
		err = count_event(s, &event, &record);
	err = err ? err : s->err;
	for (size_t i = 0; !err && i < s->tasks.nr; i++)
		err = add_to(&s->processes, process_of(s, (uint32_t)s->tasks.rows[i].key), &s->tasks.rows[i]);
	status = err ? report_fail_memory(r) : report_damage(r, walk.merge);
	report_walk_close(&walk);
	return status;
}

/* --------------------------------------------------------------------------------------------------------- printing */

static void time_text(const struct report *r, uint64_t ts, char text[40])
{
	const uint64_t us = (ts + 500) / 1000;

	if (!r->time.seconds)
		snprintf(text, 40, "%" PRIu64, ts);
	else if (r->print.full_ts)
		snprintf(text, 40, "%" PRIu64 ".%09" PRIu64, ts / NS_PER_S, ts % NS_PER_S);
	else
		snprintf(text, 40, "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
}

static void lost_text(const struct row *row, char text[40])
{
	snprintf(text, 40, "%s%" PRIu64, row->gaps ? ">" : "", row->lost);
}

static void print_row(const struct summary *s, const struct row *row, const char *name, bool loses)
{
	const uint64_t span = s->all.last - s->all.first;
	char rate[40] = "-", first[40] = "-", last[40] = "-", lost[40];

	if (s->r->time.seconds && span)
		snprintf(rate, sizeof(rate), "%.1f", (double)row->count * NS_PER_S / (double)span);
	if (row->count) {
		time_text(s->r, row->first, first);
		time_text(s->r, row->last, last);
	}
	lost_text(row, lost);
	printf("%12" PRIu64 " %12s %14" PRIu64 " %18s %18s", row->count, rate, row->bytes, first, last);
	printf(loses ? " %10s  " : "  ", lost);
	show_text(stdout, name, strlen(name), !s->r->lines.escapes);
	putchar('\n');
}

static void print_head(const struct group *group, bool loses)
{
	printf("\n%s%12s %12s %14s %18s %18s", paint(PAINT_TITLE), "count", "rate/s", "bytes", "first", "last");
	printf(loses ? " %10s  " : "  ", "lost");
	printf("%s%s\n", group->title, paint_end());
}

static void name_of(const struct summary *s, const struct group *group, uint64_t key, char *name, size_t size)
{
	const struct event_table *table = s->r->table;
	const struct event_type *type = group == &s->events ? event_type(table, (int)(uint32_t)key) : NULL;
	const struct dat_buffer *buffers = s->r->file->buffers;

	if (group == &s->events && !type)
		snprintf(name, size, "[no format] id %d", (int)(uint32_t)key);
	else if (group == &s->events)
		snprintf(name, size, "%s:%s", type->event->system, type->event->name);
	else if (group == &s->cpus)
		snprintf(name, size, "%" PRIu64, key);
	else if (group == &s->buffers)
		snprintf(name, size, "%s", buffers[key].name[0] ? buffers[key].name : "top");
	else
		snprintf(name, size, "%s-%d", event_comm_shown(table, (int)(uint32_t)key), (int)(uint32_t)key);
}

static bool print_group(struct summary *s, struct group *group, int (*order)(const void *, const void *))
{
	/* A loss counts for its CPU and buffer, not for the event after it. */
	const bool loses = group == &s->cpus || group == &s->buffers;
	char name[512];

	if (group->nr)
		qsort(group->rows, group->nr, sizeof(*group->rows), order);
	print_head(group, loses);
	for (size_t i = 0; i < group->nr; i++) {
		name_of(s, group, group->rows[i].key, name, sizeof(name));
		print_row(s, &group->rows[i], name, loses);
		if (!report_written(s->r))
			return false;
	}
	return true;
}

static size_t cpus_with_events(const struct summary *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->cpus.nr; i++)
		nr += s->cpus.rows[i].count > 0;
	return nr;
}

static void print_all(struct summary *s)
{
	char lost[40];

	lost_text(&s->all, lost);
	printf("%" PRIu64 " events, %" PRIu64 " bytes, %zu tasks, %zu CPUs; %s lost%s\n", s->all.count, s->all.bytes,
	       s->tasks.nr, cpus_with_events(s), lost,
	       s->all.gaps ? " (the file does not state the number of some losses)" : "");
	if (!report_written(s->r) || !s->all.count)
		return;
	if (print_group(s, &s->events, by_count) && print_group(s, &s->tasks, by_count) &&
	    print_group(s, &s->processes, by_count) && print_group(s, &s->cpus, by_key) && s->r->file->nr_buffers > 1)
		print_group(s, &s->buffers, by_key);
}

int report_summary(struct report *r)
{
	struct summary s = {
		.r = r,
		.events = { .title = "event" },
		.tasks = { .title = "task" },
		.processes = { .title = "process" },
		.cpus = { .title = "CPU" },
		.buffers = { .title = "buffer" },
	};
	int status;

	find_new_task(&s);
	status = count(&s);
	print_all(&s);
	free_group(&s.events);
	free_group(&s.tasks);
	free_group(&s.processes);
	free_group(&s.cpus);
	free_group(&s.buffers);
	number_map_free(&s.process_of);
	return status;
}
