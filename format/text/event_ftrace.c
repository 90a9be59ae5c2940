/* SPDX-License-Identifier: MIT */
#include "format/text/event_ftrace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define INDENT	      2u
/* Width of the column of durations. A duration with this number of digits of us is shown without ns. */
#define DURATION_SIZE 7

/* The kernel follows calls to a depth of 50. Implausible depths in a file are not drawn. */
#define DEPTH_MAX 1000u

static bool number_of(struct tep_event *event, const char *name, const void *data, uint32_t size, uint64_t *ret_number)
{
	const struct tep_format_field *field = tep_find_any_field(event, name);

	if (!field || field->offset < 0 || field->size < 0 || field->size > 8 || (uint32_t)field->offset > size ||
	    (uint32_t)field->size > size - (uint32_t)field->offset)
		return false;
	*ret_number = tep_read_number(event->tep, (const char *)data + field->offset, field->size);
	return true;
}

static bool record_number(struct tep_event *event, const char *name, const struct tep_record *record,
			  uint64_t *ret_number)
{
	return number_of(event, name, record->data, (uint32_t)record->size, ret_number);
}

/* The text that trace-cmd shows for a record that lacks a field. */
static int no_field(struct trace_seq *seq)
{
	return trace_seq_putc(seq, '!');
}

/* ---------------------------------------------------------------------------------------------- the function tracer */

static int print_function(struct trace_seq *seq, struct tep_record *record, struct tep_event *event, void *context)
{
	static const char *const fields[] = { "ip", "parent_ip" };
	uint64_t address;

	(void)context;
	for (unsigned int i = 0; i < 2; i++) {
		const char *name;

		if (!record_number(event, fields[i], record, &address))
			return no_field(seq);
		name = tep_find_function(event->tep, address);
		if (name)
			trace_seq_printf(seq, "%s%s", name, i ? "" : " <-- ");
		else
			trace_seq_printf(seq, "0x%" PRIx64, address);
	}
	return 0;
}

/* ----------------------------------------------------------------------------------------------- the function graph */

/* A column with a mark for long durations, and the duration. */
static void print_duration(struct trace_seq *seq, uint64_t ns)
{
	static const struct {
		uint64_t above;
		char mark;
	} marks[] = { { 1000000000, '$' }, { 1000000, '#' }, { 100000, '!' }, { 10000, '+' } };
	char text[32], mark = ' ';
	int size;

	for (unsigned int i = 0; i < sizeof(marks) / sizeof(marks[0]) && mark == ' '; i++)
		if (ns > marks[i].above)
			mark = marks[i].mark;
	size = snprintf(text, sizeof(text), "%" PRIu64, ns / 1000);
	if (size < DURATION_SIZE)
		size += snprintf(text + size, sizeof(text) - (size_t)size, ".%03" PRIu64, ns % 1000);
	trace_seq_printf(seq, "%c %s us %*s|  ", mark, text, size < DURATION_SIZE ? DURATION_SIZE - size : 0, "");
}

static void print_indent(struct trace_seq *seq, uint64_t depth)
{
	trace_seq_printf(seq, "%*s", depth > DEPTH_MAX ? 0 : (int)(depth * INDENT), "");
}

static int print_call(struct trace_seq *seq, struct tep_record *record, struct tep_event *event, void *context)
{
	struct event_ftrace *ftrace = context;
	uint64_t depth, address;
	const char *name;

	if (ftrace->leaf)
		print_duration(seq, ftrace->duration);
	else
		trace_seq_puts(seq, "             |  ");
	if (!record_number(event, "depth", record, &depth))
		return no_field(seq);
	print_indent(seq, depth);
	if (!record_number(event, "func", record, &address))
		return no_field(seq);
	name = tep_find_function(event->tep, address);
	if (name)
		trace_seq_puts(seq, name);
	else
		trace_seq_printf(seq, "%" PRIx64, address);
	trace_seq_puts(seq, ftrace->leaf ? "();" : "() {");
	ftrace->leaf = false;
	return 0;
}

static int print_return(struct trace_seq *seq, struct tep_record *record, struct tep_event *event, void *context)
{
	uint64_t from, to, depth;

	(void)context;
	if (!record_number(event, "rettime", record, &to) || !record_number(event, "calltime", record, &from))
		return no_field(seq);
	print_duration(seq, to - from);
	if (!record_number(event, "depth", record, &depth))
		return no_field(seq);
	print_indent(seq, depth);
	trace_seq_putc(seq, '}');
	return 0;
}

bool event_ftrace_may_take(const struct event_ftrace *ftrace, const struct tep_record *record)
{
	return ftrace->call && ftrace->ret &&
	       event_id(ftrace->table, record->data, (uint32_t)record->size) == ftrace->call->id;
}

bool event_ftrace_takes(struct event_ftrace *ftrace, const struct tep_record *record, const struct dat_event *next)
{
	const struct event_table *table = ftrace->table;
	const uint32_t size = (uint32_t)record->size;
	uint64_t function, returned, from, to;

	ftrace->leaf = false;
	if (!next || !event_ftrace_may_take(ftrace, record))
		return false;
	if (event_id(table, next->data, next->size) != ftrace->ret->id ||
	    event_pid(table, record->data, size) != event_pid(table, next->data, next->size))
		return false;
	if (!record_number(ftrace->call, "func", record, &function) ||
	    !number_of(ftrace->ret, "func", next->data, next->size, &returned) || function != returned)
		return false;
	if (!number_of(ftrace->ret, "rettime", next->data, next->size, &to) ||
	    !number_of(ftrace->ret, "calltime", next->data, next->size, &from))
		return false;
	ftrace->leaf = true;
	ftrace->duration = to - from;
	return true;
}

/* Use our text for an event, unless a plugin has one. */
static int use(struct event_ftrace *ftrace, struct tep_event *event, tep_event_handler_func text)
{
	if (!event || event->handler)
		return 0;
	return tep_register_event_handler(event->tep, event->id, event->system, event->name, text, ftrace) < 0 ? -ENOMEM
													       : 0;
}

int event_ftrace_open(struct event_ftrace *ftrace, const struct event_table *table)
{
	struct tep_handle *tep = table->tep;
	int err;

	*ftrace = (struct event_ftrace){ .table = table };
	if (table->no_overrides)
		return 0;
	*ftrace = (struct event_ftrace){ .table = table,
					 .call = tep_find_event_by_name(tep, "ftrace", "funcgraph_entry"),
					 .ret = tep_find_event_by_name(tep, "ftrace", "funcgraph_exit") };
	err = use(ftrace, tep_find_event_by_name(tep, "ftrace", "function"), print_function);
	if (!err)
		err = use(ftrace, ftrace->call, print_call);
	return err ? err : use(ftrace, ftrace->ret, print_return);
}
