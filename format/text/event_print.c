/* SPDX-License-Identifier: MIT */
/* See event_print.h; the columns are described in trace-dat.md 9. */
#include "format/text/event_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN	   "[UNKNOWN EVENT]"
#define NAME_WIDTH 20 /* width of the event's name */

int event_printer_open(struct event_printer *ret_printer, const struct dat_file *file, const struct dat_time *time,
		       const struct event_table *table, const struct event_print_options *options)
{
	struct event_printer p = { .options = *options, .file = file, .table = table, .seconds = time->seconds };
	int err;

	trace_seq_init(&p.seq);
	event_tasks_open(&p.tasks, table->tep);
	for (size_t i = 0; i < file->nr_buffers; i++) {
		int width = (int)strlen(file->buffers[i].name);

		if (width > p.name_width)
			p.name_width = width;
	}
	p.options.names = p.name_width > 0;
	p.diff_us = !options->full_ts && !options->hz_given && dat_option(file, DAT_TRACECLOCK);
	p.plans = calloc(table->nr_events + 1u, sizeof(struct event_plan *));
	p.context = malloc(sizeof(*p.context));
	*ret_printer = p;
	err = p.plans && p.context ? event_ftrace_open(&ret_printer->ftrace, table) : -ENOMEM;
	if (!err)
		print_context_open(p.context, &table->functions);
	return err;
}

void event_printer_close(struct event_printer *printer)
{
	for (uint32_t i = 0; printer->plans && i < printer->table->nr_events; i++) {
		if (printer->plans[i])
			print_program_free(printer->plans[i]->program);
		free(printer->plans[i]);
	}
	free(printer->plans);
	free(printer->context);
	event_tasks_close(&printer->tasks);
	event_pages_close(&printer->pages);
	print_text_free(&printer->text);
	trace_seq_destroy(&printer->seq);
	free(printer->record);
	printer->plans = NULL;
	printer->context = NULL;
	printer->record = NULL;
}

struct tep_record event_record(const struct dat_event *event)
{
	return (struct tep_record){
		.ts = event->ts,
		.offset = event->offset,
		.missed_events = event->lost,
		.record_size = (int)event->size,
		.size = (int)event->size,
		.data = (void *)(uintptr_t)event->data,
		.cpu = (int)event->cpu,
		.ref_count = 1,
	};
}

/* ------------------------------------------------------------------------------------------------------------ plans */

/* Whether the event has fields whose bytes may be missing from a record that has all fixed fields. */
static bool has_far_fields(const struct tep_event *event)
{
	for (const struct tep_format_field *field = event->format.fields; field; field = field->next) {
		const bool is_text = field->flags & TEP_FIELD_IS_STRING;

		if (!field->size || field->flags & TEP_FIELD_IS_DYNAMIC ||
		    (field->flags & TEP_FIELD_IS_ARRAY && !is_text))
			return true;
	}
	return false;
}

/* Whether a program prints the event. If the user has requested another form of texts, libtraceevent prints it. */
static bool is_compiled(const struct event_printer *p, const struct event_type *type)
{
	const int other = TEP_EVENT_FL_NOHANDLE | TEP_EVENT_FL_PRINTRAW;

	return !p->options.raw && !type->raw_only && !(type->event->flags & other) &&
	       !(p->table->no_overrides && !p->table->no_plugins);
}

static struct event_plan *make_plan(const struct event_printer *p, const struct event_type *type)
{
	const size_t size = strlen(type->event->name), width = size < NAME_WIDTH ? NAME_WIDTH : size;
	struct event_plan *plan = calloc(1, sizeof(*plan) + width + 4);
	int err;

	if (!plan)
		return NULL;
	plan->type = type;
	plan->name_size = (uint32_t)sprintf(plan->name, " %s: %*s", type->event->name, (int)(width - size), "");
	plan->reads_far = has_far_fields(type->event);
	err = is_compiled(p, type) ? print_program_compile(type->event, &plan->program) : -ENOTSUP;
	if (err != -ENOMEM)
		return plan;
	free(plan);
	return NULL;
}

/* Find or make the plan for an id. 0, with *ret_plan NULL if no format has the id; -ENOMEM. */
static int find_plan(struct event_printer *p, int id, struct event_plan **ret_plan)
{
	const struct event_type *type = event_type(p->table, id);
	struct event_plan **plan;

	*ret_plan = NULL;
	if (!type)
		return 0;
	plan = &p->plans[event_type_number(p->table, type)];
	if (!*plan)
		*plan = make_plan(p, type);
	*ret_plan = *plan;
	return *ret_plan ? 0 : -ENOMEM;
}

/* Whether the program may be run for the record, which may be shorter than its format. */
static bool has_program(const struct event_plan *plan, const void *data, uint32_t size)
{
	const struct event_type *type = plan->type;

	return plan->program && size >= type->need &&
	       (!type->has_sizes || event_check(type, (void *)(uintptr_t)data));
}

struct event_fallbacks event_fallbacks(const struct event_printer *printer)
{
	struct event_fallbacks sum = { 0 };

	for (uint32_t i = 0; i < printer->table->nr_events; i++) {
		if (!printer->plans[i] || !printer->plans[i]->fallbacks)
			continue;
		sum.records += printer->plans[i]->fallbacks;
		sum.formats++;
	}
	return sum;
}

/* ---------------------------------------------------------------------------------------------------- libtraceevent */

/*
 * Make a copy of the record with room after it. libtraceevent reads beyond the records of some events (a kernel_stack
 * is shorter than its format, an empty text has no NUL). The bytes after the record in the page are copied, too, so
 * that libtraceevent reads the same bytes as in trace-cmd.
 */
static int copy_record(struct event_printer *p, const void *data, uint32_t size, uint32_t bytes_after)
{
	const uint32_t copy = size + (bytes_after < EVENT_BYTES_AFTER ? bytes_after : EVENT_BYTES_AFTER);

	if (copy + EVENT_SLACK > p->room) {
		unsigned char *record = calloc(1, copy + EVENT_SLACK);

		if (!record)
			return -ENOMEM;
		free(p->record);
		p->record = record;
		p->room = copy + EVENT_SLACK;
	}
	memcpy(p->record, data, copy);
	memset(p->record + copy, 0, EVENT_BYTES_AFTER);
	return 0;
}

/* Appends what tep_print_event() prints for `format`, of the copied record. */
static void put_tep(struct event_printer *p, const struct event_line *line, const char *format, struct print_text *text)
{
	const struct event_type *type = line->plan ? line->plan->type : NULL;
	struct tep_record record = {
		.ts = line->ts,
		.missed_events = line->lost,
		.data = p->record,
		.cpu = (int)line->cpu,
		.ref_count = 1,
	};

	/*
	 * A record may be shorter than its format. Then its open-ended text is empty; its length must not become
	 * negative.
	 */
	record.size = (int)(type && type->open > line->size ? type->open : line->size);
	record.record_size = record.size;
	trace_seq_reset(&p->seq);
	tep_print_event(p->table->tep, &p->seq, &record, "%s", format);
	print_text_put(text, p->seq.buffer, p->seq.len);
}

static void put_tep_info(struct event_printer *p, const struct event_line *line, struct print_text *text)
{
	const struct event_type *type = line->plan->type;
	const bool raw = p->options.raw || !event_check(type, p->record);

	put_tep(p, line, raw ? TEP_PRINT_INFO_RAW : TEP_PRINT_INFO, text);
	p->plans[event_type_number(p->table, type)]->fallbacks++;
	/* libtraceevent's plugins may have added names of tasks. */
	if (type->event->handler)
		event_tasks_refresh(&p->tasks);
}

/* ---------------------------------------------------------------------------------------------------------- columns */

/* Put the buffer's name, with which each line begins if the file has several buffers. */
static void put_buffer(const struct event_printer *p, const struct dat_buffer *buffer, struct print_text *text)
{
	const char *name = !buffer->name[0] && p->top_name ? p->top_name : buffer->name;
	const size_t size = strlen(name), width = (size_t)p->name_width;

	if (!p->options.names)
		return;
	print_text_fill(text, ' ', size < width ? width - size : 0);
	print_text_put(text, name, size);
	print_text_put(text, size ? ": " : "  ", 2);
}

static void put_task(const struct event_line *line, struct print_text *text)
{
	const uint32_t cpu = line->cpu, size = line->task->size;
	char *to = print_text_room(text, size + 6u);

	if (!to)
		return;
	memcpy(to, line->task->text, size);
	to += size;
	*to++ = '[';
	if (cpu < 1000) {
		*to++ = (char)('0' + cpu / 100);
		*to++ = (char)('0' + cpu / 10 % 10);
		*to++ = (char)('0' + cpu % 10);
		*to++ = ']';
		text->size += size + 5u;
		return;
	}
	text->size += size + 1u;
	print_text_number(text, cpu, &(struct print_conversion){ .letter = 'd', .bits = 32 });
	print_text_putc(text, ']');
}

/* Put " 12345.123456:". It is written from its end to its beginning. */
static void put_seconds(uint64_t seconds, uint64_t fraction, unsigned int digits, struct print_text *text)
{
	char time[2 * PRINT_DIGITS], *end = time + sizeof(time), *at = end;

	*--at = ':';
	for (unsigned int i = 0; i < digits; i++, fraction /= 10)
		*--at = (char)('0' + fraction % 10);
	*--at = '.';
	end = at;
	at = print_decimal_digits(at, seconds);
	while (end - at < 5)
		*--at = ' ';
	*--at = ' ';
	print_text_put(text, at, (size_t)(time + sizeof(time) - at));
}

static void put_time(const struct event_printer *p, uint64_t ts, struct print_text *text)
{
	if (!p->seconds) {
		print_text_decimal(text, ts, 12, ' ');
		print_text_putc(text, ':');
	} else if (p->options.full_ts) {
		put_seconds(ts / 1000000000, ts % 1000000000, 9, text);
	} else {
		/* The time is rounded, which may carry into the seconds. */
		ts = (ts + 500) / 1000;
		put_seconds(ts / 1000000, ts % 1000000, 6, text);
	}
}

/* A time in the unit in which differences are printed. */
static uint64_t diff_time(const struct event_printer *p, uint64_t ts)
{
	return p->diff_us ? (ts + 500) / 1000 : ts;
}

static void put_diff(const struct event_printer *p, const struct event_line *line, struct print_text *text)
{
	char diff[32] = "", padded[40];

	if (line->last_ts)
		snprintf(diff, sizeof(diff), "(+%lld)", (long long)(diff_time(p, line->ts) - line->last_ts));
	snprintf(padded, sizeof(padded), " %-8s", diff);
	print_text_puts(text, padded);
}

/* A newline at the end of the text is removed, because the line adds its own. */
static void end_line(struct print_text *text, size_t start)
{
	if (text->size > start && text->text[text->size - 1] == '\n')
		text->size--;
}

/* ------------------------------------------------------------------------------------------------------- one by one */

/* The kernel's stacks, which libtraceevent prints as a line for each function. */
static bool has_lines(const struct event_plan *plan)
{
	const struct tep_event *event = plan ? plan->type->event : NULL;

	return event && !strcmp(event->system, "ftrace") &&
	       (!strcmp(event->name, "kernel_stack") || !strcmp(event->name, "user_stack"));
}

static void put_latency(struct event_printer *p, const struct event_line *line, int pid, struct print_text *text)
{
	struct tep_record record = { .data = p->record, .size = (int)line->size, .ref_count = 1 };
	char columns[64];

	if (line->plan) {
		snprintf(columns, sizeof(columns), "%8.8s-%-5d %3d", tep_data_comm_from_pid(p->table->tep, pid), pid,
			 (int)line->cpu);
		print_text_puts(text, columns);
	} else {
		print_text_puts(text, UNKNOWN);
	}
	if (!p->options.raw) {
		put_tep(p, line, TEP_PRINT_LATENCY, text);
		return;
	}
	snprintf(columns, sizeof(columns), "-0x%x", tep_data_flags(p->table->tep, &record));
	print_text_puts(text, columns);
}

/* The columns before the name. */
static void put_columns(struct event_printer *p, const struct event_line *line, int pid, struct print_text *text)
{
	put_buffer(p, line->buffer, text);
	event_page_before(p->file, line, text);
	p->parts.losses = text->size;
	if (p->options.latency)
		put_latency(p, line, pid, text);
	else if (line->plan)
		put_task(line, text);
	else
		print_text_puts(text, UNKNOWN);
	p->parts.task = text->size;
	if (line->plan)
		put_time(p, line->ts, text);
	else
		print_text_puts(text, UNKNOWN);
	if (p->options.ts_diff)
		put_diff(p, line, text);
	p->parts.time = text->size;
}

/* Note the threads that the record names besides its own. 0; -ENOMEM. */
static int note_tasks(struct event_printer *p, const struct event_plan *plan, const unsigned char *data, uint32_t size)
{
	struct print_task tasks[PRINT_TASKS_MAX];
	const unsigned int nr = print_program_tasks(plan->program, data, size, tasks);
	int err = 0;

	for (unsigned int i = 0; i < nr && !err; i++)
		err = event_tasks_name(&p->tasks, (int)tasks[i].pid, (const char *)data + tasks[i].offset,
				       tasks[i].size);
	return err;
}

static int open_line(struct event_printer *p, const struct dat_event *event, struct event_line *ret_line, int *ret_pid)
{
	struct event_plan *plan;
	int err = find_plan(p, event_id(p->table, event->data, event->size), &plan);

	*ret_pid = event_pid(p->table, event->data, event->size);
	*ret_line = (struct event_line){
		.plan = plan,
		.task = plan && !err ? event_tasks_find(&p->tasks, *ret_pid) : NULL,
		.buffer = event->buffer,
		.ts = event->ts,
		.last_ts = p->last_ts,
		.lost = event->lost,
		.begins = p->options.boundary && event->begins,
		/* The event of a span was copied, so it has no page. */
		.placed = p->options.places && event->page ? event : NULL,
		.cpu = event->cpu,
		.size = event->size,
	};
	return err || (plan && !ret_line->task) ? -ENOMEM : 0;
}

int event_print(struct event_printer *printer, const struct dat_event *event)
{
	struct event_printer *p = printer;
	struct print_text *text = &p->text;
	struct event_line line;
	int pid, err = open_line(p, event, &line, &pid);

	if (!err)
		err = copy_record(p, event->data, event->size, event->bytes_after);
	if (err)
		return err;
	text->size = 0;
	p->parts = (struct event_parts){ .lines = has_lines(line.plan) };
	put_columns(p, &line, pid, text);
	p->last_ts = diff_time(p, event->ts);
	if (line.plan)
		print_text_put(text, line.plan->name, line.plan->name_size);
	else
		print_text_puts(text, " (NULL):               ");
	p->parts.name = text->size;
	if (!line.plan) {
		print_text_puts(text, UNKNOWN);
	} else if (!has_program(line.plan, event->data, event->size) ||
		   !print_program_run(line.plan->program, p->context, event->data, event->size, text)) {
		put_tep_info(p, &line, text);
	} else {
		err = note_tasks(p, line.plan, event->data, event->size);
	}
	end_line(text, 0);
	if (line.placed && !err)
		err = event_page_after(&p->pages, p->file, event, text);
	return text->failed ? -ENOMEM : err;
}

/* -------------------------------------------------------------------------------------------------------- in halves */

int event_line_open(struct event_printer *printer, const struct dat_event *event, struct event_line *ret_line)
{
	struct event_printer *p = printer;
	int pid, err;

	if (p->options.raw || p->options.latency || p->options.places)
		return 0;
	err = open_line(p, event, ret_line, &pid);
	if (err || !ret_line->plan || !has_program(ret_line->plan, event->data, event->size))
		return err;
	p->last_ts = diff_time(p, event->ts);
	err = note_tasks(p, ret_line->plan, event->data, event->size);
	return err ? err : 1;
}

/* Adds all parts of the line except the fields. */
static void put_head(const struct event_printer *p, const struct event_line *line, struct print_text *text)
{
	put_buffer(p, line->buffer, text);
	event_page_before(p->file, line, text);
	put_task(line, text);
	put_time(p, line->ts, text);
	if (p->options.ts_diff)
		put_diff(p, line, text);
	print_text_put(text, line->plan->name, line->plan->name_size);
}

bool event_line_put(const struct event_printer *printer, const struct event_line *line, const void *data,
		    struct print_context *context, struct print_text *text)
{
	const size_t start = text->size;

	put_head(printer, line, text);
	if (print_program_run(line->plan->program, context, data, line->size, text)) {
		end_line(text, start);
		print_text_putc(text, '\n');
		return !text->failed;
	}
	text->size = start;
	return false;
}

int event_line_print(struct event_printer *printer, const struct event_line *line, const void *data,
		     uint32_t bytes_after, struct print_text *text)
{
	const size_t start = text->size;
	int err = copy_record(printer, data, line->size, bytes_after);

	if (err)
		return err;
	put_head(printer, line, text);
	put_tep_info(printer, line, text);
	end_line(text, start);
	print_text_putc(text, '\n');
	return text->failed ? -ENOMEM : 0;
}
