/* SPDX-License-Identifier: MIT */
/*
 * Measures the cost of a page for the reader of a mapped lane, while a writer writes five million events a second; and
 * for readers of the kernel's ring, by mapping, read and splice, while a writer writes to trace_marker_raw.
 * bench/README.md explains the output.
 *
 * A child writes, this process reads, each pinned to a CPU of its own. The reader wakes every five milliseconds and
 * takes all data. Its figure is its CPU time for each page of 4 KiB, including system calls: the median of five rounds.
 */
#include "bench/timing.h"
#include "bench/view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <librecorder/event.h>
#include <librecorder/map.h>
#include <librecorder/page.h>
#include <librecorder/reader.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

REC_EVENT(bench, mapped, u64(n));

#define ROUNDS	      5u
#define LANE_EVENTS   2500000u
#define LANE_PERIOD   200u /* ns: 5 million a second */
#define LANE_BATCH    100u
#define BATCH_NS_MAX  50000 /* a batch that takes longer was interrupted by another program */
#define KERNEL_EVENTS 200000u
#define PAGE	      4096u
#define PAGE_DATA     (PAGE - 16u) /* after the page's header */
#define PERIOD_US     5000u
#define WAKES	      200u
#define NR_READERS    4u

static const char instance[] = "/sys/kernel/tracing/instances/librecorder-bench-map";

struct figures {
	uint64_t bytes, lost;	  /* bytes of events that were taken, without the headers of pages */
	double ns_a_page[ROUNDS]; /* the reader's CPU time, ns for each PAGE_DATA bytes */
	double writer[ROUNDS];	  /* the writer's ns for each event while the reader reads */
};

static double ns_per_tick;

/* The CPU to which the writers are pinned; -1: they have none of their own. */
static int writer_cpu;

static void fail(const char *what)
{
	fprintf(stderr, "bench_map: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ------------------------------------------------------------------------------------------------------- writers */

/* The writer's ticks for each event, without its pauses. */
static double write_lane(void)
{
	const uint64_t begin = rec_clock_mono();
	double spent = 0, counted = 0;

	for (uint64_t n = 0; n < LANE_EVENTS; n += LANE_BATCH) {
		const uint64_t ticks = timing_ticks();
		double batch;

		for (uint64_t i = 0; i < LANE_BATCH; i++)
			REC(bench, mapped, n + i);
		batch = (double)(timing_ticks() - ticks);
		if (batch * ns_per_tick < BATCH_NS_MAX) {
			spent += batch;
			counted += LANE_BATCH;
		}
		while (rec_clock_mono() - begin < (n + LANE_BATCH) * LANE_PERIOD)
			;
	}
	return counted > 0 ? spent / counted : 0;
}

static double write_kernel(int marker)
{
	uint64_t event[3] = { 1, 2, 3 };
	const uint64_t ticks = timing_ticks();

	for (uint64_t n = 0; n < KERNEL_EVENTS; n++)
		if (write(marker, event, sizeof(event)) < 0)
			break;
	return (double)(timing_ticks() - ticks) / KERNEL_EVENTS;
}

/* The writer's process: each byte that arrives is a request to write. The answer is the number of ticks per event. */
static void serve(int socket, bool kernel)
{
	struct rec_options options = REC_OPTIONS_INIT;
	char path[sizeof(instance) + 32];
	int marker = -1;
	char question;

	options.lane_size = 1 << 20;
	timing_pin(1);
	if (kernel) {
		snprintf(path, sizeof(path), "%s/trace_marker_raw", instance);
		marker = open(path, O_WRONLY | O_CLOEXEC);
	} else if (rec_configure(&options) < 0 || rec_enable("bench:*") < 0 || rec_thread_attach() < 0) {
		_exit(1);
	}
	while (read(socket, &question, 1) == 1) {
		const double ticks = kernel ? write_kernel(marker) : write_lane();

		if (write(socket, &ticks, sizeof(ticks)) != (ssize_t)sizeof(ticks))
			_exit(1);
	}
	exit(0);
}

/* ------------------------------------------------------------------------------------------------------- readers */

struct reader {
	const char *name;
	bool kernel;
	unsigned int flags; /* flags of the map */
	bool splice;
	struct rec_view *view;
	struct rec_map *map;
	int raw, null, pipe[2];
	pid_t pid; /* the writer's pid */
	int socket;
	struct figures figures;
};

/* Counts bytes, because a call may return a part of a page: what was written since the last call. */
static void take_mapped(struct reader *reader)
{
	struct rec_page page;

	while (rec_map_get_reader(reader->map, &page) == 1) {
		reader->figures.bytes += page.size - page.from;
		reader->figures.lost += page.lost;
	}
}

/* Takes only whole pages; the last one, which is not full, stays. */
static void take_spliced(struct reader *reader)
{
	ssize_t n;

	while ((n = splice(reader->raw, NULL, reader->pipe[1], NULL, 16 * PAGE, SPLICE_F_NONBLOCK | SPLICE_F_MOVE)) >
	       0) {
		reader->figures.bytes += (uint64_t)n / PAGE * PAGE_DATA;
		while (n > 0) {
			const ssize_t out = splice(reader->pipe[0], NULL, reader->null, NULL, (size_t)n, SPLICE_F_MOVE);

			if (out <= 0)
				fail("splice");
			n -= out;
		}
	}
}

static bool has_answer(int socket)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

/* Whether the reader took anything. */
static bool run(struct reader *reader, unsigned int round)
{
	const uint64_t before = reader->figures.bytes;
	const int socket = reader->socket;
	double begin, ns, ticks, pages;

	if (write(socket, "w", 1) != 1)
		fail("the writer is gone");
	begin = timing_cpu_ns();
	do {
		if (reader->splice)
			take_spliced(reader);
		else
			take_mapped(reader);
		usleep(PERIOD_US);
	} while (!has_answer(socket));
	ns = timing_cpu_ns() - begin;
	if (read(socket, &ticks, sizeof(ticks)) != (ssize_t)sizeof(ticks))
		fail("the writer is gone");
	pages = (double)(reader->figures.bytes - before) / PAGE_DATA;
	reader->figures.ns_a_page[round] = ns / pages;
	reader->figures.writer[round] = ticks * ns_per_tick;
	return pages > 0;
}

/*
 * The number of events that the kernel's ring has lost since the instance was made. Pages are no source of it: some
 * only show that events were lost, and the reader with splice does not look at pages.
 */
static uint64_t kernel_lost(void)
{
	static const char *const names[] = { "overrun: ", "commit overrun: ", "dropped events: " };
	char path[sizeof(instance) + 64], line[128];
	uint64_t sum = 0;
	FILE *stats;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/stats", instance, writer_cpu);
	stats = fopen(path, "re");
	if (!stats)
		fail(path);
	while (fgets(line, sizeof(line), stats))
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (strncmp(line, names[i], strlen(names[i])) == 0)
				sum += strtoull(line + strlen(names[i]), NULL, 10);
	fclose(stats);
	return sum;
}

/*
 * NULL, or the reason why this is impossible here. The kernel's ring is that of the CPU to which the writer is pinned.
 */
static const char *open_reader(struct reader *reader)
{
	char path[sizeof(instance) + 64];

	if (!reader->kernel) {
		reader->view = view_of(reader->pid);
		return reader->view && rec_map_lane(reader->view, 0, &reader->map) == 0
			       ? NULL
			       : "the writer's lane cannot be mapped";
	}
	if (writer_cpu < 0)
		return "the writer has no CPU of its own";
	if (reader->splice) {
		snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace_pipe_raw", instance, writer_cpu);
		reader->raw = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		reader->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		return reader->raw < 0 || pipe2(reader->pipe, O_CLOEXEC) < 0 ? "trace_pipe_raw cannot be opened" : NULL;
	}
	if (rec_map_kernel(instance, (unsigned int)writer_cpu, reader->flags, &reader->map) < 0)
		return "the kernel's ring cannot be read";
	return !reader->flags && rec_map_is_copy(reader->map) ? "this kernel maps no rings" : NULL;
}

static void close_reader(struct reader *reader)
{
	rec_map_close(reader->map);
	rec_view_close(reader->view);
	if (!reader->splice)
		return;
	close(reader->raw);
	close(reader->null);
	close(reader->pipe[0]);
	close(reader->pipe[1]);
}

static void start_writer(struct reader *reader)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		fail("socketpair");
	reader->pid = fork();
	if (reader->pid < 0)
		fail("fork");
	if (reader->pid == 0) {
		close(pair[0]);
		serve(pair[1], reader->kernel);
	}
	close(pair[1]);
	reader->socket = pair[0];
}

/* The cost of the writer's events without a reader. The writer gets its buffer here, too. */
static double write_alone(int socket)
{
	double ticks[ROUNDS];

	for (unsigned int i = 0; i < ROUNDS; i++)
		if (write(socket, "w", 1) != 1 ||
		    read(socket, &ticks[i], sizeof(ticks[i])) != (ssize_t)sizeof(ticks[i]))
			fail("the writer is gone");
	return timing_median(ticks, ROUNDS) * ns_per_tick;
}

static void show(struct reader *reader, double alone)
{
	struct figures *figures = &reader->figures;

	printf("%-34s%12.0f%12" PRIu64 "%12" PRIu64 "%12.2f%12.2f\n", reader->name,
	       timing_median(figures->ns_a_page, ROUNDS), figures->bytes / PAGE_DATA, figures->lost, alone,
	       timing_median(figures->writer, ROUNDS));
}

/* NULL, or the reason why there are no figures. */
static const char *run_rounds(struct reader *reader)
{
	uint64_t lost_before;

	/* First take what the writer wrote without a reader. */
	run(reader, 0);
	lost_before = reader->kernel ? kernel_lost() : 0;
	reader->figures = (struct figures){ 0 };
	for (unsigned int round = 0; round < ROUNDS; round++)
		if (!run(reader, round))
			return "no page of the writer's events arrived";
	if (reader->kernel)
		reader->figures.lost = kernel_lost() - lost_before;
	return NULL;
}

static void measure(struct reader *reader)
{
	const double alone = write_alone(reader->socket);
	const char *why = open_reader(reader);

	if (!why) {
		why = run_rounds(reader);
		close_reader(reader);
	}
	if (why)
		printf("%-34s%s\n", reader->name, why);
	else
		show(reader, alone);
}

/* The cost of waking without reading: the sleep, and the kernel's work to end it. */
static double measure_wake(void)
{
	const double begin = timing_cpu_ns();

	for (unsigned int i = 0; i < WAKES; i++)
		usleep(PERIOD_US);
	return (timing_cpu_ns() - begin) / WAKES;
}

int main(void)
{
	struct reader readers[NR_READERS] = {
		{ .name = "a lane, mapped" },
		{ .name = "the kernel's ring, mapped", .kernel = true },
		{ .name = "the kernel's ring, read", .kernel = true, .flags = REC_MAP_COPY },
		{ .name = "the kernel's ring, splice", .kernel = true, .splice = true },
	};
	const bool has_kernel = mkdir(instance, 0700) == 0 || errno == EEXIST;

	ns_per_tick = timing_ns_per_tick();
	/* Do both before this process is pinned to one CPU; a child inherits the CPUs of its parent. */
	writer_cpu = timing_cpu(1);
	for (size_t i = 0; i < NR_READERS; i++)
		start_writer(&readers[i]);
	timing_pin(0);
	printf("%-34s%12s%12s%12s%12s%12s\n", "reader, awake every 5 ms", "ns a page", "pages", "lost", "ns alone",
	       "ns read");
	for (size_t i = 0; i < NR_READERS; i++) {
		if (readers[i].kernel && !has_kernel)
			printf("%-34sno tracefs at /sys/kernel/tracing, or no right to make an instance there\n",
			       readers[i].name);
		else
			measure(&readers[i]);
	}
	printf("%-34s%12.0f\n", "a wake-up by itself, ns", measure_wake());
	/* Close the socket of the newest process first, because it has copies of the others' sockets. */
	for (size_t i = NR_READERS; i-- > 0;) {
		close(readers[i].socket);
		waitpid(readers[i].pid, NULL, 0);
	}
	rmdir(instance);
	return 0;
}
