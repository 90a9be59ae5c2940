/* SPDX-License-Identifier: MIT */
/*
 * See report_spans.h. A span has a line where it begins and one where it ends; if nothing was printed between them, it
 * has one line, as trace-cmd prints the kernel's functions. So the line of the last begin is kept until the next item
 * comes.
 *
 * A duration is printed only if begin and end were seen and nothing was lost between them. Otherwise the line states
 * what is missing.
 */
#include "cli/report/report_spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/show_text.h"
#include "format/model/model.h"

/* Width of a column of durations. */
#define WIDTH 15

/* Deeper spans are not indented further, to limit the length of lines. */
#define INDENT_MAX 40u

struct spans {
	struct report_lines *lines;
	bool seconds;
	uint64_t given_up;     /* as in struct model_sink */
	uint64_t first, last;  /* ids of the first and the last span that was selected; 0: none yet */
	uint64_t open;	       /* number of selected spans whose end was not reached */
	uint64_t waiting;      /* the span whose begin is not printed yet; 0: none */
	struct trace_seq head; /* first part of its line: thread, CPU, time */
	struct trace_seq body; /* the rest of its line: name and fields */
	struct trace_seq line;
};

/* What model_event() returns after a write has failed. */
#define NOT_WRITTEN 1

/* The record of a span's begin or end, as an event. */
static struct dat_event event_of(const struct model_record *record, uint64_t ts, uint32_t cpu)
{
	static char top[] = "";
	static const struct dat_buffer buffer = { .name = top };

	return (struct dat_event){
		.ts = ts, .cpu = cpu, .size = record->size, .data = record->data, .buffer = &buffer
	};
}

static const struct model_record *known_record(const struct model_span *span)
{
	return span->first.data ? &span->first : &span->last;
}

/* Whether the options select a span: by the event of its begin, or of its end, if only that was seen. */
static bool is_wanted(const struct spans *s, const struct model_span *span)
{
	const bool has_begin = span->first.data != NULL;
	const struct dat_event event = event_of(known_record(span), has_begin ? span->begin : span->end, span->cpu);
	struct report_select *select = s->lines->select;
	struct tep_record record = event_record(&event);

	return report_select_has_number(select, event.cpu) && event.ts <= select->window.until &&
	       report_select_has(select, &event, &record);
}

/* Whether a span is printed: called once for each, at its begin, so that --head and --tail count whole spans. */
static bool select_span(struct spans *s, const struct model_span *span)
{
	struct report_window *window = &s->lines->select->window;

	if (report_window_is_full(window) || !is_wanted(s, span) || !report_window_shows(window))
		return false;
	if (!s->first)
		s->first = span->id;
	s->last = span->id;
	return true;
}

/* Whether select_span() has selected the span. Ids are in the order of its calls. */
static bool was_selected(const struct spans *s, const struct model_span *span)
{
	return s->first && span->id >= s->first && span->id <= s->last && is_wanted(s, span);
}

/* Whether a span is first seen at its end: it was written there as one event, or its begin was not seen. */
static bool is_alone(const struct model_span *span)
{
	return span->first.data == span->last.data || !span->first.data;
}

/* ------------------------------------------------------------------------------------------------------------ texts */

/* Append a part of an event's text, as report prints it. 0; -ENOMEM. */
static int put_head(const struct spans *s, struct trace_seq *to, const struct dat_event *event)
{
	struct event_printer *printer = s->lines->printer;
	const int32_t tid = event_pid(printer->table, event->data, event->size);
	const struct event_parts *parts = &printer->parts;
	/* No line of another event has named the thread before. */
	const char *name = event_comm(printer->table, tid);
	int err = *name ? event_tasks_name(&printer->tasks, tid, name, strlen(name)) : 0;

	if (!err)
		err = event_print(printer, event);
	if (!err)
		trace_seq_printf(to, "%.*s", (int)(parts->time - parts->losses), printer->text.text + parts->losses);
	return err;
}

static int put_fields(const struct spans *s, struct trace_seq *to, const struct model_record *of, uint64_t ts,
		      uint32_t cpu)
{
	struct event_printer *printer = s->lines->printer;
	const struct dat_event event = event_of(of, ts, cpu);
	const int err = event_print(printer, &event);
	const size_t begin = printer->parts.name;

	if (!err)
		trace_seq_printf(to, "%.*s", (int)(printer->text.size - begin), printer->text.text + begin);
	return err;
}

static void put_time(const struct spans *s, uint64_t ns)
{
	char text[32];

	if (s->seconds)
		snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64 " us", ns / 1000, ns % 1000);
	else
		snprintf(text, sizeof(text), "%" PRIu64, ns);
	trace_seq_printf(&s->lines->printer->seq, "%*s", WIDTH, text);
}

/*
 * Print the duration and the own time; or blanks, if they are NULL or not known. Uses the printer's text as a buffer.
 */
static void put_times(struct spans *s, const struct model_span *span)
{
	struct trace_seq *seq = &s->lines->printer->seq;

	trace_seq_reset(seq);
	if (span && !span->flags) {
		put_time(s, span->end - span->begin);
		/* A keyed span has no inner spans, so no own time. */
		if (span->rule->is_keyed)
			trace_seq_printf(seq, "%*s", WIDTH, "");
		else
			put_time(s, span->own);
	} else {
		trace_seq_printf(seq, "%*s", 2 * WIDTH, "");
	}
	trace_seq_printf(&s->line, "%.*s |  ", (int)seq->len, seq->buffer);
}

static void put_indent(struct trace_seq *to, const struct model_span *span)
{
	trace_seq_printf(to, "%*s", (int)(2 * (span->depth < INDENT_MAX ? span->depth : INDENT_MAX)), "");
}

/* The text for the missing parts of a span; NULL: it is whole. */
static const char *remark(const struct model_span *span)
{
	switch (model_span_state(span)) {
	case MODEL_SPAN_NO_BEGIN:
		return "begin not seen";
	case MODEL_SPAN_CUT:
		return span->last.data && !(span->flags & MODEL_NO_END) ? "events lost inside, or ends without begins"
									 : "cut: end not seen";
	case MODEL_SPAN_OPEN:
		return "end not seen";
	case MODEL_SPAN_WHOLE:
		break;
	}
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------------ lines */

static int write_line(struct spans *s)
{
	trace_seq_putc(&s->line, '\n');
	if (s->lines->escapes)
		show_text(stdout, s->line.buffer, s->line.len, true);
	else
		fwrite(s->line.buffer, 1, s->line.len, stdout);
	trace_seq_reset(&s->line);
	return report_lines_written(s->lines) ? 0 : NOT_WRITTEN;
}

/* Called when an item follows inside the kept span: print the span's begin on a line of its own. */
static int flush(struct spans *s)
{
	if (!s->waiting)
		return 0;
	s->waiting = 0;
	trace_seq_printf(&s->line, "%.*s", (int)s->head.len, s->head.buffer);
	put_times(s, NULL);
	trace_seq_printf(&s->line, "%.*s {", (int)s->body.len, s->body.buffer);
	return write_line(s);
}

/* Append "(id=7)": the fields of the begin; or of the end, if only that was seen. */
static int put_begin_fields(const struct spans *s, struct trace_seq *to, const struct model_span *span)
{
	int err;

	trace_seq_putc(to, '(');
	err = put_fields(s, to, known_record(span), span->begin, span->cpu);
	trace_seq_putc(to, ')');
	return err;
}

/* Append "io:request(id=7)", with its indent. */
static int put_body(struct spans *s, const struct model_span *span)
{
	trace_seq_reset(&s->body);
	put_indent(&s->body, span);
	trace_seq_printf(&s->body, "%s:%s", span->rule->system, span->name);
	return put_begin_fields(s, &s->body, span);
}

static int take_begin(void *arg, const struct model_span *span)
{
	struct spans *s = arg;
	const struct dat_event event = event_of(&span->first, span->begin, span->cpu);
	int err;

	if (!select_span(s, span))
		return 0;
	s->open++;
	err = flush(s);
	trace_seq_reset(&s->head);
	if (!err)
		err = put_head(s, &s->head, &event);
	if (!err)
		err = put_body(s, span);
	s->waiting = span->id;
	return err;
}

static const struct event_type *type_of(const struct spans *s, const struct model_record *record)
{
	const struct event_table *table = s->lines->printer->table;

	return event_type(table, event_id(table, record->data, record->size));
}

/* Whether the begin has a field of the same name, with the same number: a key, for example. */
static bool is_repeated(const struct spans *s, const struct model_span *span, const struct tep_format_field *field)
{
	const struct event_type *type = type_of(s, &span->first);
	const struct tep_format_field *same = type ? tep_find_field(type->event, field->name) : NULL;
	const unsigned char *first = span->first.data, *last = span->last.data;

	return same && same->size == field->size && same->flags == field->flags &&
	       !(field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC | TEP_FIELD_IS_STRING)) &&
	       (uint32_t)(same->offset + same->size) <= span->first.size &&
	       (uint32_t)(field->offset + field->size) <= span->last.size &&
	       !memcmp(first + same->offset, last + field->offset, (size_t)field->size);
}

static bool begins_with(const char *text, const struct tep_format_field *field)
{
	const size_t size = strlen(field->name);

	return !strncmp(text, field->name, size) && text[size] == '=';
}

/* The size of the field's part, "NAME=VALUE", if that is followed by the next field or by nothing; otherwise 0. */
static size_t part_size(const char *text, const struct tep_format_field *field)
{
	const size_t size = strcspn(text, " ");
	const bool is_last = !text[size] && !field->next;

	if (!begins_with(text, field))
		return 0;
	return is_last || (text[size] && field->next && begins_with(text + size + 1, field->next)) ? size : 0;
}

/*
 * Append the fields of the end, "file=0 result=3", without those that the begin, which is on the same line, has, too.
 * If the text has another form, the rest is appended as it is.
 */
static void put_new_fields(struct spans *s, const struct model_span *span, const char *text)
{
	const struct event_type *type = type_of(s, &span->last);
	const struct tep_format_field *field = type ? type->event->format.fields : NULL;
	const char *before = " = ";
	size_t size;

	for (; field && (size = part_size(text, field)); field = field->next) {
		if (!is_repeated(s, span, field)) {
			trace_seq_printf(&s->line, "%s%.*s", before, (int)size, text);
			before = " ";
		}
		text += size + (text[size] == ' ');
	}
	if (*text)
		trace_seq_printf(&s->line, "%s%s", before, text);
}

/* Append the fields of the end after those of the begin; `is_leaf`: on the same line. */
static int put_end_fields(struct spans *s, const struct model_span *span, bool is_leaf)
{
	struct trace_seq fields;
	int err;

	/* The begin and the end are the same event, or only the end was seen. */
	if (!span->last.data || !span->first.data || span->first.data == span->last.data)
		return 0;
	trace_seq_init(&fields);
	err = put_fields(s, &fields, &span->last, span->end, span->end_cpu);
	trace_seq_terminate(&fields);
	if (!err && is_leaf)
		put_new_fields(s, span, fields.buffer);
	else if (!err && fields.len)
		trace_seq_printf(&s->line, " = %.*s", (int)fields.len, fields.buffer);
	trace_seq_destroy(&fields);
	return err;
}

/* Print one line for the whole span. */
static int write_leaf(struct spans *s, const struct model_span *span)
{
	const char *more = remark(span);
	int err;

	s->waiting = 0;
	trace_seq_printf(&s->line, "%.*s", (int)s->head.len, s->head.buffer);
	put_times(s, span);
	trace_seq_printf(&s->line, "%.*s", (int)s->body.len, s->body.buffer);
	err = put_end_fields(s, span, true);
	trace_seq_printf(&s->line, more ? "; /* %s */" : ";", more);
	return err ? err : write_line(s);
}

static int write_end(struct spans *s, const struct model_span *span)
{
	const struct model_record *record = span->last.data ? &span->last : &span->first;
	const struct dat_event event = event_of(record, span->end, span->end_cpu);
	const char *more = remark(span);
	int err = put_head(s, &s->line, &event);

	if (err)
		return err;
	put_times(s, span);
	put_indent(&s->line, span);
	trace_seq_printf(&s->line, "} /* %s:%s", span->rule->system, span->name);
	err = span->last.data ? put_end_fields(s, span, false) : put_begin_fields(s, &s->line, span);
	if (more)
		trace_seq_printf(&s->line, "; %s", more);
	trace_seq_puts(&s->line, " */");
	return err ? err : write_line(s);
}

static int take_span(void *arg, const struct model_span *span)
{
	struct spans *s = arg;
	const struct dat_event event = event_of(known_record(span), span->end, span->cpu);
	int err;

	if (!(is_alone(span) ? select_span(s, span) : was_selected(s, span)))
		return 0;
	s->open -= !is_alone(span);
	if (s->waiting == span->id)
		return write_leaf(s, span);
	err = flush(s);
	if (err || !is_alone(span))
		return err ? err : write_end(s, span);
	trace_seq_reset(&s->head);
	err = put_head(s, &s->head, &event);
	if (!err)
		err = put_body(s, span);
	return err ? err : write_leaf(s, span);
}

/* Whether a loss is in the time of the selected spans. With --tail, that begins after the last span that is skipped. */
static bool is_loss_shown(const struct report_select *select, const struct model_loss *loss)
{
	const struct report_window *window = &select->window;

	return report_select_has_cpu(select, loss->buffer, loss->cpu) && loss->ts >= window->since &&
	       loss->ts <= window->until && window->selected >= window->skip && !report_window_is_full(window);
}

static int take_loss(void *arg, const struct model_loss *loss)
{
	struct spans *s = arg;
	int err;

	if (!is_loss_shown(s->lines->select, loss))
		return 0;
	err = flush(s);
	if (err)
		return err;
	if (loss->lost > 0)
		trace_seq_printf(&s->line, "CPU:%" PRIu32 " [%" PRId64 " EVENTS DROPPED]", loss->cpu, loss->lost);
	else
		trace_seq_printf(&s->line, "CPU:%" PRIu32 " [EVENTS DROPPED]", loss->cpu);
	return write_line(s);
}

/* Read the events until none that follows can be of a selected span. 0; -ENOMEM; what the sink returned. */
static int read_all(const struct spans *s, const struct model_sink *sink)
{
	const struct report_window *window = &s->lines->select->window;
	struct model_rules *rules;
	struct dat_event event;
	struct model *model;
	int err = model_rules_open(s->lines->printer->table, &rules);

	if (err)
		return err;
	err = model_open(rules, sink, &model);
	if (!err) {
		while (!err && (s->open || !report_window_is_full(window)) && dat_merge_next(s->lines->merge, &event))
			err = model_event(model, &event);
		if (!err)
			err = model_end(model);
		model_close(model);
	}
	model_rules_close(rules);
	return err;
}

int report_spans_print(struct report_lines *lines, bool seconds, uint64_t *ret_given_up)
{
	struct spans s = { .lines = lines, .seconds = seconds };
	const struct model_sink sink = {
		.arg = &s, .span = take_span, .span_begin = take_begin, .loss = take_loss, .given_up = &s.given_up
	};
	int err;

	trace_seq_init(&s.head);
	trace_seq_init(&s.body);
	trace_seq_init(&s.line);
	err = read_all(&s, &sink);
	if (!err)
		err = flush(&s);
	*ret_given_up = s.given_up;
	trace_seq_destroy(&s.head);
	trace_seq_destroy(&s.body);
	trace_seq_destroy(&s.line);
	return err == NOT_WRITTEN ? 0 : err;
}

static int count_begin(void *arg, const struct model_span *span)
{
	select_span(arg, span);
	return 0;
}

static int count_span(void *arg, const struct model_span *span)
{
	if (is_alone(span))
		select_span(arg, span);
	return 0;
}

int report_spans_count(struct report_lines *lines)
{
	struct spans s = { .lines = lines };
	const struct model_sink sink = { .arg = &s, .span = count_span, .span_begin = count_begin };

	return read_all(&s, &sink);
}
