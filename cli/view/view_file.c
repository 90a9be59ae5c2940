/* SPDX-License-Identifier: MIT */
/* See view_file.h. The file is read twice: for the items, and then for the texts of those that are kept. */
#include "cli/view/view_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/trace_events.h"
#include "format/dat/dat_compress.h"
#include "format/view/view_collect.h"
#include "format/view/view_overlay.h"

struct reading {
	struct dat_file *file;
	struct dat_time time;
	struct event_table *table;
	struct event_printer printer;
	struct view_trace trace;
	struct blob index, columns;
	struct view_texts texts;
	struct view_result result;
};

static void close_all(struct reading *reading)
{
	view_trace_free(&reading->trace);
	blob_free(&reading->index);
	blob_free(&reading->columns);
	blob_free(&reading->texts.firsts);
	if (reading->table)
		event_printer_close(&reading->printer);
	event_table_close(reading->table);
	dat_time_close(&reading->time);
	dat_close(reading->file);
}

static int open_file(struct reading *reading, const struct view_request *request, struct dat_error *ret_error)
{
	const unsigned int flags = (request->no_plugins ? EVENT_NO_PLUGINS : 0) | EVENT_NAMES;
	int err = dat_open_rest(request->path, dat_compress_zstd(), &reading->file, ret_error);

	if (!err)
		err = dat_check_events(reading->file, ret_error);
	if (!err)
		err = dat_time_open(reading->file, 0, &reading->time, ret_error);
	if (err)
		return err;
	/* Pictures of running programs follow each other quickly, so formats that are left out are not reported. */
	err = request->live ? event_table_open(reading->file, flags, &reading->table)
			    : trace_events_open("view", request->shown, reading->file, flags, &reading->table);
	if (err) {
		snprintf(ret_error->text, sizeof(ret_error->text), "cannot parse the event formats: %s",
			 strerror(-err));
		return err;
	}
	return event_printer_open(&reading->printer, reading->file, &reading->time, reading->table,
				  &(struct event_print_options){ 0 });
}

static int collect(struct reading *reading, const struct overlay *overlay, size_t items_max)
{
	struct dat_merge *merge;
	int err = dat_merge_open(reading->file, &reading->time, NULL, NULL, &merge);

	if (err)
		return err;
	err = view_collect(reading->table, merge, &reading->trace);
	reading->result.damaged = dat_merge_damaged(merge, &reading->result.error, &reading->result.cpu);
	dat_merge_close(merge);
	if (overlay)
		view_add_overlay(&reading->trace, overlay);
	return err ? err : view_finish(&reading->trace, items_max);
}

/* Writes the columns of as many items as fit. */
static int pack(struct reading *reading, const struct overlay *overlay, size_t room, int effort)
{
	size_t items_max = VIEW_ITEMS_MAX;
	int err;

	do {
		view_trace_free(&reading->trace);
		blob_free(&reading->index);
		blob_free(&reading->columns);
		err = collect(reading, overlay, items_max);
		if (!err)
			err = view_pack_columns(&reading->trace, effort, &reading->index, &reading->columns);
		items_max /= 2;
	} while (!err && reading->columns.size > room && items_max);
	return err;
}

static int write_texts(struct reading *reading, size_t room, const struct view_sink *sink)
{
	struct dat_merge *merge;
	int err = dat_merge_open(reading->file, &reading->time, NULL, NULL, &merge);

	if (err)
		return err;
	err = view_write_texts(&reading->trace, &reading->printer, merge, room, sink, &reading->texts);
	dat_merge_close(merge);
	return err;
}

/* Find the time of day. If the file has a date, its times are times of day. */
static void find_days(const struct dat_file *file, struct view_head *head)
{
	int64_t date;

	if (dat_time_date(file, &date))
		head->nr_readings = 1;
	else
		head->nr_readings = dat_time_readings(file, head->readings);
}

int view_file(const struct view_request *request, const struct view_sink *sink, struct view_result *ret_result)
{
	struct reading reading = { .file = NULL };
	char clock[64];
	struct view_head head = {
		.file = request->shown, .version = PACKAGE_VERSION, .clock = clock, .live = request->live
	};
	int err = open_file(&reading, request, &reading.result.error);

	if (!err)
		err = pack(&reading, request->overlay, request->room, sink->effort);
	if (!err)
		err = write_texts(&reading,
				  request->room > reading.columns.size ? request->room - reading.columns.size : 0,
				  sink);
	if (!err) {
		if (!dat_clock_name(reading.file, clock, sizeof(clock)))
			snprintf(clock, sizeof(clock), "%s", "");
		head.seconds = reading.time.seconds;
		find_days(reading.file, &head);
		err = view_write_index(&reading.trace, &head, &reading.texts, &reading.index, &reading.columns, sink);
	}
	if (err == -ENOMEM)
		snprintf(reading.result.error.text, sizeof(reading.result.error.text), "not enough memory");
	reading.result.left_out = reading.texts.left_out;
	reading.result.given_up = reading.trace.given_up;
	if (reading.file)
		reading.result.missing = reading.file->missing;
	if (!err && !request->live)
		trace_report_absent("view", request->shown, reading.table);
	*ret_result = reading.result;
	close_all(&reading);
	return err;
}
