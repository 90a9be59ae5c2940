/* SPDX-License-Identifier: MIT */
/*
 * The opposite of fuzz_view.c: a program uses every tracing function, while another process that may write to its
 * buffer damages every word that readers share with it. For all values of these words, the program does not crash, the
 * time of an event is bounded by the size of the ring, and the program runs to its end. Its losses are in its counters,
 * or the lane is marked as broken.
 */
#include "hostile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "librecorder/process/process.h"

#define THREADS 3u
#define EVENTS	3000u /* of a thread in a round */

REC_EVENT(fuzz, number, u64(number), string(text));

static struct rec_buffer_header *spoiled; /* the program's header, mapped by the process that damages it */
static int spoiled_file = -1;

static void on_timer(int sig)
{
	static unsigned int count;

	(void)sig;
	REC(fuzz, number, count++, "from a handler");
}

static void *trace(void *arg)
{
	struct hostile_random random = { (uint64_t)(size_t)arg };
	struct rec_slot slot;
	unsigned int lane;
	void *payload;

	for (unsigned int i = 0; i < EVENTS; i++) {
		REC(fuzz, number, i, "an event");
		if (hostile_below(&random, 8) == 0)
			rec_printf("%u", i);
		payload = NULL;
		if (rec_thread_handle->lane)
			payload = rec_reserve(rec_thread_handle, (uint32_t)hostile_below(&random, 5000), &slot);
		if (payload && hostile_below(&random, 2))
			rec_discard(&slot, payload);
		else if (payload)
			rec_commit(&slot);
		if (hostile_below(&random, 1000) == 0 && rec_thread_lane(&lane) == 0)
			rec_lane_resize(lane, hostile_below(&random, 20000));
		if (hostile_below(&random, 1000) == 0)
			rec_subbuf_resize((size_t)4096 << hostile_below(&random, 2));
		if (hostile_below(&random, 1000) == 0 && rec_lane_swap(&lane) == 0)
			rec_lane_release(lane);
	}
	return NULL;
}

/*
 * The program: threads that come and go, timers, events switched from within. It sends its path to `peer`, which
 * signals when to begin, and exits normally.
 */
static void run_program(uint64_t number, int peer)
{
	struct rec_options options = REC_OPTIONS_INIT;
	const struct itimerspec often = { { 0, 200000 }, { 0, 200000 } };
	struct hostile_random random = { number };
	pthread_t threads[THREADS];
	timer_t timer;
	char begin;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(600);
	options.lane_size = 6 * 4080ul;
	options.lane_max = 12 * 4080ul;
	options.memory_max = (size_t)1 << 20;
	options.discard = (uint32_t)hostile_below(&random, 2);
	if (rec_configure(&options) < 0 || rec_enable("*") < 0 || rec_thread_attach() < 0)
		_exit(2);
	signal(SIGALRM, on_timer);
	if (timer_create(CLOCK_MONOTONIC, NULL, &timer) < 0 || timer_settime(timer, 0, &often, NULL) < 0)
		_exit(3);
	if (write(peer, rec_process_path(), PATH_MAX) != PATH_MAX || read(peer, &begin, 1) != 1)
		_exit(4);
	for (unsigned int turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, trace, (void *)(size_t)hostile_random(&random)))
				_exit(5);
		rec_enable("fuzz:*");
		for (size_t i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	/* exit() would do the same, but a sanitizer would then look for leaks in each of thousands of children. */
	rec_process_exit();
	_exit(0);
}

static void map_buffer(const char *path)
{
	spoiled_file = open(path, O_RDWR | O_CLOEXEC);
	if (spoiled_file < 0)
		abort();
	spoiled = mmap(NULL, REC_MAP_PAGE, PROT_READ, MAP_SHARED, spoiled_file, 0);
	if (spoiled == MAP_FAILED)
		abort();
}

/* Damage the shared words until the program has ended. */
static int spoil(struct hostile_random *random, pid_t program)
{
	int status = -1;

	while (waitpid(program, &status, WNOHANG) == 0)
		for (unsigned int i = 0; i < 50; i++)
			if (spoiled->nr_lanes)
				hostile_strike_shared(random, spoiled_file, spoiled);
	return status;
}

static void one_round(uint64_t number)
{
	struct hostile_random random = { number };
	char path[PATH_MAX];
	int ends[2], status;
	pid_t program;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		abort();
	program = fork();
	if (program == 0)
		run_program(number, ends[1]);
	close(ends[1]);
	if (program < 0 || recv(ends[0], path, sizeof(path), MSG_WAITALL) != sizeof(path))
		abort();
	map_buffer(path);
	if (write(ends[0], "", 1) != 1)
		abort();
	close(ends[0]);
	status = spoil(&random, program);
	munmap(spoiled, REC_MAP_PAGE);
	close(spoiled_file);
	unlink(path);
	if (status) {
		fprintf(stderr, "round %llu: the program ended with status %x\n",
			(unsigned long long)number, (unsigned int)status);
		abort();
	}
}

static void begin(void)
{
	strcpy(hostile_dir, "/dev/shm/fuzz.XXXXXX");
	cr_assert_not_null(mkdtemp(hostile_dir));
	setenv("RECORDER_DIR", hostile_dir, 1);
}

static void end(void)
{
	char command[PATH_MAX + 16];

	/* Processes that ended with _exit() left their buffers. */
	snprintf(command, sizeof(command), "rm -rf '%s'", hostile_dir);
	cr_assert_eq(system(command), 0);
}

Test(fuzz_writer, shared_words, .init = begin, .fini = end, .timeout = 100000)
{
	hostile_rounds("fuzz_writer/shared_words", one_round);
}
