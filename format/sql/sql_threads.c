/* SPDX-License-Identifier: MIT */
/* The tables of threads, processes, clocks and losses. */
#include "format/dat/dat_notes.h"
#include "format/sql/sql_model.h"

#include <errno.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------- threads and processes */

struct span_of_events {
	int32_t id; /* id of a thread or process */
	uint64_t first, last;
	uint64_t events;
	uint64_t threads;
};

/* `places` maps an id to its index in `list` plus one. */
struct census {
	struct number_map places;
	struct span_of_events *list;
	size_t nr, room;
};

static void census_close(struct census *census)
{
	number_map_free(&census->places);
	free(census->list);
}

/* Adds 1 to a place, because the map cannot store the value 0. */
static struct span_of_events *census_of(struct census *census, int32_t id, uint64_t ts)
{
	uint64_t place = number_map_get(&census->places, (uint64_t)(uint32_t)id);

	if (!place) {
		if (census->nr == census->room) {
			const size_t room = census->room ? 2 * census->room : 64;
			struct span_of_events *more = reallocarray(census->list, room, sizeof(*more));

			if (!more)
				return NULL;
			census->list = more;
			census->room = room;
		}
		place = census->nr + 1;
		if (number_map_set(&census->places, (uint64_t)(uint32_t)id, place))
			return NULL;
		census->list[census->nr++] = (struct span_of_events){ .id = id, .first = ts };
	}
	return &census->list[place - 1];
}

static int count_threads(struct sql_trace *trace, struct census *threads)
{
	struct dat_merge *merge;
	struct dat_event event;
	int err = 0;

	if (dat_merge_open(trace->file, &trace->time, NULL, NULL, &merge))
		return -ENOMEM;
	while (!err && dat_merge_next(merge, &event)) {
		struct span_of_events *thread =
			census_of(threads, event_pid(trace->table, event.data, event.size), event.ts);

		err = !thread ? -ENOMEM : sql_pass_ends(trace) ? -EINTR : 0;
		if (err)
			continue;
		thread->last = event.ts;
		thread->events++;
	}
	dat_merge_close(merge);
	return err;
}

int sql_collect_threads(struct sql_trace *trace, struct sql_cells *cells)
{
	struct sql_row row = { .trace = trace, .cells = cells };
	struct census threads = { 0 };
	int err = count_threads(trace, &threads);

	for (size_t i = 0; !err && i < threads.nr; i++) {
		const struct span_of_events *thread = &threads.list[i];

		sql_row_thread(&row, thread->id);
		sql_row_int(&row, (int64_t)thread->first);
		sql_row_int(&row, (int64_t)thread->last);
		sql_row_int(&row, (int64_t)thread->events);
		err = sql_row_end(&row);
	}
	census_close(&threads);
	return err;
}

/* Count the processes. Threads whose process the file does not state belong to none. */
static int count_processes(struct sql_trace *trace, const struct census *threads, struct census *processes)
{
	for (size_t i = 0; i < threads->nr; i++) {
		const struct span_of_events *thread = &threads->list[i];
		const struct sql_value pid = sql_trace_process(trace, thread->id);
		struct span_of_events *process;

		if (pid.kind != SQL_INT)
			continue;
		process = census_of(processes, (int32_t)pid.number, thread->first);
		if (!process)
			return -ENOMEM;
		process->first = thread->first < process->first ? thread->first : process->first;
		process->last = thread->last > process->last ? thread->last : process->last;
		process->events += thread->events;
		process->threads++;
	}
	return 0;
}

int sql_collect_processes(struct sql_trace *trace, struct sql_cells *cells)
{
	struct sql_row row = { .trace = trace, .cells = cells };
	struct census threads = { 0 }, processes = { 0 };
	int err = count_threads(trace, &threads);

	if (!err)
		err = count_processes(trace, &threads, &processes);
	for (size_t i = 0; !err && i < processes.nr; i++) {
		const struct span_of_events *process = &processes.list[i];

		sql_row_int(&row, process->id);
		sql_row_comm(&row, process->id);
		sql_row_int(&row, (int64_t)process->threads);
		sql_row_int(&row, (int64_t)process->first);
		sql_row_int(&row, (int64_t)process->last);
		sql_row_int(&row, (int64_t)process->events);
		err = sql_row_end(&row);
	}
	census_close(&threads);
	census_close(&processes);
	return err;
}

/* ----------------------------------------------------------------------------------------------------------- clocks */

static int add_clock(struct sql_row *row, const struct clock_offset *offset, const char *name, uint64_t error)
{
	sql_row_int_if(row, offset, offset ? offset->cpu : 0);
	sql_row_text(row, name);
	sql_row_int_if(row, offset, offset ? offset->low : 0);
	sql_row_int_if(row, offset, offset ? offset->high : 0);
	sql_row_int_if(row, offset, offset ? offset->rounds : 0);
	sql_row_int_if(row, error != DAT_TIME_ERROR_UNKNOWN, (int64_t)error);
	return sql_row_end(row);
}

/* A row for each CPU whose kernel clock was compared with the programs'; otherwise one row for the file. */
int sql_collect_clocks(struct sql_trace *trace, struct sql_cells *cells)
{
	struct sql_row row = { .trace = trace, .cells = cells };
	struct clock_offset offset;
	struct dat_notes notes;
	char name[64];
	const char *clock = dat_clock_name(trace->file, name, sizeof(name)) ? name : NULL;
	int err = 0;

	dat_notes_of(trace->file, &notes);
	if (!notes.offsets)
		return add_clock(&row, NULL, clock, notes.time_error);
	while (!err && clock_offsets_next(&notes.offsets, &offset))
		err = add_clock(&row, &offset, clock, notes.time_error);
	return err;
}

/* ----------------------------------------------------------------------------------------------------------- losses */

static int add_loss(void *arg, const struct model_loss *loss)
{
	struct sql_row *row = arg;

	sql_row_int(row, (int64_t)loss->ts);
	sql_row_int(row, loss->cpu);
	sql_row_text(row, loss->buffer->name);
	sql_row_int_if(row, loss->lost != DAT_PAGE_LOST_UNKNOWN, loss->lost);
	return sql_row_end(row);
}

int sql_collect_losses(struct sql_trace *trace, struct sql_cells *cells)
{
	struct model_sink sink = { .loss = add_loss };

	return sql_model_run(trace, cells, &sink);
}
