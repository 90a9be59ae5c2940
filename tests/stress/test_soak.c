/* SPDX-License-Identifier: MIT */
/*
 * A long time at full speed: a thread writes events in bursts; two timers at 20 kHz each have handlers that write, too;
 * a third of all events do not pass a filter; one event in seven is reserved and discarded; and a reader is sometimes
 * late. The events read and lost must be all those that passed, and those read must be in order.
 * RECORDER_SOAK_EVENTS: the number of events; RECORDER_SEED: the seed of the bursts and pauses.
 */
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "tests/unit/repeat.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/event.h>
#include <librecorder/filter.h>
#include <librecorder/reader.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LEVELS	   3 /* the thread, and a handler for each timer */
#define PERIOD_NS  50000
#define BURST_MAX  40000u
#define PAUSE_NS   200000u
#define EVENTS_MIN 3000000u
#define DISCARD_ONE_IN 7

REC_EVENT(soak, step, u64(number), u32(level), u32(third));

static struct {
	uint64_t made[LEVELS], passed[LEVELS], discarded[LEVELS];
	uint64_t wanted;
	uint32_t done;
} tally;

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static uint64_t draw_from;

static uint32_t draw(uint32_t n)
{
	draw_from = draw_from * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((draw_from >> 33) % n);
}

/* If the reservation is refused, it counts as lost. If a reader finds the discarded event, it finds level LEVELS. */
static void discard_one(unsigned int level)
{
	const struct {
		uint64_t number;
		uint32_t level, third;
	} fields = { 0, LEVELS, 0 };
	struct rec_handle *handle = rec_handle_get();
	struct rec_slot slot;
	unsigned char *payload = rec_reserve(handle, REC_EVENT_COMMON_SIZE + sizeof(fields), &slot);

	if (!payload) {
		tally.passed[level]++;
		return;
	}
	rec_put(rec_put_common(payload, handle, rec_event_id(&rec_event_soak__step)), &fields, sizeof(fields));
	rec_discard(&slot, payload);
	tally.discarded[level]++;
}

/* Each level has counters of its own, so no other level changes them in an interruption. */
static void write_one(unsigned int level)
{
	const uint64_t number = tally.made[level]++;

	if (number % DISCARD_ONE_IN == 0)
		return discard_one(level);
	REC(soak, step, number, level, (uint32_t)(number % 3));
	tally.passed[level] += number % 3 != 0;
}

static void on_timer(int signal)
{
	write_one(signal == SIGUSR1 ? 1 : 2);
}

static timer_t strike_this_thread(int signal)
{
	const struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	const struct itimerspec spec = { { 0, PERIOD_NS }, { 0, PERIOD_NS } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal };
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	sigaction(signal, &action, NULL);
	cr_assert_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	cr_assert_eq(timer_settime(timer, 0, &spec, NULL), 0);
	return timer;
}

static void *write_all(void *arg)
{
	struct timespec pause = { 0 };
	timer_t timers[2];
	sigset_t both;
	uint32_t left;

	(void)arg;
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	cr_assert_eq(rec_thread_attach(), 0);
	pthread_sigmask(SIG_UNBLOCK, &both, NULL);
	timers[0] = strike_this_thread(SIGUSR1);
	timers[1] = strike_this_thread(SIGUSR2);
	while (tally.made[0] < tally.wanted) {
		for (left = draw(BURST_MAX); left; left--)
			write_one(0);
		pause.tv_nsec = draw(PAUSE_NS);
		nanosleep(&pause, NULL);
	}
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	timer_delete(timers[0]);
	timer_delete(timers[1]);
	rec_store_release(&tally.done, 1);
	return NULL;
}

struct had {
	uint64_t next[LEVELS], read, lost, time;
};

static void check_page(struct had *had, const struct rec_page *page)
{
	const uint64_t before = had->read;
	struct rec_page_iter iter;
	struct rec_record record;
	struct {
		struct rec_event_common common;
		uint64_t number;
		uint32_t level, third;
	} event;
	int r;

	rec_page_iter_init(&iter, page->data, page->size);
	while ((r = rec_page_next(&iter, &record)) > 0) {
		if (record.offset < page->from)
			continue;
		memcpy(&event, record.payload, sizeof(event));
		cr_assert(event.level < LEVELS && event.third == event.number % 3 && event.third, "event %#llx",
			  (unsigned long long)event.number);
		cr_assert(event.number >= had->next[event.level], "level %u: %#llx after %#llx", event.level,
			  (unsigned long long)event.number, (unsigned long long)had->next[event.level] - 1);
		cr_assert(record.time >= had->time, "level %u: %#llx went back in time", event.level,
			  (unsigned long long)event.number);
		had->next[event.level] = event.number + 1;
		had->time = record.time;
		had->read++;
	}
	cr_assert(r == 0 && had->read - before == page->entries);
	had->lost += page->lost;
}

/* Read until nothing is left. The thread stays in one lane, because no event of it is ever left. */
static void read_all(struct rec_view *view, struct had *had)
{
	const struct timespec nap = { 0, 2000000 };
	struct rec_page page;
	uint32_t done;
	int r;

	do {
		done = rec_load_acquire(&tally.done);
		while ((r = rec_view_read(view, 0, 0, &page)) > 0)
			check_page(had, &page);
		cr_assert(r == 0 || r == -EAGAIN, "%d", r);
		/* Now and then the reader sleeps so long that the writer wraps. */
		if (!done)
			nanosleep(&nap, NULL);
	} while (!done || r == -EAGAIN);
}

Test(soak, what_passed_is_read_or_lost, .timeout = 3600)
{
	const uint64_t seed = from_environment("RECORDER_SEED", 1);
	struct rec_options options = REC_OPTIONS_INIT;
	struct rec_lane_stats stats;
	struct rec_view *view = NULL;
	struct had had = { 0 };
	uint64_t passed = 0;
	pthread_t writer;
	sigset_t both;
	int i;

	repeat_by("RECORDER_SEED=%llu", (unsigned long long)seed);
	draw_from = seed;
	tally.wanted = from_environment("RECORDER_SOAK_EVENTS", EVENTS_MIN);
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	options.lane_size = 256 * 4080;
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_eq(rec_enable("soak:step if third != 0"), 1);
	cr_assert_eq(pthread_create(&writer, NULL, write_all, NULL), 0);
	while (rec_view_open(rec_process_path(), &view) < 0 || rec_view_lanes(view) == 0) {
		view = rec_view_close(view);
		sched_yield();
	}
	read_all(view, &had);
	pthread_join(writer, NULL);
	cr_assert_eq(rec_lanes(), 1);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	had.lost += stats.lost_unread;
	for (i = 0; i < LEVELS; i++) {
		passed += tally.passed[i];
		cr_assert(tally.made[i] > 0 && tally.discarded[i] > 0, "level %d never wrote", i);
	}
	cr_assert(had.read + had.lost == passed, "%llu read, %llu lost of %llu", (unsigned long long)had.read,
		  (unsigned long long)had.lost, (unsigned long long)passed);
	cr_assert_eq(stats.torn, 0);
	cr_assert_eq(stats.broken, 0);
	repeat_nothing();
	printf("# %llu events, %llu of them by timers; %llu discarded, %llu passed, %llu read, %llu lost\n",
	       (unsigned long long)(tally.made[0] + tally.made[1] + tally.made[2]),
	       (unsigned long long)(tally.made[1] + tally.made[2]),
	       (unsigned long long)(tally.discarded[0] + tally.discarded[1] + tally.discarded[2]),
	       (unsigned long long)passed,
	       (unsigned long long)had.read, (unsigned long long)had.lost);
	rec_view_close(view);
}
