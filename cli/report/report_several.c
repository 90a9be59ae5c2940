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
#include "cli/common/heap.h"
#include "cli/common/show_text.h"

struct source {
	struct report_walk walk;
	struct dat_event event; /* the next event */
	struct tep_record record;
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
 * Whether the event of `a` comes before that of `b`. Buffers with a name come after the nameless buffers of all files;
 * then the order is that of the files.
 */
static bool is_before(const void *arg, const void *one, const void *other)
{
	const struct source *a = one, *b = other;
	const bool a_named = a->event.buffer->name[0], b_named = b->event.buffer->name[0];

	(void)arg;
	if (a->event.ts != b->event.ts)
		return a->event.ts < b->event.ts;
	return a_named != b_named ? b_named : a < b; /* both point into one array */
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

static bool advance(struct source *source)
{
	return report_walk_next(&source->walk, &source->event, &source->record);
}

/* Read the first event of each source. The heap gets those that have one. False: out of memory. */
static bool fill_heap(struct source *sources, unsigned int nr, struct heap *heap)
{
	heap->items = calloc(nr, sizeof(*heap->items));
	if (!heap->items)
		return false;
	for (unsigned int i = 0; i < nr; i++) {
		if (advance(&sources[i]))
			heap->items[heap->nr++] = &sources[i];
	}
	heap_order(heap);
	return true;
}

/* Print the events. Failed writes are noted in the first report, which the command examines. */
static void print_events(struct report *all, struct source *sources, struct heap *heap, uint64_t head)
{
	uint64_t printed = 0, last_ts = 0;

	while (heap->nr && !(head && printed++ == head)) {
		struct source *next = heap->items[0];
		struct report *r = &all[next - sources];

		if (!print(r, next, &last_ts)) {
			all[0].lines.write_error = r->lines.write_error;
			return;
		}
		heap_advance(heap, !advance(next));
	}
}

int report_several(struct report *all, unsigned int nr, uint64_t head)
{
	struct source *sources = calloc(nr, sizeof(*sources));
	struct heap heap = { .is_before = is_before };
	unsigned int opened = 0;
	int status = sources ? 0 : report_fail_memory(all);

	if (!status && !print_heads(all, nr)) {
		free(sources);
		return 0;
	}
	while (!status && opened < nr) {
		status = report_walk_open(&all[opened], true, &sources[opened].walk);
		opened += !status;
	}
	if (!status && !fill_heap(sources, nr, &heap))
		status = report_fail_memory(all);
	if (!status)
		print_events(all, sources, &heap, head);
	for (unsigned int i = 0; i < opened; i++) {
		if (!status && !all[0].lines.write_error)
			status = report_damage(&all[i], sources[i].walk.merge);
		report_walk_close(&sources[i].walk);
	}
	free(heap.items);
	free(sources);
	return status;
}
