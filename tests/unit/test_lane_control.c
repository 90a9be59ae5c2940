/* SPDX-License-Identifier: MIT */
/* Lanes that are disabled, resized, reshaped and swapped while threads write to them. */
#include "ring_fixture.h"

#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/page.h>
#include <librecorder/reader.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 396u
#define PER_PAGE 10u

struct count {
	uint64_t events;
	uint64_t lost;
};

static void configure(uint32_t pages, uint32_t pages_max)
{
	struct rec_options options = REC_OPTIONS_INIT;

	options.lane_size = pages * 4080ul;
	options.lane_max = pages_max * 4080ul;
	cr_assert_eq(rec_configure(&options), 0);
}

static bool write_event(uint64_t number)
{
	struct rec_handle *handle = rec_thread_handle->lane ? rec_thread_handle : rec_lane_lease();
	unsigned char payload[SIZE];

	cr_assert_not_null(handle);
	ring_fill(payload, number, SIZE);
	return rec_write(handle, payload, SIZE) == 0;
}

static void write_events(uint64_t *next, uint64_t count)
{
	while (count--)
		write_event((*next)++);
}

static void read_lane(struct rec_view *view, unsigned int lane, struct count *count)
{
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_page page;
	uint64_t number = 0;
	int r;

	while ((r = rec_view_read(view, lane, 0, &page)) > 0) {
		count->lost += page.lost;
		rec_page_iter_init(&iter, page.data, page.size);
		while (rec_page_next(&iter, &record) > 0) {
			if (record.offset < page.from)
				continue;
			cr_assert(ring_is_intact(record.payload, SIZE, &number));
			count->events++;
		}
	}
	cr_assert(r == 0 || r == -EAGAIN, "%s", strerror(-r));
}

static struct count read_own(unsigned int lane)
{
	struct rec_view *view = NULL;
	struct count count = { 0 };

	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	read_lane(view, lane, &count);
	rec_view_close(view);
	return count;
}

/* A thread that writes one event whenever the test asks for it. */
struct writer {
	pthread_t thread;
	sem_t go, done;
	unsigned int lane;
	uint64_t written;
	bool end;
};

static void *write_when_told(void *arg)
{
	struct writer *w = arg;

	for (;;) {
		sem_wait(&w->go);
		if (w->end)
			return NULL;
		if (write_event(w->written))
			w->written++;
		rec_thread_lane(&w->lane);
		sem_post(&w->done);
	}
}

static void tell(struct writer *w)
{
	sem_post(&w->go);
	sem_wait(&w->done);
}

static void start(struct writer *w)
{
	memset(w, 0, sizeof(*w));
	sem_init(&w->go, 0, 0);
	sem_init(&w->done, 0, 0);
	cr_assert_eq(pthread_create(&w->thread, NULL, write_when_told, w), 0);
	tell(w);
}

static void stop(struct writer *w)
{
	w->end = true;
	sem_post(&w->go);
	pthread_join(w->thread, NULL);
}

Test(lane_control, a_lease_leaves_the_gate_of_a_disabled_lane_closed)
{
	struct rec_view *view = NULL;
	struct count count = { 0 };
	struct writer w;

	configure(16, 16);
	start(&w);
	stop(&w);
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	read_lane(view, w.lane, &count);
	cr_assert_eq(rec_subbuf_resize(8192), 0);
	cr_assert_eq(rec_lane_disable(w.lane), 0);
	rec_view_close(view);
	start(&w);
	cr_assert_eq(rec_lane_at(w.lane)->subbuf_size, 8192);
	cr_assert_eq(w.written, 0);
	cr_assert_eq(rec_lane_at(w.lane)->disabled, 1);
	stop(&w);
}

static unsigned int own_lane(void)
{
	unsigned int lane = 99;

	cr_assert_eq(rec_thread_lane(&lane), 0);
	return lane;
}

static uint32_t own_pages(void)
{
	return rec_lane_at(own_lane())->nr_subbufs - 1;
}

Test(lane_control, sizes_come_back)
{
	uint64_t next = 0;

	configure(64, 64);
	write_events(&next, 1);
	cr_assert_eq(rec_subbuf_resize(65536), 0);
	cr_assert_eq(own_pages(), 2);
	cr_assert_eq(rec_subbuf_resize(4096), 0);
	cr_assert_eq(own_pages(), 64);
	/* A lane that was resized on its own keeps its own size. */
	cr_assert_eq(rec_lane_resize(own_lane(), 32 * 4080), 0);
	cr_assert_eq(rec_subbuf_resize(8192), 0);
	cr_assert_eq(own_pages(), 16);
}

Test(lane_control, limits)
{
	uint64_t next = 0;

	configure(4, 6);
	write_events(&next, 1);
	cr_assert_eq(rec_lane_resize(0, 7 * 4080), -EINVAL);
	cr_assert_eq(rec_lane_resize(0, SIZE_MAX), -EINVAL);
	cr_assert_eq(rec_lane_resize(1, 4080), -ENOENT);
	cr_assert_eq(rec_lane_disable(1), -ENOENT);
	cr_assert_eq(rec_lane_enable(0), -EINVAL);
	cr_assert_eq(rec_subbuf_resize(12288), -EINVAL);
	cr_assert_eq(rec_subbuf_resize(1 << 19), -EINVAL);
	cr_assert_eq(rec_lane_release(0), -ENOENT);
}

Test(lane_control, disabling_nests_and_refusals_are_counted)
{
	struct writer w;

	configure(4, 4);
	start(&w);
	cr_assert_eq(rec_lane_disable(w.lane), 0);
	cr_assert_eq(rec_lane_disable(w.lane), 0);
	tell(&w);
	cr_assert_eq(rec_lane_enable(w.lane), 0);
	tell(&w);
	cr_assert_eq(w.written, 1);
	cr_assert_eq(rec_lane_at(w.lane)->disabled, 2);
	cr_assert_eq(rec_lane_enable(w.lane), 0);
	tell(&w);
	tell(&w);
	cr_assert_eq(w.written, 3);
	cr_assert_eq(rec_lane_at(w.lane)->disabled, 2);
	stop(&w);
	cr_assert_eq(read_own(w.lane).events, 3);
}

Test(lane_control, sub_buffers_of_another_size)
{
	unsigned int own, others;
	uint64_t next = 0;
	struct writer w;

	configure(16, 16);
	start(&w);
	others = w.lane;
	write_events(&next, 5);
	own = own_lane();
	cr_assert_eq(rec_subbuf_resize(16384), 0);
	cr_assert_neq(own_lane(), own);
	cr_assert_eq(rec_lane_at(own_lane())->subbuf_size, 16384);
	tell(&w);
	cr_assert_neq(w.lane, others);
	cr_assert_eq(rec_lane_at(w.lane)->subbuf_size, 16384);
	write_events(&next, 40);
	/* The events in the old lanes still exist. */
	cr_assert_eq(read_own(own).events, 5);
	cr_assert_eq(read_own(others).events, 1);
	cr_assert_eq(read_own(own_lane()).events, 40);
	stop(&w);
	cr_assert_eq(read_own(w.lane).events, 1);
	/* The sub-buffers become smaller again. */
	cr_assert_eq(rec_subbuf_resize(4096), 0);
	write_events(&next, 70);
	cr_assert_eq(rec_lane_at(own_lane())->subbuf_size, 4096);
	cr_assert_eq(read_own(own_lane()).events, 70);
}

/* A lane is remade only if it is empty and no reader has it open. */
Test(lane_control, a_lane_keeps_its_size_until_it_is_read_and_closed)
{
	struct rec_view *view = NULL;
	struct count count = { 0 };
	unsigned int first;
	struct writer w;

	configure(16, 16);
	start(&w);
	stop(&w);
	first = w.lane;
	cr_assert_eq(rec_subbuf_resize(8192), 0);
	cr_assert_eq(rec_lane_at(first)->subbuf_size, 4096);
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	read_lane(view, first, &count);
	cr_assert_eq(count.events, 1);
	start(&w);
	cr_assert_neq(w.lane, first);
	stop(&w);
	cr_assert_eq(rec_lane_at(first)->subbuf_size, 4096);
	rec_view_close(view);
	start(&w);
	cr_assert_eq(w.lane, first);
	cr_assert_eq(rec_lane_at(first)->subbuf_size, 8192);
	tell(&w);
	stop(&w);
	/* The lane's event numbers continue. */
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	read_lane(view, first, &count);
	cr_assert_eq(count.events, 3);
	cr_assert_eq(count.lost, 0);
	rec_view_close(view);
}

Test(lane_control, a_swap_sets_the_old_ring_aside)
{
	unsigned int held = 99, lane = 99, other = 99;
	uint64_t next = 0;
	struct writer w;

	configure(4, 4);
	cr_assert_eq(rec_lane_swap(&held), -ENOENT);
	write_events(&next, 7);
	cr_assert_eq(rec_thread_lane(&lane), 0);
	cr_assert_eq(rec_lane_swap(&held), 0);
	cr_assert_eq(held, lane);
	write_events(&next, 3);
	cr_assert_eq(rec_thread_lane(&other), 0);
	cr_assert_neq(other, held);
	/* No thread leases the lane that is set aside. */
	start(&w);
	cr_assert_neq(w.lane, held);
	cr_assert_eq(read_own(held).events, 7);
	cr_assert_eq(read_own(other).events, 3);
	stop(&w);
	cr_assert_eq(rec_lane_release(held), 0);
	cr_assert_eq(rec_lane_at(held)->owner, 0);
	start(&w);
	stop(&w);
	cr_assert_eq(read_own(w.lane).events, 1);
}

Test(lane_control, no_swap_in_the_middle_of_an_event)
{
	unsigned int held = 99;
	struct rec_slot slot;
	void *payload;

	configure(4, 4);
	payload = rec_reserve(rec_lane_lease(), 16, &slot);
	memset(payload, 0, 16);
	cr_assert_eq(rec_lane_swap(&held), -EBUSY);
	rec_commit(&slot);
	cr_assert_eq(rec_lane_swap(&held), 0);
}

/* ------------------------------------------------------------------------------------------------ at full speed */

static struct {
	uint64_t written;
	uint32_t end;
	unsigned int lane; /* where it writes */
} storm;

static void *write_on(void *arg)
{
	unsigned int lane;

	while (!__atomic_load_n(&storm.end, __ATOMIC_ACQUIRE)) {
		if (write_event(storm.written))
			storm.written++;
		if (rec_thread_lane(&lane) == 0)
			__atomic_store_n(&storm.lane, lane, __ATOMIC_RELAXED);
	}
	return arg;
}

Test(lane_control, resizes_and_a_reader_beside_a_writing_thread)
{
	unsigned int seed = 1, i, moves = 0, last = 0, lane;
	struct rec_view *view = NULL;
	struct count count = { 0 };
	struct rec_lane_stats stats;
	pthread_t thread;

	configure(4, 12);
	cr_assert_eq(pthread_create(&thread, NULL, write_on, NULL), 0);
	/* A lane is counted before its thread has made it. */
	while (rec_lane_resize(0, 4 * 4080ul) == -ENOENT)
		;
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	for (i = 0; i < 2000 || moves < 10; i++) {
		const int r = rec_lane_resize(__atomic_load_n(&storm.lane, __ATOMIC_RELAXED),
					      (2 + (unsigned int)rand_r(&seed) % 11) * 4080ul);

		cr_assert(r == 0 || r == -EBUSY, "%s", strerror(-r));
		for (lane = 0; rand_r(&seed) % 3 && lane < rec_view_lanes(view); lane++)
			read_lane(view, lane, &count);
		lane = __atomic_load_n(&storm.lane, __ATOMIC_RELAXED);
		moves += lane != last;
		last = lane;
	}
	__atomic_store_n(&storm.end, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	for (lane = 0; lane < rec_view_lanes(view); lane++) {
		read_lane(view, lane, &count);
		cr_assert_eq(rec_view_stats(view, lane, &stats), 0);
		cr_assert_eq(stats.broken, 0);
		count.lost += stats.lost_unread;
	}
	cr_assert_eq(count.events + count.lost, storm.written);
	rec_view_close(view);
}
