/* SPDX-License-Identifier: MIT */
/* A thread leaves the ring for good while its event moves the head: by a raw exit, or by a jump out of a handler. */
#include "film.h"
#include "librecorder/process/lane_private.h"
#include "numbered.h"
#include "trap_flag.h"

#include <criterion/criterion.h>
#include <librecorder/event.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)

#define PAGE_EVENTS 140u /* more than fit on a sub-buffer of 4096 */

static bool struck;

static bool is_room(void)
{
	const uint64_t tail = rec_thread_handle->lane->tail;

	return REC_POS_OFF(tail) + rec_event_total(REC_EVENT_COMMON_SIZE + 16) <= rec_thread_handle->capacity * 4;
}

static void end_in_the_move(int signal)
{
	uint32_t id;

	(void)signal;
	for (id = 0; id < rec_thread_handle->nr_subbufs; id++)
		if (REC_LINK_FLAG(rec_load_relaxed(&rec_thread_handle->links[id].next)) == REC_LINK_UPDATE) {
			struck = true;
			syscall(SYS_exit, 0);
		}
}

/* Ends by a raw system call while its event moves the head. */
static void *end_moving(void *arg)
{
	uint64_t *number = arg;

	cr_assert_eq(rec_thread_attach(), 0);
	while (*number < 7 * PAGE_EVENTS || is_room())
		numbered_write((*number)++);
	trap_flag_set();
	numbered_write(*number);
	trap_flag_clear();
	return NULL;
}

static void *write_last(void *number)
{
	numbered_write(*(uint64_t *)number);
	return NULL;
}

/*
 * If a thread ends without notice while it moves the head, readers need not wait until its lane is leased again.
 */
Test(torn_move, a_raw_exit_where_the_head_moves)
{
	const struct sigaction action = { .sa_handler = end_in_the_move };
	uint64_t number = 0;
	struct sums sums;
	pthread_t thread;

	FILM_OR_SKIP();
	numbered_begin(4, 0);
	sigaction(SIGTRAP, &action, NULL);
	cr_assert_eq(pthread_create(&thread, NULL, end_moving, &number), 0);
	pthread_join(thread, NULL);
	cr_assert(struck);
	/* Another thread has leased a lane since. */
	cr_assert_eq(pthread_create(&thread, NULL, write_last, &number), 0);
	pthread_join(thread, NULL);
	sums = numbered_read();
	cr_assert_eq(sums.events + sums.lost, number + 1, "%u read, %u lost of %u", (unsigned int)sums.events,
		     (unsigned int)sums.lost, (unsigned int)number + 1);
	cr_assert(seen[number - 1] && seen[number]);
	cr_assert_eq(sums.torn, 0);
}

static sigjmp_buf out_of_the_move;

static void jump_in_the_move(int signal)
{
	uint32_t id;

	(void)signal;
	for (id = 0; id < rec_thread_handle->nr_subbufs; id++)
		if (REC_LINK_FLAG(rec_load_relaxed(&rec_thread_handle->links[id].next)) == REC_LINK_UPDATE)
			siglongjmp(out_of_the_move, 1);
}

/* The same for a move that a handler left, when the lane is set aside for a save. */
Test(torn_move, a_lane_is_swapped_where_a_handler_left_the_move_of_the_head)
{
	const struct sigaction action = { .sa_handler = jump_in_the_move };
	volatile uint64_t number = 0;
	unsigned int lane;
	struct sums sums;

	FILM_OR_SKIP();
	numbered_begin(4, 0);
	sigaction(SIGTRAP, &action, NULL);
	cr_assert_eq(rec_thread_attach(), 0);
	if (sigsetjmp(out_of_the_move, 1) == 0) {
		while (number < 7 * PAGE_EVENTS || is_room())
			numbered_write(number++);
		trap_flag_set();
		numbered_write(number);
		trap_flag_clear();
		cr_assert_fail("no head was moved");
	}
	cr_assert_eq(rec_lane_swap(&lane), 0);
	sums = numbered_read();
	cr_assert_gt(sums.events, 0);
	cr_assert_eq(sums.events + sums.lost, number);
	cr_assert(seen[number - 1]);
	cr_assert_eq(rec_lane_release(lane), 0);
}

#endif
