/* SPDX-License-Identifier: MIT */
/*
 * losses FILE
 *
 * Makes a lane for each thing that recorder stat may report, and then FILE, and waits to be killed:
 *
 *	lane 0	set aside; two events too long, three written while it was disabled
 *	lane 1	the program's thread; nested limit 5
 *	lane 2	broken
 *	lane 3	damaged
 *	lane 4	two threads that ended; the first left an event that was never committed
 *
 * In addition, 6 events have no lane and 7 no room in the log. Cases that would need a thousand signals or all memory
 * are written into the buffer directly: the limit, the broken and the damaged lane, these two numbers.
 */
#include <librecorder/event.h>

#include <fcntl.h>
#include <glob.h>
#include <librecorder/lane.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

REC_EVENT(test, seq, u64(number));

static void write_events(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		REC(test, seq, i);
}

static void write_refused(void)
{
	static const unsigned char large[8192];
	unsigned int lane;

	if (rec_thread_lane(&lane) < 0)
		exit(1);
	for (unsigned int i = 0; i < 2; i++)
		rec_write(rec_thread_handle, large, sizeof(large));
	rec_lane_disable(lane);
	write_events(3);
	rec_lane_enable(lane);
}

static void *leave_open(void *arg)
{
	struct rec_slot slot;

	(void)arg;
	write_events(1);
	rec_reserve(rec_thread_handle, 16, &slot);
	return NULL;
}

static void *write_one(void *arg)
{
	(void)arg;
	write_events(1);
	return NULL;
}

static pthread_barrier_t wrote;

static void *stay(void *handle)
{
	write_events(1);
	*(struct rec_handle **)handle = rec_thread_handle;
	pthread_barrier_wait(&wrote);
	for (;;)
		pause();
	return NULL;
}

/* The lane of another thread, which does nothing more. */
static struct rec_lane *another_lane(void)
{
	struct rec_handle *handle;
	pthread_t thread;

	pthread_create(&thread, NULL, stay, &handle);
	pthread_barrier_wait(&wrote);
	return handle->lane;
}

static struct rec_buffer_header *own_header(void)
{
	char pattern[4096];
	glob_t found;
	void *map;
	int fd;

	snprintf(pattern, sizeof(pattern), "%s/%d-*.rec", getenv("RECORDER_DIR"), getpid());
	if (glob(pattern, 0, NULL, &found) || (fd = open(found.gl_pathv[0], O_RDWR)) < 0)
		exit(1);
	map = mmap(NULL, REC_MAP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		exit(1);
	return map;
}

int main(int argc, char **argv)
{
	struct rec_buffer_header *header = own_header();
	unsigned int held;
	pthread_t thread;

	if (argc != 2)
		return 2;
	pthread_barrier_init(&wrote, NULL, 2);
	write_events(1);
	write_refused();
	if (rec_lane_swap(&held) < 0)
		return 1;
	write_events(4);
	rec_thread_handle->lane->nested_limit = 5;
	another_lane()->broken = 1;
	/* A position on a sub-buffer that is not there. */
	another_lane()->commit = REC_POS(UINT16_MAX, 1, 1, 96);
	/* The second thread gets the lane of the first, and finds what it left. */
	pthread_create(&thread, NULL, leave_open, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, write_one, NULL);
	pthread_join(thread, NULL);
	header->lost_no_lane = 6;
	header->lost_log_full = 7;
	if (creat(argv[1], 0600) < 0)
		return 1;
	for (;;)
		pause();
}
