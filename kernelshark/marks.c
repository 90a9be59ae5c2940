/* SPDX-License-Identifier: MIT */
/* See marks.h. format/model finds spans and counters; this file puts them into lines and curves. */
#include "kernelshark/marks.h"

#include "format/dat/dat_compress.h"
#include "format/io/blob.h"
#include "format/io/number_map.h"
#include "format/model/model.h"
#include "format/text/event_parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct curve {
	const struct model_rule *rule;
	struct blob values; /* struct mark_value */
	struct mark_curve shown;
};

struct thread {
	int32_t tid;
	struct blob spans;  /* struct mark_span, in the order of their ends; finally line by line */
	struct blob lines;  /* struct mark_line */
	struct blob curves; /* struct curve; finally `shown` has the curves of mark_row */
	struct mark_curve *shown;
	struct mark_row row;
};

struct marks {
	struct event_table *table; /* with the rules, which own the names */
	struct model_rules *rules;
	struct thread **threads;
	size_t nr_threads, room;
	struct number_map by_tid; /* place in `threads`, plus one */
	uint64_t given_up;
	struct number_map
		by_counter; /* from a rule's pair and a process to the counter's curve: see curve_of() */
};

/* ---------------------------------------------------------------------------------------------------------- colours */

/* Eighteen hues in two brightnesses: enough for the spans of one program, and each is visible on white. */
static uint32_t color_of(const char *system, const char *name)
{
	static const uint32_t colors[] = {
		0xc0392b, 0xd35400, 0xb7950b, 0x7d8c1f, 0x3d8b37, 0x1e8449, 0x148f77, 0x117a8b, 0x21618c,
		0x2e4fa5, 0x5b3fa8, 0x7d3c98, 0x9b2d86, 0xb03060, 0x8d4a2b, 0x6e6a1e, 0x2f6f5f, 0x44546a,
		0xe67e73, 0xf0a35e, 0xe0c04a, 0xb5c44d, 0x7cc576, 0x58c98b, 0x4cc9b0, 0x4db8c9, 0x5a9fd0,
		0x7f95e0, 0x9d86e0, 0xb985d6, 0xd679c4, 0xe57ba3, 0xc58a68, 0xaeab5e, 0x74b3a0, 0x8f9db3,
	};
	uint32_t hash = 2166136261u; /* FNV-1a, 32 bits */

	for (; *system; system++)
		hash = (hash ^ (unsigned char)*system) * 16777619u;
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return colors[(hash ^ hash >> 15) % (sizeof(colors) / sizeof(colors[0]))];
}

/* ---------------------------------------------------------------------------------------------------------- threads */

static struct thread *thread_of(struct marks *m, int32_t tid)
{
	const uint64_t known = number_map_get(&m->by_tid, (uint32_t)tid);
	struct thread *thread;

	if (known)
		return m->threads[known - 1];
	if (m->nr_threads == m->room) {
		const size_t room = m->room ? 2 * m->room : 64;
		struct thread **more = reallocarray(m->threads, room, sizeof(struct thread *));

		if (!more)
			return NULL;
		m->threads = more;
		m->room = room;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread || number_map_set(&m->by_tid, (uint32_t)tid, m->nr_threads + 1)) {
		free(thread);
		return NULL;
	}
	thread->tid = tid;
	m->threads[m->nr_threads++] = thread;
	return thread;
}

/* --------------------------------------------------------------------------------------------------------- the sink */

/* Interrupts and requests of devices belong to no thread, and are left out. */
static int take_span(void *arg, const struct model_span *span)
{
	const struct model_rule *rule = span->rule;
	const struct mark_span mark = {
		.begin = (int64_t)span->begin,
		.end = (int64_t)span->end,
		.system = rule->system,
		.name = span->name,
		.color = color_of(rule->system, span->name),
		.state = model_span_state(span),
	};
	struct thread *thread;

	if (rule->is_of_cpu || (rule->is_kernel && rule->is_keyed))
		return 0;
	thread = thread_of(arg, span->tid);
	if (!thread)
		return -ENOMEM;
	blob_put(&thread->spans, &mark, sizeof(mark));
	return thread->spans.error;
}

static struct curve *curves_of(const struct thread *thread, size_t *ret_nr)
{
	*ret_nr = thread->curves.size / sizeof(struct curve);
	return (struct curve *)(void *)thread->curves.data;
}

/*
 * The map's value combines the place of the thread in `threads` and that of the curve in the thread's curves, both plus
 * one.
 */
static struct curve *curve_of(struct marks *m, const struct model_counter *counter)
{
	const int32_t known = event_process(m->table, counter->tid), process = known > 0 ? known : counter->tid;
	const uint64_t key = (uint64_t)counter->rule->pair << 32 | (uint32_t)process;
	const uint64_t places = number_map_get(&m->by_counter, key);
	struct curve *curve;
	struct thread *thread;
	size_t nr;

	if (places)
		return curves_of(m->threads[(places >> 32) - 1], &nr) + (uint32_t)places - 1;
	thread = thread_of(m, counter->tid);
	curve = thread ? blob_room(&thread->curves, sizeof(*curve)) : NULL;
	if (!curve)
		return NULL;
	*curve = (struct curve){ .rule = counter->rule };
	curves_of(thread, &nr);
	if (number_map_set(&m->by_counter, key, number_map_get(&m->by_tid, (uint32_t)counter->tid) << 32 | nr))
		return NULL;
	return curve;
}

static int take_counter(void *arg, const struct model_counter *counter)
{
	const struct mark_value value = { (int64_t)counter->ts, counter->value };
	struct curve *curve = curve_of(arg, counter);

	if (!curve)
		return -ENOMEM;
	blob_put(&curve->values, &value, sizeof(value));
	return curve->values.error;
}

/* ------------------------------------------------------------------------------------------------------------ lines */

/* Sorts outer spans before inner ones. */
static int by_begin(const void *a, const void *b)
{
	const struct mark_span *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end == y->end ? 0 : x->end > y->end ? -1 : 1;
}

/* The first line that is free at `begin`; lines end at `ends`. */
static size_t free_line(const struct blob *ends, int64_t begin)
{
	const int64_t *end = (const int64_t *)(const void *)ends->data;
	const size_t nr = ends->size / sizeof(*end);
	size_t line = 0;

	while (line < nr && end[line] > begin)
		line++;
	return line;
}

/* Assign a line to each span, and count the spans of each line. */
static int choose_lines(const struct mark_span *spans, size_t nr, uint32_t *lines, struct blob *counts)
{
	struct blob ends = BLOB_INIT;
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		const size_t line = free_line(&ends, spans[i].begin), none = 0;

		if (line * sizeof(int64_t) == ends.size) {
			blob_put(&ends, &spans[i].end, sizeof(int64_t));
			blob_put(counts, &none, sizeof(none));
			err = ends.error ? ends.error : counts->error;
			if (err)
				break;
		}
		((int64_t *)(void *)ends.data)[line] = spans[i].end;
		((size_t *)(void *)counts->data)[line]++;
		lines[i] = (uint32_t)line;
	}
	blob_free(&ends);
	return err;
}

static int fill_lines(struct thread *thread, const struct mark_span *spans, size_t nr, const uint32_t *lines,
		      const struct blob *counts)
{
	const size_t nr_lines = counts->size / sizeof(size_t), *count = (const size_t *)(const void *)counts->data;
	struct mark_span *sorted = calloc(nr, sizeof(*sorted));
	struct mark_line *line = blob_room(&thread->lines, nr_lines * sizeof(*line));
	struct mark_span *at = sorted;

	if (!sorted || !line) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr_lines; i++, at += count[i - 1])
		line[i] = (struct mark_line){ .spans = at };
	for (size_t i = 0; i < nr; i++)
		sorted[(size_t)(line[lines[i]].spans - sorted) + line[lines[i]].nr++] = spans[i];
	blob_free(&thread->spans);
	thread->spans = (struct blob){ .data = (unsigned char *)sorted, .size = nr * sizeof(*sorted) };
	thread->row.lines = line;
	thread->row.nr_lines = nr_lines;
	return 0;
}

static int make_lines(struct thread *thread)
{
	struct mark_span *spans = (struct mark_span *)(void *)thread->spans.data;
	const size_t nr = thread->spans.size / sizeof(*spans);
	struct blob counts = BLOB_INIT;
	uint32_t *lines;
	int err;

	if (!nr)
		return 0;
	lines = calloc(nr, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	qsort(spans, nr, sizeof(*spans), by_begin);
	err = choose_lines(spans, nr, lines, &counts);
	if (!err)
		err = fill_lines(thread, spans, nr, lines, &counts);
	blob_free(&counts);
	free(lines);
	return err;
}

static int make_curves(struct thread *thread)
{
	size_t nr;
	const struct curve *curve = curves_of(thread, &nr);

	thread->shown = nr ? calloc(nr, sizeof(*thread->shown)) : NULL;
	if (nr && !thread->shown)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct mark_value *values = (const struct mark_value *)(const void *)curve[i].values.data;
		struct mark_curve *shown = &thread->shown[i];

		*shown = (struct mark_curve){
			.system = curve[i].rule->system,
			.name = curve[i].rule->name,
			.values = values,
			.nr = curve[i].values.size / sizeof(*values),
			.least = INT64_MAX,
			.most = INT64_MIN,
			.color = color_of(curve[i].rule->system, curve[i].rule->name),
		};
		for (size_t k = 0; k < shown->nr; k++) {
			shown->least = values[k].value < shown->least ? values[k].value : shown->least;
			shown->most = values[k].value > shown->most ? values[k].value : shown->most;
		}
	}
	thread->row.curves = thread->shown;
	thread->row.nr_curves = nr;
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- the file */

static int take_events(struct marks *m, struct dat_merge *merge)
{
	const struct model_sink sink = {
		.arg = m, .span = take_span, .counter = take_counter, .given_up = &m->given_up
	};
	struct model *model = NULL;
	struct dat_event event;
	int err = model_open(m->rules, &sink, &model);

	while (!err && dat_merge_next(merge, &event))
		err = model_event(model, &event);
	if (!err)
		err = model_end(model);
	model_close(model);
	for (size_t i = 0; !err && i < m->nr_threads; i++) {
		err = make_lines(m->threads[i]);
		if (!err)
			err = make_curves(m->threads[i]);
	}
	return err;
}

static int read_file(struct marks *m, const struct dat_file *file, struct dat_error *error)
{
	struct dat_merge *merge = NULL;
	struct dat_time time;
	int err = dat_time_open(file, 0, &time, error);

	if (err)
		return err;
	/* No event is printed here, so plugins are not needed; KernelShark loads its own. */
	err = event_table_open(file, EVENT_NO_PLUGINS, &m->table);
	if (!err)
		err = model_rules_open(m->table, &m->rules);
	if (!err)
		err = dat_merge_open(file, &time, NULL, NULL, &merge);
	if (!err)
		err = take_events(m, merge);
	dat_merge_close(merge);
	dat_time_close(&time);
	return err;
}

int marks_open(const char *path, struct marks **ret_marks, char error[MARKS_ERROR])
{
	struct marks *m = calloc(1, sizeof(*m));
	struct dat_file *file = NULL;
	struct dat_error why = { 0 };
	int err = m ? dat_open_rest(path, dat_compress_zstd(), &file, &why) : -ENOMEM;

	if (!err)
		err = read_file(m, file, &why);
	if (file)
		dat_close(file);
	if (err) {
		snprintf(error, MARKS_ERROR, "%s", why.text[0] ? why.text : strerror(-err));
		marks_close(m);
		return err;
	}
	*ret_marks = m;
	return 0;
}

struct marks *marks_close(struct marks *marks)
{
	if (!marks)
		return NULL;
	for (size_t i = 0; i < marks->nr_threads; i++) {
		struct thread *thread = marks->threads[i];
		size_t nr;
		struct curve *curve = curves_of(thread, &nr);

		for (; nr; nr--, curve++)
			blob_free(&curve->values);
		blob_free(&thread->curves);
		blob_free(&thread->lines);
		blob_free(&thread->spans);
		free(thread->shown);
		free(thread);
	}
	free(marks->threads);
	number_map_free(&marks->by_tid);
	number_map_free(&marks->by_counter);
	model_rules_close(marks->rules);
	event_table_close(marks->table);
	free(marks);
	return NULL;
}

uint64_t marks_given_up(const struct marks *marks)
{
	return marks->given_up;
}

const struct mark_row *marks_row(const struct marks *marks, int32_t tid)
{
	const uint64_t known = number_map_get(&marks->by_tid, (uint32_t)tid);

	return known ? &marks->threads[known - 1]->row : NULL;
}

int marks_next(const struct marks *marks, size_t number, int32_t *ret_tid)
{
	if (number >= marks->nr_threads)
		return 0;
	*ret_tid = marks->threads[number]->tid;
	return 1;
}
