/* SPDX-License-Identifier: MIT */
/*
 * Measures what an event costs the program; bench/README.md describes what is measured, and how.
 *
 *	bench_events [NAME NS NS]...	rows to add, measured elsewhere: one thread, two threads. The first three are
 *					LTTng's u64, integers and string, in overwrite mode.
 *
 * The rows are measured in turn, round after round, so that a disturbance affects all of them in the same way, and the
 * median is shown. Overwrite and discard mode need a process each: a process has one buffer.
 */
#include "bench/targets.h"
#include "bench/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/event.h>
#include <pthread.h>
#include <stdbool.h>
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
REC_EVENT(bench, passing, u64(n));
REC_EVENT(bench, filtered, u64(n));

#define NOINLINE __attribute__((noinline))
#define MILLION	 UINT64_C(1000000)

#define FLOOR_RING (1u << 20)

/* -------------------------------------------------------------------------------------------------------- loops */

static unsigned char floor_ring[TIMING_THREADS_MAX][FLOOR_RING] __attribute__((aligned(64)));
static struct {
	uint64_t tail;
	char apart[120];
} floor_tail[TIMING_THREADS_MAX];

/* The clock of this process's events: on some machines it is not the fastest one. */
static uint32_t event_clock;

/* The least work of any such event: read the clock, reserve room, write twelve bytes. */
static void loop_floor(uint64_t n, unsigned int thread)
{
	const uint32_t clock = event_clock;
	uint64_t *tail = &floor_tail[thread].tail;

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t old = rec_load_relaxed(tail);
		const uint64_t now = rec_clock_read(clock);
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

static NOINLINE void write_passing(uint64_t n)
{
	REC(bench, passing, n);
}

static NOINLINE void write_filtered(uint64_t n)
{
	REC(bench, filtered, n);
}

static NOINLINE void write_printf(uint64_t n)
{
	rec_printf("%llu of %d", (unsigned long long)n, 7);
}

static void loop_nothing(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile("" : : "r"(i) : "memory");
}

/* Only the part that is inline in the loop: the code that writes the event is out of line in all rows. */
static void loop_off_inline(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++) {
		__asm__ volatile("" : : "r"(i) : "memory");
		REC(bench, off, i);
	}
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
	/* Volatile, so that the compiler knows neither the length nor the address of the text. */
	static const char *volatile text = "/usr/share/doc/recorder.";

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

static void loop_passing(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		write_passing(i);
}

static void loop_filtered(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		write_filtered(i);
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

/*
 * Processes with a buffer each. LARGE: lanes of 64 MiB; SHARING: all lanes are in use except those that threads share.
 */
enum side { OVERWRITE, DISCARD, LARGE, SHARING, NR_SIDES };

#define LARGE_LANE ((size_t)64 << 20)

enum { FLOOR, U64, INTS, TEXT, EMPTY_LOOP, OFF_LOOP, EMPTY_CALL, OFF_CALL, DROPPED, LARGE_U64, SHARED_U64, PASSING,
       FILTERED, PRINTF, MARKER, NR_ROWS };

static const struct row {
	const char *name;
	timing_loop loop;
	uint64_t n;
	enum side side;
} rows[NR_ROWS] = {
	[FLOOR] = { "floor", loop_floor, MILLION, OVERWRITE },
	[U64] = { "u64", loop_u64, MILLION, OVERWRITE },
	[INTS] = { "seven integers, 32 bytes", loop_ints, MILLION, OVERWRITE },
	[TEXT] = { "string of 24 characters", loop_text, MILLION, OVERWRITE },
	[EMPTY_LOOP] = { "an empty loop", loop_nothing, 8 * MILLION, OVERWRITE },
	[OFF_LOOP] = { "off, in the loop", loop_off_inline, 8 * MILLION, OVERWRITE },
	[EMPTY_CALL] = { "a call of an empty function", loop_empty, 4 * MILLION, OVERWRITE },
	[OFF_CALL] = { "off, in a function that is called", loop_off, 4 * MILLION, OVERWRITE },
	[DROPPED] = { "dropped (discard mode, lane full)", loop_u64, MILLION, DISCARD },
	[LARGE_U64] = { "u64 into a lane of 64 MiB", loop_u64, 4 * MILLION, LARGE },
	[SHARED_U64] = { "u64 into a lane that is shared", loop_u64, MILLION, SHARING },
	[PASSING] = { "u64 that passes its filter", loop_passing, MILLION, OVERWRITE },
	[FILTERED] = { "u64 that does not", loop_filtered, MILLION, OVERWRITE },
	[PRINTF] = { "rec_printf, two integers", loop_printf, MILLION / 4, OVERWRITE },
	[MARKER] = { "trace_marker, 24 characters", loop_marker, MILLION / 50, OVERWRITE },
};

/* Takes a lane, if one is left, and keeps it. */
static void *take_lane(void *arg)
{
	rec_store_release((int *)arg, rec_thread_attach());
	pause();
	return NULL;
}

static void take_all_lanes(void)
{
	pthread_t thread;
	int r = 0;

	while (r == 0) {
		r = 1;
		if (pthread_create(&thread, NULL, take_lane, &r) != 0)
			_exit(1);
		while (rec_load_acquire(&r) > 0)
			usleep(100);
	}
}

/* The process of a side: measures the requested rows. */
static void serve(enum side side, int socket)
{
	struct rec_options options = REC_OPTIONS_INIT;
	unsigned int ask[2];
	double ns;

	options.discard = side == DISCARD;
	if (side == LARGE) {
		options.lane_size = LARGE_LANE;
		options.memory_max = 6 * LARGE_LANE;
	} else if (side == SHARING) {
		options.memory_max = 16 << 20;
	}
	if (rec_configure(&options) < 0 || rec_enable("bench:*,ftrace:bprint") < 0 || rec_disable("bench:off") < 0 ||
	    rec_enable("bench:passing if n != 1000000000") != 1 || rec_enable("bench:filtered if n == 1000000000") != 1)
		_exit(1);
	/* The floor is measured in overwrite mode. On other sides a lane of this thread would be missing elsewhere. */
	if (side == OVERWRITE && rec_thread_attach() < 0)
		_exit(1);
	if (side == OVERWRITE)
		event_clock = rec_thread_handle->clock;
	if (side == SHARING)
		take_all_lanes();
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

/*
 * Makes an instance of its own, so that no other recording is disturbed. Returns the reason why this is impossible, or
 * NULL.
 */
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

/* Nanoseconds of every round, with one thread and with two threads. */
static double ns[NR_ROWS][TIMING_THREADS_MAX][TIMING_ROUNDS];

static void measure(bool with_marker)
{
	int sockets[NR_SIDES];

	for (unsigned int side = 0; side < NR_SIDES; side++) {
		if (start_side((enum side)side, &sockets[side]) < 0) {
			fprintf(stderr, "bench_events: cannot start a process: %s\n", strerror(errno));
			exit(1);
		}
	}
	for (unsigned int round = 0; round < TIMING_ROUNDS; round++)
		for (unsigned int row = 0; row < NR_ROWS; row++)
			for (unsigned int threads = 1; threads <= TIMING_THREADS_MAX; threads++)
				if (row != MARKER || with_marker)
					ns[row][threads - 1][round] = ask(sockets[rows[row].side], row, threads);
	/* Close the socket of the newest process first, because it has copies of the others' sockets. */
	for (unsigned int side = NR_SIDES; side-- > 0;)
		close(sockets[side]);
	while (wait(NULL) > 0)
		;
}

/*
 * Shows the targets of this project, each as a median of the rounds. `more`: the rows of LTTng's u64, integers and
 * string, or NULL.
 */
static void show_targets(bool with_marker, char **more)
{
	double dearest = 1e9;

	target_header();
	target_ratio("u64 / floor", ns[U64][0], ns[FLOOR][0], 1.2);
	target_ratio("seven integers / floor", ns[INTS][0], ns[FLOOR][0], 1.3);
	target_ratio("string / floor", ns[TEXT][0], ns[FLOOR][0], 1.55);
	target_beyond("seven integers - u64", ns[INTS][0], ns[U64][0], 2);
	target_beyond("string - u64", ns[TEXT][0], ns[U64][0], 3);
	target_beyond("off, beyond an empty loop", ns[OFF_LOOP][0], ns[EMPTY_LOOP][0], 0.4);
	target_beyond("off, beyond an empty call", ns[OFF_CALL][0], ns[EMPTY_CALL][0], 0.4);
	target_ratio("dropped / u64", ns[DROPPED][0], ns[U64][0], 0.6);
	target_beyond("u64 into 64 MiB - u64", ns[LARGE_U64][0], ns[U64][0], 5);
	target_ratio("u64 into a shared lane / u64", ns[SHARED_U64][0], ns[U64][0], 2);
	target_ratio("u64 that passes its filter / u64", ns[PASSING][0], ns[U64][0], 1.5);
	target_ratio("u64 that does not / u64", ns[FILTERED][0], ns[U64][0], 0.8);
	target_ratio("rec_printf, two integers / u64", ns[PRINTF][0], ns[U64][0], 2);
	if (ns[U64][1][0] >= 0)
		target_ratio("u64, two threads / one", ns[U64][1], ns[U64][0], 1.05);
	if (with_marker)
		target_times("trace_marker / string", ns[MARKER][0], ns[TEXT][0], 17);
	if (more) {
		const unsigned int ours[] = { U64, INTS, TEXT };

		for (unsigned int i = 0; i < 3; i++) {
			const double times = atof(more[3 * i + 1]) / timing_median(ns[ours[i]][0], TIMING_ROUNDS);

			dearest = times < dearest ? times : dearest;
		}
		target_show("LTTng-UST overwrite / ours, the least of the three", dearest, 6, true);
	}
}

int main(int argc, char **argv)
{
	const char *no_marker = open_marker();
	double floor[TIMING_THREADS_MAX], median[TIMING_THREADS_MAX];

	measure(!no_marker);
	close_marker();
	timing_header();
	for (unsigned int row = 0; row < NR_ROWS; row++) {
		for (unsigned int i = 0; i < TIMING_THREADS_MAX; i++) {
			median[i] = timing_median(ns[row][i], TIMING_ROUNDS);
			if (row == FLOOR)
				floor[i] = median[i];
		}
		timing_row(rows[row].name, &median[0], &median[1], floor[0], floor[1],
			   row == MARKER ? no_marker : NULL);
	}
	for (int i = 1; i + 2 < argc; i += 3) {
		const double one = atof(argv[i + 1]), two = atof(argv[i + 2]);

		timing_row(argv[i], &one, &two, floor[0], floor[1], NULL);
	}
	show_targets(!no_marker, argc > 9 ? argv + 1 : NULL);
	return 0;
}
