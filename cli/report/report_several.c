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
};

/* The sources that have an event: a binary heap, whose first one has the next event of all. */
struct queue {
	struct source **heap;
	unsigned int nr;
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
static bool is_before(const struct source *a, const struct source *b)
{
	const bool a_named = a->event.buffer->name[0], b_named = b->event.buffer->name[0];

	if (a->event.ts != b->event.ts)
		return a->event.ts < b->event.ts;
	return a_named != b_named ? b_named : a < b; /* both point into one array */
}

static void sift_down(struct queue *queue, unsigned int i)
{
	for (;;) {
		unsigned int least = i;
		struct source *moved = queue->heap[i];

		for (unsigned int child = 2 * i + 1; child < 2 * i + 3 && child < queue->nr; child++) {
			if (is_before(queue->heap[child], queue->heap[least]))
				least = child;
		}
		if (least == i)
			return;
		queue->heap[i] = queue->heap[least];
		queue->heap[least] = moved;
		i = least;
	}
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

/* Read the first event of each source. False: out of memory. */
static bool fill_queue(struct source *sources, unsigned int nr, struct queue *ret_queue)
{
	struct queue queue = { .heap = calloc(nr, sizeof(struct source *)) };

	if (!queue.heap)
		return false;
	for (unsigned int i = 0; i < nr; i++) {
		if (advance(&sources[i]))
			queue.heap[queue.nr++] = &sources[i];
	}
	for (unsigned int i = queue.nr / 2; i-- > 0;)
		sift_down(&queue, i);
	*ret_queue = queue;
	return true;
}

/* Print the events. Failed writes are noted in the first report, which the command examines. */
static void print_events(struct report *all, struct source *sources, struct queue *queue, uint64_t head)
{
	uint64_t printed = 0, last_ts = 0;

	while (queue->nr && !(head && printed++ == head)) {
		struct source *next = queue->heap[0];
		struct report *r = &all[next - sources];

		if (!print(r, next, &last_ts)) {
			all[0].lines.write_error = r->lines.write_error;
			return;
		}
		if (!advance(next))
			queue->heap[0] = queue->heap[--queue->nr];
		sift_down(queue, 0);
	}
}

int report_several(struct report *all, unsigned int nr, uint64_t head)
{
	struct source *sources = calloc(nr, sizeof(*sources));
	struct queue queue = { 0 };
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
	if (!status && !fill_queue(sources, nr, &queue))
		status = report_fail_memory(all);
	if (!status)
		print_events(all, sources, &queue, head);
	for (unsigned int i = 0; i < opened; i++) {
		if (!status && !all[0].lines.write_error)
			status = report_damage(&all[i], sources[i].walk.merge);
		report_walk_close(&sources[i].walk);
	}
	free(queue.heap);
	free(sources);
	return status;
}
