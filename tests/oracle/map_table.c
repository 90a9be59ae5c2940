/* SPDX-License-Identifier: MIT */
/*
 * The kernel's self-test of mapped rings (facts D4) and what else users rely on, step by step, over one API and two back
 * ends: the running kernel's ring and a lane. What each step leaves in the meta page must be the same in both, and what
 * the table says. Speaks TAP.
 */
#include "kernel_tracefs.h"

#include "librecorder/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <librecorder/event.h>
#include <librecorder/map.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* So long that a full sub-buffer of either ring has room for the number lost. */
#define EVENT_SIZE 72u
#define RING_SIZE  (64u * 1024u)

struct back {
	const char *name;
	void (*open)(struct back *back, uint32_t subbuf_size);
	void (*write)(struct back *back);
	void (*clear)(struct back *back);
	int (*resize)(struct back *back); /* while it is mapped */
	void (*close)(struct back *back);
	struct rec_map *map;
	/* the kernel's */
	unsigned int flags;
	struct tracefs fs;
	int cpu, marker;
	/* the lane's */
	struct rec_view *view;
	unsigned int lane;
};

static unsigned int checks;
static bool good = true;

static void check(bool is, const char *back, const char *what)
{
	printf("%sok %u - %s: %s\n", is ? "" : "not ", ++checks, back, what);
	good = good && is;
}

static void must(bool is, const char *what)
{
	if (is)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

/* --------------------------------------------------------------------------------------------------- the kernel */

static void set(const struct back *back, const char *file, const char *value)
{
	errno = -tracefs_set(&back->fs, file, value);
	must(errno == 0, file);
}

static void open_kernel(struct back *back, uint32_t subbuf_size)
{
	char text[128];

	set(back, "tracing_on", "0");
	snprintf(text, sizeof(text), "%u", subbuf_size / 1024);
	set(back, "buffer_subbuf_size_kb", text);
	snprintf(text, sizeof(text), "%u", RING_SIZE / 1024);
	set(back, "buffer_size_kb", text);
	set(back, "trace", "");
	back->marker = tracefs_fd(&back->fs, O_WRONLY, "trace_marker_raw");
	must(back->marker >= 0, "trace_marker_raw");
	snprintf(text, sizeof(text), "%s/instances/%s", back->fs.root, back->fs.name);
	errno = -rec_map_kernel(text, (unsigned int)back->cpu, back->flags, &back->map);
	must(errno == 0, text);
	set(back, "tracing_on", "1");
}

static void write_kernel(struct back *back)
{
	char bytes[EVENT_SIZE - 8] = "";

	must(write(back->marker, bytes, sizeof(bytes)) == sizeof(bytes), "write");
}

static void clear_kernel(struct back *back)
{
	set(back, "trace", "");
}

static int resize_kernel(struct back *back)
{
	return tracefs_set(&back->fs, "buffer_size_kb", "128");
}

static void close_kernel(struct back *back)
{
	back->map = rec_map_close(back->map);
	close(back->marker);
}

/* ------------------------------------------------------------------------------------------------------- a lane */

static void open_lane(struct back *back, uint32_t subbuf_size)
{
	struct rec_options options = REC_OPTIONS_INIT;

	options.lane_size = RING_SIZE;
	options.lane_max = 4 * RING_SIZE;
	if (rec_thread_lane(&back->lane) < 0) {
		must(rec_configure(&options) == 0, "rec_configure");
		must(rec_thread_attach() == 0, "rec_thread_attach");
		must(rec_thread_lane(&back->lane) == 0, "rec_thread_lane");
	}
	must(rec_subbuf_resize(subbuf_size) == 0, "rec_subbuf_resize");
	errno = -rec_view_open(rec_process.path, &back->view);
	must(errno == 0, rec_process.path);
	/* What the run before left there counts no more. */
	must(rec_view_reset(back->view, back->lane) == 0, "rec_view_reset");
	errno = -rec_map_lane(back->view, back->lane, &back->map);
	must(errno == 0, "rec_map_lane");
}

static void write_lane(struct back *back)
{
	struct rec_event_common event[EVENT_SIZE / sizeof(struct rec_event_common)] = { { .type = REC_EVENT_ID_FIRST } };

	(void)back;
	must(rec_write(rec_thread_handle, event, sizeof(event)) == 0, "rec_write");
}

static void clear_lane(struct back *back)
{
	must(rec_view_reset(back->view, back->lane) == 0, "rec_view_reset");
}

static int resize_lane(struct back *back)
{
	return rec_lane_resize(back->lane, 2 * RING_SIZE);
}

static void close_lane(struct back *back)
{
	back->map = rec_map_close(back->map);
	back->view = rec_view_close(back->view);
}

/* ------------------------------------------------------------------------------------------------------ the table */

/* What a step leaves in the meta page. */
struct row {
	const char *step;
	int got; /* what rec_map_get_reader() returned last */
	uint64_t entries, overrun, read;
	uint32_t id;
	uint64_t events; /* handed over by the step */
	uint64_t lost;	 /* told by the step */
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

/* Whether the page itself says what the call said. */
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
		check(false, back->name, "the page is what the meta page says");
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

static void write_some(struct back *back, unsigned int nr)
{
	while (nr--)
		back->write(back);
}

static void step(struct table *table, struct back *back, const char *name, unsigned int events)
{
	struct row row = { .step = name };

	write_some(back, events);
	get(back, &row);
	enter(table, back, row);
}

/* Until there is nothing more. */
static void step_all(struct table *table, struct back *back, const char *name)
{
	struct row row = { .step = name };

	do
		get(back, &row);
	while (row.got == 1);
	row.id = 0;
	enter(table, back, row);
	/* Which one it is depends on how many events fit. */
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
	write_some(back, 2);
	enter(table, back, (struct row){ .step = "2 more, not asked for" });
	step(table, back, "asked for", 0);
	write_some(back, fill);
	step_all(table, back, "wrapped four times");
	check(table->row[table->nr - 1].lost == meta->overrun && meta->overrun > fill / 2, back->name,
	      "the pages tell what was overwritten");
	check(table->row[table->nr - 1].events + 18 + meta->overrun == meta->entries, back->name, "nothing is unaccounted for");
	back->clear(back);
	step(table, back, "cleared", 0);
	table->row[table->nr - 1].id = 0;
	step_all(table, back, "nothing after clearing");
	write_some(back, 3);
	step_all(table, back, "3 events after clearing");
}

static bool same_row(const struct row *a, const struct row *b, bool exact)
{
	/* How many events fit into a sub-buffer differs by what stands between them. */
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

/* ------------------------------------------------------------------------------------------------------- mapping */

static uint64_t sum_of(const void *page, uint32_t size)
{
	const unsigned char *at = page;
	uint64_t sum = 0;

	while (size--)
		sum = sum * 31 + *at++;
	return sum;
}

static void check_page_stands(struct back *back)
{
	const struct rec_meta *meta = rec_map_meta(back->map);
	struct rec_page page = { 0 };
	uint64_t sum;

	/* One that the writer has left. */
	write_some(back, RING_SIZE / EVENT_SIZE);
	must(rec_map_get_reader(back->map, &page) == 1, "no page");
	sum = sum_of(page.data, meta->subbuf_size);
	write_some(back, 1000 * (RING_SIZE / EVENT_SIZE));
	check(sum_of(page.data, meta->subbuf_size) == sum, back->name, "a page stands while the ring goes round 1000 times");
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
	write_some(back, RING_SIZE / EVENT_SIZE);
	check(rec_map_wait(back->map, 50, 0) == 1, back->name, "a full ring is more than half");
	check(rec_map_wait(back->map, 101, 0) == -EINVAL, back->name, "101 per cent are refused");
}

/* What a child can still read of it: 0 where it has no such memory. */
static int child_sees(const void *at)
{
	unsigned char there = 0;
	int status = 0;
	/* Without the handlers of fork(): the library's would map the child's buffer, perhaps just there. */
	pid_t child = _Fork();

	if (child == 0)
		_exit(mincore((void *)(uintptr_t)at, 1, &there) < 0 && errno == ENOMEM ? 0 : 1);
	waitpid(child, &status, 0);
	return status;
}

static void check_mapping(struct back *back)
{
	const struct rec_meta *meta = rec_map_meta(back->map);
	unsigned char *page = (unsigned char *)(uintptr_t)rec_map_page(back->map, 1);

	check(meta->meta_struct_len == 80 && meta->meta_page_size == meta->subbuf_size, back->name, "the meta page has its sizes");
	check(page == (const unsigned char *)meta + meta->meta_page_size + meta->subbuf_size, back->name,
	      "sub-buffers stand behind it by number");
	check(!rec_map_page(back->map, meta->nr_subbufs) && rec_map_page(back->map, meta->nr_subbufs - 1), back->name,
	      "and are as many as it says");
	check(child_sees(meta) == 0, back->name, "a child has no part in it");
	check(!rec_map_is_copy(back->map), back->name, "it is no copy");
}

/* The kernel's own mapping once more, otherwise. 0 or -errno. */
static int map_raw(struct back *back, int mode, int prot, int sharing, size_t offset, size_t size)
{
	const int fd = tracefs_cpu_fd(&back->fs, back->cpu, mode, "trace_pipe_raw");
	void *at = mmap(NULL, size, prot, sharing, fd, (off_t)offset);
	const int r = at == MAP_FAILED ? -errno : 0;

	if (r == 0)
		munmap(at, size);
	close(fd);
	return r;
}

static size_t size_of(const struct back *back)
{
	const struct rec_meta *meta = rec_map_meta(back->map);

	return meta->meta_page_size + (size_t)meta->nr_subbufs * meta->subbuf_size;
}

static int map_private(struct back *back)
{
	return map_raw(back, O_RDONLY, PROT_READ, MAP_PRIVATE, 0, size_of(back));
}

static int map_to_write(struct back *back)
{
	return map_raw(back, O_RDONLY, PROT_READ | PROT_WRITE, MAP_SHARED, 0, size_of(back));
}

static int map_to_execute(struct back *back)
{
	return map_raw(back, O_RDONLY, PROT_READ | PROT_EXEC, MAP_SHARED, 0, size_of(back));
}

static int map_beyond(struct back *back)
{
	return map_raw(back, O_RDONLY, PROT_READ, MAP_SHARED, 0, size_of(back) + rec_map_meta(back->map)->subbuf_size);
}

static int map_again(struct back *back)
{
	return map_raw(back, O_RDONLY, PROT_READ, MAP_SHARED, 0, size_of(back));
}

/* One that is not the reader's. */
static unsigned char *some_page(const struct back *back)
{
	return (unsigned char *)(uintptr_t)rec_map_page(back->map, rec_map_meta(back->map)->reader_id == 2 ? 3 : 2);
}

/* It can be this process's own copy only: what the ring has shows again once that is dropped. */
static int make_writable(struct back *back)
{
	unsigned char *page = some_page(back);
	const uint64_t sum = sum_of(page, 4096);

	if (mprotect(page, 4096, PROT_READ | PROT_WRITE) < 0)
		return -errno;
	page[100] ^= 1;
	if (mprotect(page, 4096, PROT_READ) < 0 || sum_of(page, 4096) == sum || madvise(page, 4096, MADV_DONTNEED) < 0)
		return -EPROTO;
	return sum_of(page, 4096) == sum ? 0 : -EPROTO;
}

static int grow_mapping(struct back *back)
{
	const size_t size = size_of(back);
	void *at = (void *)(uintptr_t)rec_map_meta(back->map);

	return mremap(at, size, size + 4096, MREMAP_MAYMOVE) == MAP_FAILED ? -errno : 0;
}

static int read_beside(struct back *back)
{
	unsigned char page[8192];
	const int fd = tracefs_cpu_fd(&back->fs, back->cpu, O_RDONLY | O_NONBLOCK, "trace_pipe_raw");
	int r;

	back->write(back);
	r = read(fd, page, sizeof(page)) < 0 ? -errno : 0;
	close(fd);
	return r;
}

/* Another view; the map goes on. */
static int read_by_another(struct back *back)
{
	struct rec_view *other;
	struct rec_map *map;
	struct rec_page page;
	int r;

	back->write(back);
	must(rec_view_open(rec_process.path, &other) == 0, "rec_view_open");
	r = rec_map_lane(other, back->lane, &map);
	if (r == -EBUSY)
		r = rec_view_read(other, back->lane, 0, &page);
	rec_view_close(other);
	return rec_map_get_reader(back->map, NULL) == 1 ? r : -EPROTO;
}

static int resize(struct back *back)
{
	const struct rec_meta *meta = rec_map_meta(back->map);
	const unsigned char *page = some_page(back);
	const uint64_t sum = sum_of(page, 4096);
	const uint32_t nr = meta->nr_subbufs;
	const int r = back->resize(back);

	return meta->nr_subbufs == nr && sum_of(page, 4096) == sum ? r : -EPROTO;
}

static int change_subbuf_size(struct back *back)
{
	const uint32_t size = rec_map_meta(back->map)->subbuf_size;
	int r;

	if (back->view) {
		r = rec_subbuf_resize(2 * size);
		back->write(back);
		if (rec_map_get_reader(back->map, NULL) != 1)
			r = -EPROTO;
		must(rec_subbuf_resize(size) == 0, "rec_subbuf_resize");
	} else {
		r = tracefs_set(&back->fs, "buffer_subbuf_size_kb", size == 4096 ? "8" : "4");
	}
	return rec_map_meta(back->map)->subbuf_size == size ? r : -EPROTO;
}

/* Of the last sub-buffer, which the ring may have by then; so this comes last. */
static int unmap_part(struct back *back)
{
	const struct rec_meta *meta = rec_map_meta(back->map);

	return munmap((void *)(uintptr_t)rec_map_page(back->map, meta->nr_subbufs - 2), meta->subbuf_size) < 0 ? -errno : 0;
}

#define NO_SUCH_THING 1

/* Facts D2, and what rec_map_lane(3) says of lanes: what each gives, one after the other. */
static const struct rule {
	const char *what;
	int (*does)(struct back *back);
	int kernel, lane;
} rules[] = {
	{ "mapped privately", map_private, -EPERM, NO_SUCH_THING },
	{ "mapped to be written", map_to_write, -EACCES, NO_SUCH_THING },
	{ "mapped to be executed", map_to_execute, -EPERM, NO_SUCH_THING },
	{ "mapped beyond its end", map_beyond, -EINVAL, NO_SUCH_THING },
	{ "mapped once more", map_again, 0, NO_SUCH_THING },
	{ "made writable", make_writable, -EACCES, 0 },
	{ "the mapping grown", grow_mapping, -EFAULT, -EFAULT },
	{ "read by another besides", read_beside, 0, NO_SUCH_THING },
	{ "read by another besides", read_by_another, NO_SUCH_THING, -EBUSY },
	{ "resized", resize, -EBUSY, 0 },
	{ "another sub-buffer size", change_subbuf_size, -EBUSY, 0 },
	{ "a part unmapped", unmap_part, -EINVAL, 0 },
};

static void check_rules(struct back *back)
{
	char what[128];

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const int expected = back->view ? rules[i].lane : rules[i].kernel;
		int got;

		if (expected == NO_SUCH_THING)
			continue;
		got = rules[i].does(back);
		snprintf(what, sizeof(what), "%s: %s", rules[i].what, expected ? strerror(-expected) : "allowed, and nobody is harmed");
		check(got == expected, back->name, what);
		if (got != expected)
			printf("# it gave %d\n", got);
	}
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

/* Where the kernel does not map, the same calls give the same events and losses, in pages of their own. */
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
	struct back kernel = { .name = "kernel", .open = open_kernel, .write = write_kernel,
				.clear = clear_kernel, .resize = resize_kernel, .close = close_kernel };
	struct back lane = { .name = "lane", .open = open_lane, .write = write_lane,
			      .clear = clear_lane, .resize = resize_lane, .close = close_lane };
	struct table of_kernel, of_lane;
	const char *reason = tracefs_open(&kernel.fs, "recorder-map");
	unsigned int i;

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
