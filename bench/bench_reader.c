/* SPDX-License-Identifier: MIT */
/*
 * Measures the cost of reading, for the reader and for the writer; bench/README.md explains the output.
 *
 * A child writes, this process reads, each pinned to a CPU of its own. The reader's figures are its CPU time; it never
 * examines the contents of pages, as a reader that passes them on to a file or a socket does not.
 */
#include "bench/targets.h"
#include "bench/timing.h"
#include "bench/view.h"

#include <errno.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

REC_EVENT(bench, u64, u64(n));
REC_EVENT(bench, large, bytes(content));

#define NOINLINE __attribute__((noinline))

#define LANE_SIZE ((size_t)8 << 20)
#define CALLS	  8192u /* the most calls of a round that are timed */
#define LARGE	  3900u /* the size of an event that fills a page */
#define EVENTS	  2000000u

/* -------------------------------------------------------------------------------------------------------- writer */

static NOINLINE void write_small(uint64_t n)
{
	REC(bench, u64, n);
}

static NOINLINE void write_large(uint64_t n)
{
	static unsigned char content[LARGE];

	(void)n;
	REC(bench, large, content, sizeof(content));
}

/*
 * A request is a letter: s or l, fill the lane with small or large events; w, write EVENTS small ones. The answer is
 * the ns of each event.
 */
static void serve(int socket)
{
	struct rec_options options = REC_OPTIONS_INIT;
	char question;

	options.lane_size = LANE_SIZE;
	timing_pin(1);
	if (rec_configure(&options) < 0 || rec_enable("bench:*") < 0 || rec_thread_attach() < 0)
		_exit(1);
	while (read(socket, &question, 1) == 1) {
		const uint64_t n = question == 'w' ? EVENTS : question == 's' ? LANE_SIZE / 16 : LANE_SIZE / 2048;
		const double begin = timing_cpu_ns();
		double ns;

		for (uint64_t i = 0; i < n; i++) {
			if (question == 'l')
				write_large(i);
			else
				write_small(i);
		}
		ns = (timing_cpu_ns() - begin) / (double)n;
		if (write(socket, &ns, sizeof(ns)) != (ssize_t)sizeof(ns))
			_exit(1);
	}
	exit(0);
}

static void fail(const char *what)
{
	fprintf(stderr, "bench_reader: %s\n", what);
	exit(1);
}

static void ask(int socket, char question)
{
	if (write(socket, &question, 1) != 1)
		fail("the writer is gone; is there room in $RECORDER_DIR?");
}

static double answer(int socket)
{
	double ns;

	if (read(socket, &ns, sizeof(ns)) != (ssize_t)sizeof(ns))
		fail("the writer is gone; is there room in $RECORDER_DIR?");
	return ns;
}

static bool has_answer(int socket)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

/* -------------------------------------------------------------------------------------------------------- reader */

static double ns_per_tick;

struct reading {
	uint64_t pages;
	double ns;
};

static int read_page(struct rec_view *view, struct reading *reading)
{
	struct rec_page page;
	const int r = rec_view_read(view, 0, REC_READ_WHOLE, &page);

	if (r < 0 && r != -EAGAIN)
		fail(strerror(-r));
	reading->pages += r == 1;
	return r;
}

/* Reads everything that a stopped writer has written. */
static struct reading read_all(struct rec_view *view)
{
	struct reading reading = { 0 };
	const double begin = timing_cpu_ns();

	while (read_page(view, &reading) != 0)
		;
	reading.ns = timing_cpu_ns() - begin;
	return reading;
}

/*
 * Reads without a pause while a writer writes at full speed: the median of the calls that took a page. The other calls
 * only wait for a page, and a mean would mostly show interruptions of the reader by other programs.
 */
static struct reading read_busily(struct rec_view *view, int socket)
{
	static double calls[CALLS];
	struct reading reading = { 0 };
	unsigned int timed;

	do {
		for (unsigned int i = 0; i < 4096; i++) {
			const uint64_t begin = timing_ticks();

			if (read_page(view, &reading) == 1 && reading.pages <= CALLS)
				calls[reading.pages - 1] = (double)(timing_ticks() - begin) * ns_per_tick;
		}
	} while (!has_answer(socket));
	timed = reading.pages < CALLS ? (unsigned int)reading.pages : CALLS;
	if (timed)
		reading.ns = timing_median(calls, timed) * (double)reading.pages;
	return reading;
}

/* Reads everything once a millisecond while a writer writes at full speed; sleeping and waking are included. */
static struct reading read_now_and_then(struct rec_view *view, int socket)
{
	struct reading reading = { 0 };
	const double begin = timing_cpu_ns();

	do {
		while (read_page(view, &reading) == 1)
			;
		usleep(1000);
	} while (!has_answer(socket));
	reading.ns = timing_cpu_ns() - begin;
	return reading;
}

/* ---------------------------------------------------------------------------------------------------------- rows */

enum { SMALL, LARGE_EVENTS, BUSY, SLEEPING, NR_ROWS };

static const char *const names[NR_ROWS] = {
	"writer standing, 200 events a page",
	"writer standing, 1 event a page",
	"writer at full speed, reader without a pause",
	"writer at full speed, reader wakes every ms",
};

static double page_ns[NR_ROWS][TIMING_ROUNDS], event_ns[NR_ROWS][TIMING_ROUNDS], alone_ns[TIMING_ROUNDS];
static double pages[NR_ROWS][TIMING_ROUNDS];

static void note(unsigned int row, unsigned int round, const struct reading *reading, double event)
{
	page_ns[row][round] = reading->ns / (double)(reading->pages ? reading->pages : 1);
	pages[row][round] = (double)reading->pages;
	event_ns[row][round] = event;
}

static void one_round(struct rec_view *view, int socket, unsigned int round)
{
	struct reading reading;

	/* First the rows with a stopped writer. Their reading also takes data that were left before. */
	for (unsigned int row = SMALL; row <= LARGE_EVENTS; row++) {
		ask(socket, row == SMALL ? 's' : 'l');
		answer(socket);
		reading = read_all(view);
		note(row, round, &reading, -1);
	}
	ask(socket, 'w');
	alone_ns[round] = answer(socket);
	read_all(view);
	for (unsigned int row = BUSY; row <= SLEEPING; row++) {
		ask(socket, 'w');
		reading = row == BUSY ? read_busily(view, socket) : read_now_and_then(view, socket);
		note(row, round, &reading, answer(socket));
		read_all(view);
	}
}

static void show(void)
{
	const double zero[TIMING_ROUNDS] = { 0 };

	printf("%-46s%12s%14s%16s\n", "reader", "ns a page", "pages", "writer, ns");
	printf("%-46s%12s%14s%16.2f\n", "no reader", "", "", timing_median(alone_ns, TIMING_ROUNDS));
	for (unsigned int row = 0; row < NR_ROWS; row++) {
		printf("%-46s%12.0f%14.0f", names[row], timing_median(page_ns[row], TIMING_ROUNDS),
		       timing_median(pages[row], TIMING_ROUNDS));
		if (row >= BUSY)
			printf("%16.2f", timing_median(event_ns[row], TIMING_ROUNDS));
		putchar('\n');
	}
	target_header();
	target_beyond("a page taken, writer standing", page_ns[SMALL], zero, 500);
	target_beyond("a page taken, reader without a pause", page_ns[BUSY], zero, 500);
	target_beyond("a page taken, reader wakes every ms", page_ns[SLEEPING], zero, 500);
}

int main(void)
{
	struct rec_view *view;
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		fail("cannot start a process");
	pid = fork();
	if (pid < 0)
		fail("cannot start a process");
	if (pid == 0) {
		close(pair[0]);
		serve(pair[1]);
	}
	close(pair[1]);
	signal(SIGPIPE, SIG_IGN);
	timing_pin(0);
	ns_per_tick = timing_ns_per_tick();
	/* The first round does not count, because in it the lane is mapped, page by page. */
	ask(pair[0], 's');
	answer(pair[0]);
	view = view_of(pid);
	if (!view)
		fail("the writer has no buffer");
	read_all(view);
	for (unsigned int round = 0; round < TIMING_ROUNDS; round++)
		one_round(view, pair[0], round);
	rec_view_close(view);
	close(pair[0]);
	waitpid(pid, NULL, 0);
	show();
	return 0;
}
