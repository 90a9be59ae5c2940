/* SPDX-License-Identifier: MIT */
/*
 * The kernel's self-test of mapped rings (facts D4) and what else users rely on, step by step, over one API and two
 * back ends: the running kernel's ring and a lane. The meta page after each step must be the same in both, and as in
 * the table. Prints TAP.
 */
#include "map_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The meta page after a step. */
struct row {
	const char *step;
	int got; /* the last result of rec_map_get_reader() */
	uint64_t entries, overrun, read;
	uint32_t id;
	uint64_t events; /* handed over by the step */
	uint64_t lost;	 /* reported by the step */
};

#define ROWS_MAX 16

struct table {
	struct row row[ROWS_MAX];
	unsigned int nr;
};

static uint64_t count(const struct rec_page *page)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t events = 0;

	rec_page_iter_init(&iter, page->data, page->size);
	while (rec_page_next(&iter, &record) == 1)
		events += record.offset >= page->from;
	return events;
}

/* Whether the page's header agrees with the call. */
static bool page_agrees(const struct back *back, const struct rec_page *page)
{
	const struct rec_meta *meta = rec_map_meta(back->map);
	const uint64_t lost = rec_page_lost(page->data, meta->subbuf_size - REC_SUBBUF_HEADER_SIZE);

	return page->data == rec_map_page(back->map, meta->reader_id) && page->size == meta->reader_read &&
	       rec_page_size(page->data) == page->size && count(page) == page->entries &&
	       (page->from || lost == page->lost);
}

static void get(struct back *back, struct row *row)
{
	struct rec_page page;

	row->got = rec_map_get_reader(back->map, &page);
	if (row->got != 1)
		return;
	if (!page_agrees(back, &page))
		check(false, back->name, "the page agrees with the meta page");
	row->events += page.entries;
	row->lost += page.lost;
}

static void enter(struct table *table, const struct back *back, struct row row)
{
	const struct rec_meta *meta = rec_map_meta(back->map);

	row.entries = meta->entries;
	row.overrun = meta->overrun;
	row.read = meta->read;
	row.id = meta->reader_id;
	table->row[table->nr++] = row;
}

static void step(struct table *table, struct back *back, const char *name, unsigned int events)
{
	struct row row = { .step = name };

	back_write(back, events);
	get(back, &row);
	enter(table, back, row);
}

/* Read until there is nothing more. */
static void step_all(struct table *table, struct back *back, const char *name)
{
	struct row row = { .step = name };

	do
		get(back, &row);
	while (row.got == 1);
	row.id = 0;
	enter(table, back, row);
	/* Which sub-buffer is the reader page depends on how many events fit. */
	table->row[table->nr - 1].id = 0;
}

static void make_table(struct table *table, struct back *back)
{
	const struct rec_meta *meta = rec_map_meta(back->map);
	const unsigned int fill = 4 * RING_SIZE / EVENT_SIZE;

	table->nr = 0;
	enter(table, back, (struct row){ .step = "mapped" });
	step(table, back, "nothing written", 0);
	step(table, back, "16 events", 16);
	step(table, back, "the same again", 0);
	back_write(back, 2);
	enter(table, back, (struct row){ .step = "2 more, not asked for" });
	step(table, back, "asked for", 0);
	back_write(back, fill);
	step_all(table, back, "wrapped four times");
	check(table->row[table->nr - 1].lost == meta->overrun && meta->overrun > fill / 2, back->name,
	      "the pages report what was overwritten");
	check(table->row[table->nr - 1].events + 18 + meta->overrun == meta->entries, back->name,
	      "nothing is unaccounted for");
	back->clear(back);
	step(table, back, "cleared", 0);
	table->row[table->nr - 1].id = 0;
	step_all(table, back, "nothing after clearing");
	back_write(back, 3);
	step_all(table, back, "3 events after clearing");
}

static bool same_row(const struct row *a, const struct row *b, bool exact)
{
	/* How many events fit into a sub-buffer depends on what is between them. */
	return a->got == b->got && a->id == b->id &&
	       (!exact || (a->entries == b->entries && a->overrun == b->overrun && a->read == b->read &&
			   a->events == b->events && a->lost == b->lost));
}

static void print_row(const char *name, const struct row *row)
{
	printf("# %-24s %-8s got %d entries %" PRIu64 " overrun %" PRIu64 " read %" PRIu64 " id %u events %" PRIu64
	       " lost %" PRIu64 "\n",
	       row->step, name, row->got, row->entries, row->overrun, row->read, row->id, row->events, row->lost);
}

static void compare(const struct table *kernel, const struct table *lane)
{
	unsigned int i;

	for (i = 0; i < kernel->nr; i++) {
		const struct row *a = &kernel->row[i], *b = &lane->row[i];
		const bool exact = strcmp(a->step, "wrapped four times") != 0;

		print_row("kernel", a);
		print_row("lane", b);
		check(same_row(a, b, exact), "both", a->step);
	}
}

/* The figures of the kernel's self-test. */
static void check_selftest(const struct back *back, const struct table *table)
{
	const struct row *empty = &table->row[1], *some = &table->row[2], *again = &table->row[3];

	check(!empty->entries && !empty->overrun && !empty->read && !empty->id && empty->got == 0, back->name,
	      "all is 0 where nothing was written");
	check(some->got == 1 && some->entries == 16 && !some->overrun && some->read == 16 && some->id == 1, back->name,
	      "16 events: entries 16, overrun 0, read 16, id 1");
	check(again->got == 0 && again->entries == 16 && again->read == 16 && again->id == 1, back->name,
	      "asked again, the same");
}

/* ------------------------------------------------------------------------------------------ what a reader relies on */

static void check_page_stands(struct back *back)
{
	const struct rec_meta *meta = rec_map_meta(back->map);
	struct rec_page page = { 0 };
	uint64_t sum;

	/* Take a page that the writer has left. */
	back_write(back, RING_SIZE / EVENT_SIZE);
	must(rec_map_get_reader(back->map, &page) == 1, "no page");
	sum = sum_of(page.data, meta->subbuf_size);
	back_write(back, 1000 * (RING_SIZE / EVENT_SIZE));
	check(sum_of(page.data, meta->subbuf_size) == sum, back->name,
	      "a page is unchanged while the ring wraps 1000 times");
}

static void check_wait(struct back *back)
{
	struct row row = { .step = "" };

	do
		get(back, &row);
	while (row.got == 1);
	check(rec_map_wait(back->map, 0, 0) == 0, back->name, "nothing to wait for");
	back->write(back);
	check(rec_map_wait(back->map, 50, 0) == 0, back->name, "an event is not half a ring");
	check(rec_map_wait(back->map, 0, 0) == 1, back->name, "but one event");
	back_write(back, RING_SIZE / EVENT_SIZE);
	check(rec_map_wait(back->map, 50, 0) == 1, back->name, "a full ring has more than half");
	check(rec_map_wait(back->map, 101, 0) == -EINVAL, back->name, "101 per cent are refused");
}

static void run(struct back *back, uint32_t subbuf_size, struct table *table)
{
	back->open(back, subbuf_size);
	check(rec_map_meta(back->map)->subbuf_size == subbuf_size, back->name, "the sub-buffers' size");
	make_table(table, back);
	check_selftest(back, table);
	check_mapping(back);
	check_wait(back);
	check_page_stands(back);
	check_rules(back);
	back->close(back);
}

/* Where the kernel cannot map, the same calls give the same events and losses, in copied pages. */
static void run_copied(const struct back *kernel)
{
	struct back copy = *kernel;
	struct table table;

	copy.name = "copies";
	copy.flags = REC_MAP_COPY;
	copy.open(&copy, 4096);
	check(rec_map_is_copy(copy.map), copy.name, "they are");
	make_table(&table, &copy);
	check(table.row[2].got == 1 && table.row[2].entries == 16 && table.row[2].read == 16, copy.name, "16 events");
	check(table.row[3].got == 0, copy.name, "asked again, nothing");
	check(table.row[5].events == 2, copy.name, "2 more");
	check_wait(&copy);
	copy.close(&copy);
}

int main(void)
{
	static const uint32_t sizes[] = { 4096, 8192 };
	struct table of_kernel, of_lane;
	struct back kernel, lane;
	const char *reason;
	char name[64];
	unsigned int i;

	back_kernel(&kernel);
	back_lane(&lane);
	snprintf(name, sizeof(name), "recorder-test-map-%d", (int)getpid());
	reason = tracefs_open(&kernel.fs, name);
	if (reason) {
		printf("1..0 # SKIP %s\n", reason);
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	kernel.cpu = tracefs_pin();
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		printf("# sub-buffers of %u bytes\n", sizes[i]);
		run(&kernel, sizes[i], &of_kernel);
		run(&lane, sizes[i], &of_lane);
		compare(&of_kernel, &of_lane);
	}
	run_copied(&kernel);
	check(tracefs_close(&kernel.fs), "kernel", "the instance is gone");
	printf("1..%u\n", checks);
	return good ? 0 : 1;
}
