/* SPDX-License-Identifier: MIT */
/* See assert_context.h. */
#include "cli/ask/assert_context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_merge.h"
#include "format/text/event_print.h"

#define LINES_BEFORE 2u
#define LINES_INSIDE 12u
#define LINES_AFTER  1u

/*
 * The search for events covers this many ns before the place and after it: a thread may have no later event, and the
 * rest of a long trace would be read for each place.
 */
#define AROUND_NS 10000000u

struct context {
	const struct assert_place *place;
	struct event_printer printer;
	FILE *out;
	char *before[LINES_BEFORE]; /* the last lines before the place, in a circular buffer */
	unsigned int nr_before;
	unsigned int inside, after;
	uint64_t skipped;
};

static bool is_too_late(const struct context *c, const struct dat_event *event)
{
	return event->ts > c->place->end && event->ts - c->place->end > AROUND_NS;
}

static bool is_wanted(const struct context *c, const struct trace_input *input, const struct dat_event *event)
{
	const int32_t tid = event_pid(input->table, event->data, event->size);

	return c->place->tid == ASSERT_ANY_THREAD || tid == c->place->tid || tid == c->place->end_tid;
}

/* Append a line of the report, without the remark about lost events. */
static int print_event(struct context *c, const struct dat_event *event, const char **ret_line, size_t *ret_size)
{
	struct dat_event alone = *event;
	int err;

	alone.lost = 0;
	err = event_print(&c->printer, &alone);
	*ret_line = c->printer.text.text;
	*ret_size = c->printer.text.size;
	return err;
}

static int keep_before(struct context *c, const struct dat_event *event)
{
	char **place = &c->before[c->nr_before++ % LINES_BEFORE];
	const char *line;
	size_t size;

	if (print_event(c, event, &line, &size))
		return -ENOMEM;
	free(*place);
	*place = strndup(line, size);
	return *place ? 0 : -ENOMEM;
}

static void put_before(struct context *c)
{
	for (unsigned int i = 0; i < LINES_BEFORE; i++) {
		const char *line = c->before[(c->nr_before + i) % LINES_BEFORE];

		if (line)
			fprintf(c->out, "      %s\n", line);
	}
}

static int put_event(struct context *c, const struct dat_event *event, bool is_inside)
{
	const char *line;
	size_t size;

	if (print_event(c, event, &line, &size))
		return -ENOMEM;
	fprintf(c->out, "    %s %.*s\n", is_inside ? ">" : " ", (int)size, line);
	return 0;
}

/* Add an event. 1: there are enough lines. 0; -ENOMEM. */
static int take_event(struct context *c, const struct dat_event *event)
{
	if (event->ts < c->place->begin)
		return keep_before(c, event);
	if (event->ts <= c->place->end) {
		if (!c->inside)
			put_before(c);
		/* The last line in the place is always shown, too. */
		if (c->inside++ < LINES_INSIDE || event->ts == c->place->end)
			return put_event(c, event, true);
		if (!c->skipped++)
			fputs("    > ...\n", c->out);
		return 0;
	}
	if (c->after++ >= LINES_AFTER)
		return 1;
	return put_event(c, event, false);
}

int assert_context_print(const struct trace_input *input, const struct assert_place *place, FILE *out)
{
	static const struct event_print_options options;
	struct context c = { .place = place, .out = out };
	struct dat_merge *merge = NULL;
	struct dat_event event;
	int err = event_printer_open(&c.printer, input->file, &input->time, input->table, &options);

	if (!err)
		err = dat_merge_open_at(input->file, &input->time, NULL, NULL,
					place->begin > AROUND_NS ? place->begin - AROUND_NS : 0, &merge);
	while (!err && dat_merge_next(merge, &event) && !is_too_late(&c, &event))
		if (is_wanted(&c, input, &event))
			err = take_event(&c, &event);
	dat_merge_close(merge);
	event_printer_close(&c.printer);
	for (unsigned int i = 0; i < LINES_BEFORE; i++)
		free(c.before[i]);
	return err < 0 ? err : 0;
}
