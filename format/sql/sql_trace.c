/* SPDX-License-Identifier: MIT */
/* See sql_trace.h. */
#include "format/sql/sql_trace.h"

#include "format/dat/dat_compress.h"
#include "format/sql/sql_field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a file for each event, an estimate for the query planner: for small events, uncompressed and compressed. */
#define BYTES_AN_EVENT	       32.0
#define BYTES_AN_EVENT_SMALLER 4.0

static double estimate_rows(const struct dat_file *file)
{
	double rows = 16;

	for (size_t i = 0; i < file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &file->buffers[i];

		for (uint32_t c = 0; c < buffer->nr_streams; c++)
			rows += (double)buffer->streams[c].size /
				(buffer->compressed ? BYTES_AN_EVENT_SMALLER : BYTES_AN_EVENT);
	}
	return rows;
}

static bool pass_ends(void *arg)
{
	return sql_pass_ends(arg);
}

static int open_parts(struct sql_trace *t, const char *path, struct dat_error *error)
{
	int err;

	t->path = strdup(path);
	t->names = calloc(EVENT_NR_IDS, sizeof(*t->names));
	t->room = malloc(SQL_FIELD_ROOM);
	if (!t->path || !t->names || !t->room)
		return -ENOMEM;
	err = dat_open_rest(path, dat_compress_zstd(), &t->file, error);
	if (!err)
		err = dat_check_events(t->file, error);
	if (!err)
		err = dat_time_open(t->file, 0, &t->time, error);
	if (err)
		return err;
	err = event_table_open(t->file, EVENT_FUNCTIONS_LATER | EVENT_NAMES, &t->table);
	if (!err && t->table->names) {
		t->table->names->ends = pass_ends;
		t->table->names->arg = t;
	}
	if (!err)
		err = model_rules_open(t->table, &t->rules);
	if (!err)
		t->rows = estimate_rows(t->file);
	return err;
}

int sql_trace_open(sqlite3 *db, const char *path, struct sql_trace **ret_trace, struct dat_error *ret_error)
{
	struct sql_trace *t = calloc(1, sizeof(*t));
	int err;

	*ret_error = (struct dat_error){ 0 };
	err = t ? open_parts(t, path, ret_error) : -ENOMEM;
	if (err) {
		if (!ret_error->text[0])
			snprintf(ret_error->text, sizeof(ret_error->text), "%s", strerror(-err));
		if (t)
			t->nr_users = 1;
		sql_trace_close(t);
		return err;
	}
	t->nr_users = 1;
	t->db = db;
	*ret_trace = t;
	return 0;
}

struct sql_trace *sql_trace_close(struct sql_trace *trace)
{
	if (!trace || --trace->nr_users)
		return NULL;
	if (trace->has_printer)
		event_printer_close(&trace->printer);
	model_rules_close(trace->rules);
	event_table_close(trace->table);
	dat_time_close(&trace->time);
	dat_close(trace->file);
	number_map_free(&trace->comms);
	text_pool_close(&trace->pool);
	free(trace->names);
	free(trace->room);
	free(trace->path);
	free(trace);
	return NULL;
}

const struct pooled_text *sql_trace_comm(struct sql_trace *trace, int32_t tid)
{
	const uint64_t known = number_map_get(&trace->comms, (uint64_t)(uint32_t)tid);
	const struct pooled_text *text;
	const char *comm;

	if (known)
		return (const struct pooled_text *)(uintptr_t)known;
	comm = event_comm(trace->table, tid);
	text = comm[0] ? text_pool_add(&trace->pool, comm, strlen(comm)) : NULL;
	if (text)
		number_map_set(&trace->comms, (uint64_t)(uint32_t)tid, (uint64_t)(uintptr_t)text);
	return text;
}

struct sql_value sql_trace_process(const struct sql_trace *trace, int32_t tid)
{
	const int32_t pid = event_process(trace->table, tid);

	return pid < 0 ? sql_null() : sql_int(pid);
}

const struct sql_event_name *sql_trace_name(struct sql_trace *trace, int id)
{
	static const struct sql_event_name none;
	const struct event_type *type = event_type(trace->table, id);
	struct sql_event_name *name;

	if (!type)
		return &none;
	name = &trace->names[id];
	if (!name->name) {
		name->system = text_pool_add(&trace->pool, type->event->system, strlen(type->event->system));
		name->name = text_pool_add(&trace->pool, type->event->name, strlen(type->event->name));
	}
	return name;
}

const char *sql_trace_line(struct sql_trace *trace, const struct dat_event *event, size_t *ret_size)
{
	static const struct event_print_options options;
	struct event_printer *printer = &trace->printer;
	struct dat_event alone = *event;
	const char *text;

	if (!trace->has_printer && event_printer_open(printer, trace->file, &trace->time, trace->table, &options))
		return NULL;
	trace->has_printer = true;
	alone.lost = 0;
	if (event_print(printer, &alone))
		return NULL;
	text = printer->text.text + printer->parts.name;
	*ret_size = printer->text.size - printer->parts.name;
	/* Skip the blanks that align the text after the names. */
	while (*ret_size && *text == ' ') {
		text++;
		--*ret_size;
	}
	return text;
}

volatile sig_atomic_t sql_interrupted;

/*
 * sqlite3_is_interrupted() exists only from SQLite 3.41 on. All versions refuse a new statement with SQLITE_INTERRUPT
 * while one that was interrupted is still running. The new statement reads no table, so it takes no lock.
 */
bool sql_is_interrupted(sqlite3 *db)
{
	return sql_interrupted || sqlite3_exec(db, "SELECT 1 WHERE 0", NULL, NULL, NULL) == SQLITE_INTERRUPT;
}

void sql_trace_read_all(struct sql_trace *trace, const struct sql_gaps *gaps, const struct dat_merge *merge)
{
	trace->gaps = *gaps;
	dat_gaps_end(&trace->gaps.events, merge);
	trace->has_gaps = true;
}

int sql_trace_gaps(struct sql_trace *trace, struct sql_gaps *ret_gaps)
{
	static const bool no_types[EVENT_NR_IDS];
	struct sql_gaps gaps = { 0 };
	struct dat_merge *merge;
	const struct dat_event *event;
	int err = 0;

	if (!trace->has_gaps) {
		if (dat_merge_open(trace->file, &trace->time, NULL, NULL, &merge))
			return -ENOMEM;
		/* Events with losses or steps back in time are never skipped. */
		if (event_ids_lead(trace->table))
			dat_merge_only(merge, no_types);
		while (!err && (event = dat_merge_take(merge))) {
			sql_gaps_note(&gaps, event);
			err = sql_pass_ends(trace) ? -EINTR : 0;
		}
		if (!err)
			sql_trace_read_all(trace, &gaps, merge);
		dat_merge_close(merge);
	}
	*ret_gaps = trace->gaps;
	return err;
}
