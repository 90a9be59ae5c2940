/* SPDX-License-Identifier: MIT */
/*
 * Several files as one report, ordered by time. Each line begins with the name of its file, or of its buffer. Each file
 * is opened as for its own report; only the order, which is trace-cmd's, is determined here.
 */
#include "cli/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/base_name.h"
#include "cli/common/show_text.h"

struct source {
	struct report_walk walk;
	struct dat_event event; /* the next event */
	struct tep_record record;
	bool more; /* there is one */
};

void report_name_heads(struct report *all, unsigned int nr)
{
	int width = 0;

	for (unsigned int i = 0; i < nr; i++) {
		all[i].head_name = base_name(all[i].path);
		if ((int)strlen(all[i].head_name) > width)
			width = (int)strlen(all[i].head_name);
	}
	for (unsigned int i = 0; i < nr; i++)
		all[i].head_width = width;
}

/*
 * Print the first lines. The width of names is that of the longest name of all files, and of the buffers of earlier
 * files.
 */
static bool print_heads(struct report *all, unsigned int nr)
{
	int width;

	report_name_heads(all, nr);
	width = all->head_width;
	for (unsigned int i = 0; i < nr; i++) {
		all[i].head_width = width;
		if (!report_head(&all[i]))
			return false;
		if (all[i].printer.name_width > width)
			width = all[i].printer.name_width;
	}
	for (unsigned int i = 0; i < nr; i++) {
		all[i].printer.name_width = width;
		all[i].printer.options.names = true;
		all[i].printer.top_name = all[i].head_name;
	}
	return true;
}

/*
 * Whether the event of `a` comes before that of `b`. Buffers with a name come after the nameless buffers of all files.
 */
static bool is_before(const struct source *a, const struct source *b)
{
	const bool a_named = a->event.buffer->name[0], b_named = b->event.buffer->name[0];

	if (a->event.ts != b->event.ts)
		return a->event.ts < b->event.ts;
	return !a_named && b_named;
}

/* The source that has the next event; `nr`: none has. */
static unsigned int choose(const struct source *sources, unsigned int nr)
{
	unsigned int first = nr;

	for (unsigned int i = 0; i < nr; i++)
		if (sources[i].more && (first == nr || is_before(&sources[i], &sources[first])))
			first = i;
	return first;
}

static bool print(struct report *r, struct source *source, uint64_t *last_ts)
{
	r->printer.last_ts = *last_ts;
	if (event_print(&r->printer, &source->event)) {
		r->lines.write_error = ENOMEM;
		return false;
	}
	*last_ts = r->printer.last_ts;
	show_event(stdout, &r->printer, r->lines.escapes);
	putchar('\n');
	return report_written(r);
}

static void advance(struct source *source)
{
	source->more = report_walk_next(&source->walk, &source->event, &source->record);
}

/* Print the events. Failed writes are noted in the first report, which the command examines. */
static void print_events(struct report *all, struct source *sources, unsigned int nr, uint64_t head)
{
	uint64_t printed = 0, last_ts = 0;

	for (;;) {
		const unsigned int i = choose(sources, nr);

		if (i == nr || (head && printed++ == head))
			return;
		if (!print(&all[i], &sources[i], &last_ts)) {
			all[0].lines.write_error = all[i].lines.write_error;
			return;
		}
		advance(&sources[i]);
	}
}

int report_several(struct report *all, unsigned int nr, uint64_t head)
{
	struct source *sources = calloc(nr, sizeof(*sources));
	unsigned int opened = 0;
	int status = sources ? 0 : report_fail_memory(all);

	if (!status && !print_heads(all, nr)) {
		free(sources);
		return 0;
	}
	while (!status && opened < nr) {
		status = report_walk_open(&all[opened], true, &sources[opened].walk);
		if (!status)
			advance(&sources[opened++]);
	}
	if (!status)
		print_events(all, sources, nr, head);
	for (unsigned int i = 0; i < opened; i++) {
		if (!status && !all[0].lines.write_error)
			status = report_damage(&all[i], sources[i].walk.merge);
		report_walk_close(&sources[i].walk);
	}
	free(sources);
	return status;
}
