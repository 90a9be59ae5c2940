/* SPDX-License-Identifier: MIT */
/* See event_print.h; the columns are described in trace-dat.md 9. */
#include "format/text/event_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN	   "[UNKNOWN EVENT]"
#define NAME_WIDTH 20 /* of the event's name */

/*
 * libtraceevent reads beyond the records of some events (a kernel_stack is shorter than its format, an empty text has
 * no NUL). So that it finds the same bytes as in trace-cmd, this much of the page is copied, too.
 */
#define BEHIND 256u

int event_printer_open(struct event_printer *ret_printer, const struct dat_file *file, const struct dat_time *time,
		       const struct event_table *table, const struct event_print_options *options)
{
	struct event_printer p = { .options = *options, .table = table, .seconds = time->seconds };

	trace_seq_init(&p.seq);
	for (size_t i = 0; i < file->nr_buffers; i++) {
		int width = (int)strlen(file->buffers[i].name);

		if (width > p.name_width)
			p.name_width = width;
	}
	p.options.names = p.name_width > 0;
	p.diff_us = !options->full_ts && dat_option(file, DAT_TRACECLOCK);
	*ret_printer = p;
	return event_ftrace_open(&ret_printer->ftrace, table);
}

void event_printer_close(struct event_printer *printer)
{
	trace_seq_destroy(&printer->seq);
	free(printer->record);
	printer->record = NULL;
}

int event_record(struct event_printer *printer, const struct dat_event *event, struct tep_record *ret_record)
{
	struct event_printer *p = printer;
	const struct event_type *type;
	uint32_t size = event->size;
	uint32_t copy = size + (event->behind < BEHIND ? event->behind : BEHIND);

	if (copy + EVENT_SLACK > p->room) {
		unsigned char *record = calloc(1, copy + EVENT_SLACK);

		if (!record)
			return -ENOMEM;
		free(p->record);
		p->record = record;
		p->room = copy + EVENT_SLACK;
	}
	memcpy(p->record, event->data, copy);
	memset(p->record + copy, 0, BEHIND);
	/* A record may be shorter than its format: then its open-ended text is empty, not of negative length. */
	type = event_type(p->table, event_id(p->table, p->record, size));
	if (type && type->open > size)
		size = type->open;
	*ret_record = (struct tep_record){
		.ts = event->ts,
		.offset = event->offset,
		.missed_events = event->lost,
		.record_size = (int)size,
		.size = (int)size,
		.data = p->record,
		.cpu = (int)event->cpu,
		.ref_count = 1,
	};
	return 0;
}

/* ------------------------------------------------------------------------------------------------------ columns */

/* If a file has several buffers, each line begins with its buffer's name. */
static void print_buffer(struct event_printer *p, const struct dat_buffer *buffer)
{
	if (p->options.names)
		trace_seq_printf(&p->seq, "%*s%s", p->name_width, buffer->name, buffer->name[0] ? ": " : "  ");
}

static void print_task(struct event_printer *p, const struct dat_event *event, struct tep_record *record)
{
	int pid = event_pid(p->table, record->data, (uint32_t)record->size);
	const char *comm = tep_data_comm_from_pid(p->table->tep, pid);

	if (p->options.latency)
		trace_seq_printf(&p->seq, "%8.8s-%-5d %3d", comm, pid, (int)event->cpu);
	else
		trace_seq_printf(&p->seq, "%16s-%-5d [%03d]", comm, pid, (int)event->cpu);
}

static void print_time(struct event_printer *p, uint64_t ts)
{
	if (!p->seconds)
		trace_seq_printf(&p->seq, "%12" PRIu64 ":", ts);
	else if (p->options.full_ts)
		trace_seq_printf(&p->seq, " %5" PRIu64 ".%09" PRIu64 ":", ts / 1000000000, ts % 1000000000);
	else {
		/* Rounded, also when that carries into the seconds. */
		uint64_t us = (ts + 500) / 1000;

		trace_seq_printf(&p->seq, " %5" PRIu64 ".%06" PRIu64 ":", us / 1000000, us % 1000000);
	}
}

static void print_diff(struct event_printer *p, uint64_t ts)
{
	char text[32] = "";

	if (p->diff_us)
		ts = (ts + 500) / 1000;
	if (p->last_ts)
		snprintf(text, sizeof(text), "(+%lld)", (long long)(ts - p->last_ts));
	p->last_ts = ts;
	trace_seq_printf(&p->seq, " %-8s", text);
}

static void print_name(struct event_printer *p, const char *name)
{
	int len = (int)strlen(name);

	trace_seq_printf(&p->seq, " %s: %*s", name, len < NAME_WIDTH ? NAME_WIDTH - len : 0, "");
}

static void print_info(struct event_printer *p, const struct event_type *type, struct tep_record *record)
{
	bool raw = p->options.raw || !event_check(type, record->data, (uint32_t)record->size);

	tep_print_event(p->table->tep, &p->seq, record, "%s", raw ? TEP_PRINT_INFO_RAW : TEP_PRINT_INFO);
}

static void print_losses(struct event_printer *p, const struct dat_event *event)
{
	if (event->lost > 0)
		trace_seq_printf(&p->seq, "CPU:%d [%lld EVENTS DROPPED]\n", (int)event->cpu, (long long)event->lost);
	else if (event->lost < 0)
		trace_seq_printf(&p->seq, "CPU:%d [EVENTS DROPPED]\n", (int)event->cpu);
}

/* The kernel's stacks, which libtraceevent prints as a line for each function. */
static bool has_lines(const struct event_type *type)
{
	return type && !strcmp(type->event->system, "ftrace") &&
	       (!strcmp(type->event->name, "kernel_stack") || !strcmp(type->event->name, "user_stack"));
}

void event_print(struct event_printer *printer, const struct dat_event *event, struct tep_record *record)
{
	struct event_printer *p = printer;
	int id = event_id(p->table, record->data, (uint32_t)record->size);
	const struct event_type *type = event_type(p->table, id);

	trace_seq_reset(&p->seq);
	p->parts = (struct event_parts){ .lines = has_lines(type) };
	print_buffer(p, event->buffer);
	print_losses(p, event);
	p->parts.losses = p->seq.len;
	if (type)
		print_task(p, event, record);
	else
		trace_seq_puts(&p->seq, UNKNOWN);
	if (p->options.latency) {
		if (p->options.raw)
			trace_seq_printf(&p->seq, "-0x%x", tep_data_flags(p->table->tep, record));
		else
			tep_print_event(p->table->tep, &p->seq, record, "%s", TEP_PRINT_LATENCY);
	}
	p->parts.task = p->seq.len;
	if (type)
		print_time(p, event->ts);
	else
		trace_seq_puts(&p->seq, UNKNOWN);
	if (p->options.ts_diff)
		print_diff(p, event->ts);
	p->parts.time = p->seq.len;
	print_name(p, type ? type->event->name : "(NULL)");
	p->parts.name = p->seq.len;
	if (type)
		print_info(p, type, record);
	else
		trace_seq_puts(&p->seq, UNKNOWN);
	/* A newline at the end is the line's own. */
	if (p->seq.len && p->seq.buffer[p->seq.len - 1] == '\n')
		p->seq.len--;
}

void event_print_head(struct event_printer *printer, const struct dat_event *event, struct tep_record *record)
{
	trace_seq_reset(&printer->seq);
	print_task(printer, event, record);
	print_time(printer, event->ts);
}

void event_print_fields(struct event_printer *printer, const struct event_type *type, struct tep_record *record)
{
	trace_seq_reset(&printer->seq);
	print_info(printer, type, record);
	if (printer->seq.len && printer->seq.buffer[printer->seq.len - 1] == '\n')
		printer->seq.len--;
}
