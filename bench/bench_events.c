/* SPDX-License-Identifier: MIT */
/*
 * What an event costs the program: bench/README.md says what is measured, and how.
 *
 *	bench_events [NAME NS NS]...	rows to add, measured elsewhere: one thread, two threads
 *
 * The rows are measured in turn, round after round, so that a disturbance hits all of them alike, and the median is shown.
 * Overwrite and discard mode need a process each: a process has one buffer.
 */
#include "bench/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

REC_EVENT(bench, u64, u64(n));
REC_EVENT(bench, ints, u64(a), u64(b), u32(c), u32(d), u32(e), u16(f), u16(g));
REC_EVENT(bench, text, string(s));
REC_EVENT(bench, off, u64(n));

#define NOINLINE __attribute__((noinline))
#define MILLION	 1000000u

#define FLOOR_RING (1u << 20)

/* -------------------------------------------------------------------------------------------------------- loops */

static unsigned char floor_ring[TIMING_THREADS_MAX][FLOOR_RING] __attribute__((aligned(64)));
static struct {
	uint64_t tail;
	char apart[120];
} floor_tail[TIMING_THREADS_MAX];

/* The least that any such event can do: read the clock, take the place, write twelve bytes. */
static void loop_floor(uint64_t n, unsigned int thread)
{
	uint64_t *tail = &floor_tail[thread].tail;

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t old = rec_load_relaxed(tail);
#if defined(__x86_64__)
		const uint64_t now = rec_clock_read(REC_CLOCK_TSC);
#else
		const uint64_t now = rec_clock_read(REC_CLOCK_MONO);
#endif
		const uint32_t word = (uint32_t)now;
		unsigned char *at = floor_ring[thread] + old;

		if (!rec_local_cmpxchg64(tail, old, (old + 16) % FLOOR_RING))
			continue;
		rec_put(rec_put(at, &word, sizeof(word)), &i, sizeof(i));
	}
}

static NOINLINE void empty(uint64_t n)
{
	__asm__ volatile("" : : "r"(n));
}

static NOINLINE void write_u64(uint64_t n)
{
	REC(bench, u64, n);
}

static NOINLINE void write_ints(uint64_t n)
{
	REC(bench, ints, n, n, 1, 2, 3, 4, 5);
}

static NOINLINE void write_text(const char *text)
{
	REC(bench, text, text);
}

static NOINLINE void write_off(uint64_t n)
{
	REC(bench, off, n);
}

static NOINLINE void write_printf(uint64_t n)
{
	rec_printf("%llu of %d", (unsigned long long)n, 7);
}

static void loop_empty(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		empty(i);
}

static void loop_u64(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		write_u64(i);
}

static void loop_ints(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		write_ints(i);
}

static void loop_text(uint64_t n, unsigned int thread)
{
	static char text[] = "/usr/share/doc/recorder.";

	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		write_text(text);
}

static void loop_off(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		write_off(i);
}

static void loop_printf(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		write_printf(i);
}

static int marker = -1;

static void loop_marker(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		if (write(marker, "/usr/share/doc/recorder.", 24) < 0)
			return;
}

/* --------------------------------------------------------------------------------------------------------- rows */

enum side { OVERWRITE, DISCARD, NR_SIDES };

static const struct row {
	const char *name;
	timing_loop loop;
	uint64_t n;
	enum side side;
} rows[] = {
	{ "floor", loop_floor, MILLION, OVERWRITE },
	{ "u64", loop_u64, MILLION, OVERWRITE },
	{ "seven integers, 32 bytes", loop_ints, MILLION, OVERWRITE },
	{ "string of 24 characters", loop_text, MILLION, OVERWRITE },
	{ "a call of an empty function", loop_empty, 4 * MILLION, OVERWRITE },
	{ "off", loop_off, 4 * MILLION, OVERWRITE },
	{ "dropped (discard mode, lane full)", loop_u64, MILLION, DISCARD },
	{ "rec_printf, two integers", loop_printf, MILLION / 4, OVERWRITE },
	{ "trace_marker, 24 characters", loop_marker, MILLION / 50, OVERWRITE },
};

#define NR_ROWS	   (sizeof(rows) / sizeof(rows[0]))
#define ROW_MARKER (NR_ROWS - 1)

/* A side's process: measures what it is asked for. */
static void serve(enum side side, int socket)
{
	struct rec_options options = REC_OPTIONS_INIT;
	unsigned int ask[2];
	double ns;

	options.discard = side == DISCARD;
	if (rec_configure(&options) < 0 || rec_enable("bench:*,ftrace:bprint") < 0 || rec_disable("bench:off") < 0)
		_exit(1);
	while (read(socket, ask, sizeof(ask)) == (ssize_t)sizeof(ask)) {
		ns = timing_run(rows[ask[0]].loop, rows[ask[0]].n, ask[1]);
		if (write(socket, &ns, sizeof(ns)) != (ssize_t)sizeof(ns))
			_exit(1);
	}
	exit(0);
}

static int start_side(enum side side, int *ret_socket)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		serve(side, pair[1]);
	}
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return -errno;
	}
	*ret_socket = pair[0];
	return 0;
}

static double ask(int socket, unsigned int row, unsigned int threads)
{
	const unsigned int question[2] = { row, threads };
	double ns = -1;

	if (write(socket, question, sizeof(question)) != (ssize_t)sizeof(question) ||
	    read(socket, &ns, sizeof(ns)) != (ssize_t)sizeof(ns)) {
		fprintf(stderr, "bench_events: the measuring process ended; is there room in $RECORDER_DIR?\n");
		exit(1);
	}
	return ns;
}

/* ------------------------------------------------------------------------------------------------- trace_marker */

static const char marker_instance[] = "/sys/kernel/tracing/instances/librecorder-bench";

/* In an instance of its own, so that nobody's recording is disturbed. Returns why it cannot be, or NULL. */
static const char *open_marker(void)
{
	char path[sizeof(marker_instance) + 16];

	if (mkdir(marker_instance, 0700) < 0 && errno != EEXIST)
		return "no tracefs at /sys/kernel/tracing, or no right to make an instance there";
	snprintf(path, sizeof(path), "%s/trace_marker", marker_instance);
	marker = open(path, O_WRONLY | O_CLOEXEC);
	return marker < 0 ? "trace_marker cannot be opened" : NULL;
}

static void close_marker(void)
{
	if (marker >= 0)
		close(marker);
	rmdir(marker_instance);
}

int main(int argc, char **argv)
{
	static double ns[NR_ROWS][TIMING_THREADS_MAX][TIMING_ROUNDS];
	double median[NR_ROWS][TIMING_THREADS_MAX];
	int sockets[NR_SIDES] = { -1, -1 };
	const char *no_marker = open_marker();

	for (unsigned int side = 0; side < NR_SIDES; side++) {
		if (start_side((enum side)side, &sockets[side]) < 0) {
			fprintf(stderr, "bench_events: cannot start a process: %s\n", strerror(errno));
			return 1;
		}
	}
	for (unsigned int round = 0; round < TIMING_ROUNDS; round++)
		for (unsigned int row = 0; row < NR_ROWS; row++)
			for (unsigned int threads = 1; threads <= TIMING_THREADS_MAX; threads++)
				if (row != ROW_MARKER || !no_marker)
					ns[row][threads - 1][round] = ask(sockets[rows[row].side], row, threads);
	/* The younger one first: it holds a copy of the other's socket. */
	for (unsigned int side = NR_SIDES; side-- > 0;)
		close(sockets[side]);
	while (wait(NULL) > 0)
		;
	close_marker();

	timing_header();
	for (unsigned int row = 0; row < NR_ROWS; row++) {
		for (unsigned int i = 0; i < TIMING_THREADS_MAX; i++)
			median[row][i] = timing_median(ns[row][i], TIMING_ROUNDS);
		timing_row(rows[row].name, &median[row][0], &median[row][1], median[0][0], median[0][1],
			   row == ROW_MARKER ? no_marker : NULL);
	}
	for (int i = 1; i + 2 < argc; i += 3) {
		const double one = atof(argv[i + 1]), two = atof(argv[i + 2]);

		timing_row(argv[i], &one, &two, median[0][0], median[0][1], NULL);
	}
	return 0;
}
