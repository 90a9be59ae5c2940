/* SPDX-License-Identifier: MIT */
/*
 * A writing thread under a storm of signals, three levels deep, and a reader in another process: every payload intact,
 * each level's events in order, time never going back, and every event accounted for.
 */
#include "tests/unit/ring_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/page.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEVELS 4
#define EVENTS 3000000u

/* What the writer says of itself, in memory that it shares with the reader. */
struct tally {
	uint64_t committed[LEVELS];
	uint64_t refused[LEVELS];
	uint32_t done;
};

static struct ring *ring;
static struct tally *tally;

/* One event: level in the top byte of its number, a count of its own below; some are taken back. */
static void write_one(unsigned int level)
{
	static uint64_t made[LEVELS];
	const uint64_t number = (uint64_t)level << 56 | made[level]++;
	const uint32_t size = 8 + (uint32_t)(number * 68 / 25) % 120;
	struct rec_slot slot;
	void *payload = rec_reserve(&ring->handle, size, &slot);

	if (!payload) {
		tally->refused[level]++;
		return;
	}
	ring_fill(payload, number, size);
	if (number % 61 == 60) {
		rec_discard(&slot, payload);
		return;
	}
	rec_commit(&slot);
	tally->committed[level]++;
}

static void on_signal(int signal)
{
	write_one(signal == SIGUSR1 ? 1 : signal == SIGUSR2 ? 2 : 3);
	/* The timers strike anywhere, inside a reservation too; this makes sure that every level comes upon the one below. */
	if (signal == SIGUSR1)
		raise(SIGUSR2);
	else if (signal == SIGUSR2)
		raise(SIGRTMIN);
	write_one(signal == SIGUSR1 ? 1 : signal == SIGUSR2 ? 2 : 3);
}

static void start_timer(int signal, long every_ns)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal };
	const struct itimerspec spec = { { 0, every_ns }, { 0, every_ns } };
	timer_t timer;

	sigaction(signal, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 || timer_settime(timer, 0, &spec, NULL) < 0)
		_exit(3);
}

static void writer(void)
{
	unsigned int i;

	start_timer(SIGUSR1, 530000);
	start_timer(SIGUSR2, 310000);
	start_timer(SIGRTMIN, 170000);
	for (i = 0; i < EVENTS; i++) {
		write_one(0);
		ring->cpu = i / 1000 % 3;
		if (i % 1000 == 0)
			raise(SIGUSR1);
	}
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGRTMIN, SIG_IGN);
	rec_store_release(&tally->done, 1);
	_exit(0);
}

struct seen {
	uint64_t next[LEVELS];
	uint64_t read;
	uint64_t lost;
	uint64_t time;
};

static void check_page(struct seen *seen, const struct rec_page *page)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t number, events = 0;
	int r;

	rec_page_iter_init(&iter, page->data, page->size);
	while ((r = rec_page_next(&iter, &record)) > 0) {
		if (record.offset < page->from)
			continue;
		memcpy(&number, record.payload, sizeof(number));
		cr_assert_lt(number >> 56, LEVELS);
		cr_assert(ring_is_intact(record.payload, 8 + (uint32_t)(number * 68 / 25) % 120, &number));
		cr_assert_geq(number, seen->next[number >> 56]);
		seen->next[number >> 56] = number + 1;
		cr_assert_geq(record.time, seen->time);
		seen->time = record.time;
		events++;
	}
	cr_assert_eq(r, 0);
	cr_assert_eq(events, page->entries);
	seen->read += events;
	seen->lost += page->lost;
}

static void storm(uint32_t pages, bool overwrite)
{
	struct seen seen = { 0 };
	struct rec_page page;
	uint64_t made = 0;
	unsigned int i;
	bool done = false;
	int status = 0, r;
	pid_t pid;

	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ring = ring_new(pages, 4096, overwrite);
	pid = fork();
	if (pid == 0)
		writer();
	while (!done) {
		done = rec_load_acquire(&tally->done);
		while ((r = rec_ring_read(&ring->reader, false, &page)) > 0)
			check_page(&seen, &page);
		cr_assert(r == 0 || r == -EAGAIN, "%d", r);
		sched_yield();
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	cr_assert_eq(r, 0);
	for (i = 0; i < LEVELS; i++)
		made += tally->committed[i] + tally->refused[i];
	seen.lost += rec_ring_unreported(&ring->reader);
	cr_assert_eq(seen.read + seen.lost, made, "%llu read, %llu lost, %llu made", (unsigned long long)seen.read,
		     (unsigned long long)seen.lost, (unsigned long long)made);
	cr_assert_gt(tally->committed[3], 100);
	ring_free(ring);
	munmap(tally, sizeof(*tally));
}

Test(storm, overwrite_two_pages)
{
	storm(2, true);
}

Test(storm, overwrite_many_pages)
{
	storm(64, true);
}

Test(storm, discard_two_pages)
{
	storm(2, false);
}

Test(storm, discard_many_pages)
{
	storm(64, false);
}
