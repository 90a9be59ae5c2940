/* SPDX-License-Identifier: MIT */
/*
 * gallery: writes a page with every kind of row to standard output, and its items as text to standard error, a line for
 * each: "KIND ROW BEGIN END NAME-OR-VALUE". tests/view/gallery.py compares the two.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/view/view_page.h"
#include "format/view/view_write.h"

#define LENGTH UINT64_C(10000000) /* ns */

static struct view_trace trace;

static uint32_t add_row(enum view_row_kind kind, uint64_t id, uint32_t parent, const char *name)
{
	bool is_new;
	const uint32_t row = view_row(&trace, kind, id, parent, &is_new);

	trace.rows[row].name = view_string(&trace, name);
	return row;
}

static void add_span(uint32_t row, unsigned int depth, uint64_t begin, uint64_t end, const char *name,
		     unsigned int flags)
{
	const struct view_item item = { .begin = trace.begin + begin,
					.end = trace.begin + end,
					.name = view_string(&trace, name),
					.event = VIEW_NO_EVENT,
					.flags = (uint16_t)flags };

	view_add(&trace, row, VIEW_SPANS, depth, &item);
	fprintf(stderr, "spans %s %" PRIu64 " %" PRIu64 " %s\n", trace.strings[trace.rows[row].name], begin, end, name);
}

static void add_value(uint32_t row, uint64_t begin, int64_t value)
{
	struct view_item item = { .begin = trace.begin + begin, .end = trace.begin + begin, .event = VIEW_NO_EVENT };

	item.low = item.high = value;
	view_add(&trace, row, VIEW_VALUES, 0, &item);
	fprintf(stderr, "values %s %" PRIu64 " - %" PRId64 "\n", trace.strings[trace.rows[row].name], begin, value);
}

static void add_arrow(enum view_arrow_kind kind, uint32_t from_row, uint64_t from, uint32_t to_row, uint64_t to)
{
	view_add_arrow(&trace, &(struct view_arrow){ .from = trace.begin + from,
						     .to = trace.begin + to,
						     .from_row = from_row,
						     .to_row = to_row,
						     .kind = kind });
	fprintf(stderr, "arrow %s %" PRIu64 " %" PRIu64 " %s\n", trace.strings[trace.rows[from_row].name], from, to,
		trace.strings[trace.rows[to_row].name]);
}

/* More rows than a table shows at once. */
static void fill_many(void)
{
	const uint32_t group = add_row(VIEW_GROUP, 6, VIEW_NO_ROW, "Other threads");
	char name[32];

	for (uint64_t i = 0; i < 250; i++) {
		snprintf(name, sizeof(name), "other-%u", (unsigned int)(1000 + i));
		add_span(add_row(VIEW_THREAD, 1000 + i, group, name), 0, i * 39000, i * 39000 + 20000, name, 0);
	}
}

/* Spans that are not whole, far apart. */
static void fill_torn(uint32_t group)
{
	const uint32_t row = add_row(VIEW_THREAD, 103, group, "broken-103");
	const unsigned int flags[] = { 0, VIEW_NO_BEGIN, VIEW_NO_END, VIEW_CUT, VIEW_NO_BEGIN | VIEW_NO_END };

	for (uint64_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		add_span(row, 0, i * 2000000 + 100000, i * 2000000 + 1100000, "span", flags[i]);
}

/* Threads that work for tasks, and hand them on. */
static void fill_threads(void)
{
	const uint32_t group = add_row(VIEW_GROUP, 5, VIEW_NO_ROW, "Threads"),
		       tasks = add_row(VIEW_GROUP, 1, VIEW_NO_ROW, "Tasks");
	uint32_t threads[3], task[4];
	char name[64];

	for (uint32_t i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "fetch, task %u", i + 1);
		task[i] = add_row(VIEW_TASK, i + 1, tasks, name);
	}
	for (uint32_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "worker-%u", 100 + i);
		threads[i] = add_row(VIEW_THREAD, 100 + i, group, name);
	}
	for (uint64_t n = 0; n < 24; n++) {
		const uint64_t begin = n * 400000 + 20000, end = begin + 350000 - n * 3000;
		const uint32_t thread = (uint32_t)(n % 3);

		add_span(threads[thread], 0, begin, end, "http:request", n == 23 ? VIEW_NO_END : 0);
		add_span(threads[thread], 1, begin + 30000, begin + 120000, "db:query", 0);
		add_span(threads[thread], 1, begin + 150000, end - 20000, n % 5 ? "http:render" : "http:compress",
			 n % 7 ? 0 : VIEW_CUT);
		snprintf(name, sizeof(name), "worker-%u", 100 + thread);
		add_span(task[n % 4], 0, begin, end, name, 0);
		if (n)
			add_arrow(VIEW_FLOW, threads[(n - 1) % 3], begin - 60000, threads[thread], begin);
	}
	fill_torn(group);
}

static void fill_others(void)
{
	const uint32_t keyed = add_row(VIEW_GROUP, 2, VIEW_NO_ROW, "Spans by key"),
		       states = add_row(VIEW_GROUP, 3, VIEW_NO_ROW, "States");
	const uint32_t counters = add_row(VIEW_GROUP, 4, VIEW_NO_ROW, "Counters");
	const uint32_t rpc = add_row(VIEW_KEYED, 1, keyed, "net:rpc"),
		       heap = add_row(VIEW_COUNTER, 1, counters, "mem:heap");
	const uint32_t debt = add_row(VIEW_COUNTER, 2, counters, "mem:debt");
	static const char *const words[] = { "CLOSED", "OPENING", "OPEN" };
	char name[64];
	int64_t level = 40;

	for (uint64_t n = 0; n < 30; n++)
		add_span(rpc, 0, n * 300000, n * 300000 + 200000 + n % 4 * 300000, "net:rpc", 0);
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "conn:state %u", 17 + i);
		for (uint64_t n = 0, row = add_row(VIEW_STATE, 17 + i, states, name); n < 10; n++)
			add_span((uint32_t)row, 0, n * 1000000, n * 1000000 + 1000000, words[(n + i) % 3], 0);
	}
	for (uint64_t n = 0; n < 400; n++) {
		level += (int64_t)(n * 7919 % 23) - 11 + (n % 60 < 30 ? 3 : -3);
		level = level < 0 ? 0 : level;
		add_value(heap, n * 25000, level * 4096);
		if (n % 10 == 0)
			add_value(debt, n * 25000, -level);
	}
}

static int put_block(void *arg, const void *bytes, size_t size)
{
	view_page_block(arg, bytes, size);
	return ((struct blob *)arg)->error;
}

int main(void)
{
	struct blob page = BLOB_INIT, index = BLOB_INIT, columns = BLOB_INIT;
	const struct view_sink sink = { .block = put_block, .arg = &page, .effort = 6 };
	const struct view_head head = { .file = "gallery", .version = "0", .clock = "mono", .seconds = true };
	const struct view_texts texts = { .firsts = BLOB_INIT };
	int err;

	trace.begin = UINT64_C(1000000000000);
	trace.end = trace.begin + LENGTH;
	fill_threads();
	fill_others();
	fill_many();
	view_page_begin(&page, 0);
	err = view_finish(&trace, VIEW_ITEMS_MAX);
	if (!err)
		err = view_pack_columns(&trace, sink.effort, &index, &columns);
	if (!err)
		err = view_write_index(&trace, &head, &texts, &index, &columns, &sink);
	view_page_finish(&page);
	fwrite(page.data, 1, page.size, stdout);
	blob_free(&page);
	blob_free(&index);
	blob_free(&columns);
	view_trace_free(&trace);
	return err || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
