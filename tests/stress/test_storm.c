/* SPDX-License-Identifier: MIT */
/*
 * Storms: a writing thread under signals that nest eight deep, and a reader in another process. The questions are those
 * that the kernel asks of its own ring at start-up (facts D4): is every payload intact; do the lost and the read events
 * add up to those written; if nothing was lost, are the sums of the lengths equal; was nothing dropped where nothing
 * may be dropped. In addition, each level's events must be in order, and time must not go back.
 *
 * RECORDER_STRESS_SECONDS=N storms for about N seconds altogether (default 10), RECORDER_SEED=N draws others. Each
 * round prints its seed when it fails, in the line that repeats it.
 */
#include "librecorder/core/atomic.h"
#include "tests/unit/repeat.h"
#include "tests/unit/ring_fixture.h"
#include "tests/unit/tell.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/page.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Level 0 is the thread; a handler may be interrupted by any signal, including its own, until it is this deep. */
#define DEEPEST 8u
#define LEVELS	(DEEPEST + 1u)

/* The longest round: after that the ring is remade, with another seed. */
#define ROUND_SECONDS 2.0

struct storm {
	uint32_t pages;
	uint32_t subbuf_size;
	bool overwrite;
	/*
	 * At most this many bytes of events are written, and none is too long, so nothing can be lost. 0: events are
	 * written until the time is over.
	 */
	uint64_t bytes;
};

/* What the writer notes of itself, in memory that it shares with the reader. */
struct tally {
	uint64_t committed[LEVELS];
	uint64_t refused[LEVELS];
	uint64_t inside[LEVELS]; /* the largest number of events that came within one event of the level */
	uint64_t too_long;
	uint64_t sizes;	  /* sum of the requested sizes of committed events */
	uint64_t lengths; /* sum of the room that their payloads take */
	uint32_t done;
};

/* What the reader found. */
struct seen {
	uint64_t next[LEVELS];
	uint64_t read;
	uint64_t lost;
	uint64_t time;
	uint64_t sizes;
	uint64_t lengths;
};

static const struct storm *storm;
static struct ring *ring;
static struct tally *tally;
static volatile sig_atomic_t depth;
static uint64_t made[LEVELS], drawn[LEVELS], seed;
static uint64_t begun; /* events of all levels */

/* Each level draws from a sequence of its own, so no other level changes it in an interruption. */
static uint32_t draw(unsigned int level, uint32_t n)
{
	drawn[level] = drawn[level] * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((drawn[level] >> 33) % n);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The kernel's series of sizes; in addition, sizes at which the length begins to need a word, and whole pages. */
static uint32_t size_of(uint64_t number)
{
	const uint64_t count = number & 0xffffffff;
	const uint32_t most = rec_page_payload_max(storm->subbuf_size) - REC_MARKER_SIZE - REC_TIME_EXTEND_SIZE;

	if (!storm->bytes && count % 512 == 511)
		return storm->subbuf_size;
	if (count % 128 == 127)
		return most - (uint32_t)(count / 128 % 8);
	if (count % 16 == 15)
		return REC_EVENT_SMALL_MAX - 4 + (uint32_t)(count / 16 % 10);
	return 8 + (uint32_t)(count * 68 / 25) % (storm->subbuf_size / 20);
}

/* The room that an event of this size takes, without its event word and length word. */
static uint32_t length_of(uint32_t size)
{
	return rec_event_total(size) - (size > REC_EVENT_SMALL_MAX ? 8 : 4);
}

static void note_inside(unsigned int level, uint64_t before)
{
	const uint64_t inside = rec_load_relaxed(&begun) - before;

	if (inside > tally->inside[level])
		tally->inside[level] = inside;
}

/* Write one event. Its number has the level in the top byte, and below that the level's count. Some are taken back. */
static void write_one(unsigned int level, int raised)
{
	const uint64_t number = (uint64_t)level << 56 | made[level]++;
	const uint32_t size = size_of(number);
	struct rec_slot slot;
	uint64_t before;
	void *payload;

	rec_local_add64(&begun, 1);
	before = rec_load_relaxed(&begun);
	payload = rec_reserve(&ring->handle, size, &slot);
	if (!payload) {
		tally->refused[level]++;
		rec_local_add64(&tally->too_long, size >= storm->subbuf_size);
		return;
	}
	ring_fill(payload, number, size);
	if (raised)
		raise(raised);
	note_inside(level, before);
	if (number % 61 == 60) {
		rec_discard(&slot, payload);
		return;
	}
	rec_commit(&slot);
	tally->committed[level]++;
	rec_local_add64(&tally->sizes, size);
	rec_local_add64(&tally->lengths, length_of(size));
}

/* Timers interrupt anywhere, inside a reservation too; raise() makes sure that each depth is reached. */
static void on_signal(int signal)
{
	const int saved = errno;
	const unsigned int level = (unsigned int)depth + 1;

	(void)signal;
	if (level > DEEPEST)
		return;
	depth = (sig_atomic_t)level;
	ring->cpu = level * 5 % 7;
	write_one(level, draw(level, 4) ? SIGRTMIN + (int)draw(level, DEEPEST) : 0);
	if (draw(level, 3) == 0)
		write_one(level, draw(level, 16) ? 0 : SIGRTMIN + (int)draw(level, DEEPEST));
	depth = (sig_atomic_t)level - 1;
	errno = saved;
}

/* All handlers are set before the first timer starts, because each of them raises any of the signals. */
static void start_timers(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_NODEFER | SA_RESTART };
	unsigned int i;

	for (i = 0; i < DEEPEST; i++)
		sigaction(SIGRTMIN + (int)i, &action, NULL);
	for (i = 0; i < DEEPEST; i += 3) {
		struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + (int)i };
		const struct itimerspec spec = { { 0, 170000 + 110000 * i }, { 0, 170000 + 110000 * i } };
		timer_t timer;

		if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 || timer_settime(timer, 0, &spec, NULL) < 0)
			_exit(3);
	}
}

static void ignore_all(void)
{
	unsigned int i;

	for (i = 0; i < DEEPEST; i++)
		signal(SIGRTMIN + (int)i, SIG_IGN);
}

/* The least number of events of a round, so that the deepest handler is reached however short it is. */
#define SHORTEST 65536u

static void writer(double until)
{
	uint64_t i;

	start_timers();
	for (i = 0; storm->bytes ? rec_load_relaxed(&tally->lengths) < storm->bytes
				 : i % 256 || i < SHORTEST || now() < until; i++) {
		write_one(0, draw(0, 150) ? 0 : SIGRTMIN + (int)draw(0, DEEPEST));
		if (draw(0, 700) == 0)
			ring->cpu = draw(0, 5);
	}
	ignore_all();
	rec_store_release(&tally->done, 1);
	_exit(0);
}

static void check_event(struct seen *seen, const struct rec_record *record)
{
	uint64_t number = 0;
	unsigned int level;
	uint32_t size;

	memcpy(&number, record->payload, sizeof(number));
	level = (unsigned int)(number >> 56);
	cr_assert(level < LEVELS, "seed %llu: level %u", (unsigned long long)seed, level);
	size = size_of(number);
	cr_assert(record->size == length_of(size) && ring_is_intact(record->payload, size, &number),
		  "seed %llu: number %#llx", (unsigned long long)seed, (unsigned long long)number);
	cr_assert(number >= seen->next[level], "seed %llu: %#llx after %#llx", (unsigned long long)seed,
		  (unsigned long long)number, (unsigned long long)seen->next[level] - 1);
	cr_assert(record->time >= seen->time, "seed %llu: time went back", (unsigned long long)seed);
	seen->next[level] = number + 1;
	seen->time = record->time;
	seen->sizes += size;
	seen->lengths += record->size;
	seen->read++;
}

static void check_page(struct seen *seen, const struct rec_page *page)
{
	const uint64_t before = seen->read;
	struct rec_page_iter iter;
	struct rec_record record;
	int r;

	rec_page_iter_init(&iter, page->data, page->size);
	while ((r = rec_page_next(&iter, &record)) > 0)
		if (record.offset >= page->from)
			check_event(seen, &record);
	cr_assert(r == 0 && seen->read - before == page->entries, "seed %llu: %d, %u events on a page of %u",
		  (unsigned long long)seed, r, (unsigned int)(seen->read - before), page->entries);
	seen->lost += page->lost;
}

/* Reads a page, whole or the part that is written, or one event, in turn. Returns as the ring does: 1, 0, -EAGAIN. */
static int read_some(struct seen *seen, uint32_t how)
{
	struct rec_ring_event event;
	struct rec_page page;
	int r;

	if (how < 3) {
		r = rec_ring_consume(&ring->reader, &event);
		if (r > 0) {
			check_event(seen, &event.record);
			seen->lost += event.lost;
		}
	} else {
		r = rec_ring_read(&ring->reader, how % 2, &page);
		if (r > 0)
			check_page(seen, &page);
	}
	cr_assert(r >= 0 || r == -EAGAIN, "seed %llu: %d", (unsigned long long)seed, r);
	return r;
}

/* A writer that ended without notice would be waited for until the test's limit. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

static void read_all(struct seen *seen, pid_t writer_pid)
{
	const struct timespec nap = { 0, 300000 };
	uint32_t done;
	bool ended;
	int r;

	do {
		ended = has_ended(writer_pid);
		done = rec_load_acquire(&tally->done);
		cr_assert(done || !ended, "seed %llu: the writer is gone", (unsigned long long)seed);
		while ((r = read_some(seen, done ? 4 : draw(0, 40))) > 0)
			continue;
		/* Now and then the reader sleeps so long that the writer wraps. */
		if (!done && draw(0, 60) == 0)
			nanosleep(&nap, NULL);
		else
			sched_yield();
	} while (!done || r == -EAGAIN);
}

static void check_sums(const struct seen *seen)
{
	const struct rec_lane *lane = ring->handle.lane;
	uint64_t committed = 0, refused = 0, inside = 0;
	unsigned int i;

	for (i = 0; i < LEVELS; i++) {
		inside = tally->inside[i] > inside ? tally->inside[i] : inside;
		committed += tally->committed[i];
		refused += tally->refused[i];
	}
	cr_assert(seen->read + seen->lost == committed + refused,
		  "seed %llu: %llu read, %llu lost, %llu committed, %llu refused", (unsigned long long)seed,
		  (unsigned long long)seen->read, (unsigned long long)seen->lost, (unsigned long long)committed,
		  (unsigned long long)refused);
	if (seen->lost == 0)
		cr_assert(seen->sizes == tally->sizes && seen->lengths == tally->lengths,
			  "seed %llu: %llu of %llu bytes, in %llu of %llu", (unsigned long long)seed,
			  (unsigned long long)seen->sizes, (unsigned long long)tally->sizes,
			  (unsigned long long)seen->lengths, (unsigned long long)tally->lengths);
	cr_assert(!storm->bytes || seen->lost == 0, "seed %llu: %llu lost", (unsigned long long)seed,
		  (unsigned long long)seen->lost);
	cr_assert(!storm->overwrite || lane->dropped == 0, "seed %llu: dropped", (unsigned long long)seed);
	/*
	 * Nested writers wrap the ring only if at least as many events as it has pages come within one event. On a slow
	 * machine the timers fire again before a handler has filled a large event. Then a handler follows another, and
	 * all their events are within the outermost one.
	 */
	cr_assert(lane->commit_overrun == 0 || inside + 2 >= storm->pages,
		  "seed %llu: wrapped, with at most %llu events within another", (unsigned long long)seed,
		  (unsigned long long)inside);
	cr_assert(lane->too_long == tally->too_long && lane->nested_limit == 0 && lane->broken == 0 && lane->torn == 0,
		  "seed %llu: too long %llu of %llu, nested limit %llu, broken %u", (unsigned long long)seed,
		  (unsigned long long)lane->too_long, (unsigned long long)tally->too_long,
		  (unsigned long long)lane->nested_limit, lane->broken);
	cr_assert(lane->tail == lane->commit);
	cr_assert(tally->committed[DEEPEST] + tally->refused[DEEPEST] > 0, "seed %llu: depth %u was never reached",
		  (unsigned long long)seed, DEEPEST);
}

/* One round: a writer with its storm, and the reader until the end. */
static void round_of(const struct storm *shape, double seconds)
{
	struct seen seen = { 0 };
	int status = 0;
	unsigned int i;
	pid_t pid;

	storm = shape;
	for (i = 0; i < LEVELS; i++) {
		made[i] = 0;
		drawn[i] = seed * 31 + i;
	}
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ring = ring_new(shape->pages, shape->subbuf_size, shape->overwrite);
	pid = fork();
	if (pid == 0)
		writer(now() + seconds);
	drawn[0]++;
	read_all(&seen, pid);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(status == 0, "seed %llu: the writer ended with %#x", (unsigned long long)seed, (unsigned int)status);
	seen.lost += ring_unreported(ring);
	check_sums(&seen);
	ring_free(ring);
	munmap(tally, sizeof(*tally));
}

static double number_from(const char *name, double otherwise)
{
	const char *text = getenv(name);

	return text ? strtod(text, NULL) : otherwise;
}

/* Run rounds of one shape, each with another seed, for the shape's share of the time. */
static void rage(const struct storm *shape)
{
	const double until = now() + number_from("RECORDER_STRESS_SECONDS", 10) / 10;
	const uint64_t first = (uint64_t)number_from("RECORDER_SEED", 1);
	double left;

	for (seed = first; (left = until - now()) > 0 || seed == first; seed++) {
		/* In a repetition this shape gets a tenth of the 20 seconds, which is the longest round. */
		repeat_by("RECORDER_SEED=%llu RECORDER_STRESS_SECONDS=20", (unsigned long long)seed);
		round_of(shape, left < ROUND_SECONDS ? left : ROUND_SECONDS);
	}
	repeat_nothing();
	tell("%u pages of %u: seeds %llu to %llu", shape->pages, shape->subbuf_size, (unsigned long long)first,
	     (unsigned long long)seed - 1);
}

#define STORM(name, ...)                                                                                               \
	Test(storm, name)                                                                                              \
	{                                                                                                              \
		const struct storm shape = { __VA_ARGS__ };                                                            \
                                                                                                                       \
		rage(&shape);                                                                                          \
	}

/* There are ten shapes, each of which gets a tenth of the time in rage(). */
STORM(overwrite_2_pages, 2, 4096, true, 0)
STORM(overwrite_3_pages, 3, 4096, true, 0)
STORM(overwrite_64_pages, 64, 4096, true, 0)
STORM(overwrite_2_large_pages, 2, 65536, true, 0)
STORM(overwrite_64_mib, 16448, 4096, true, 0)
STORM(overwrite_64_mib_in_large_pages, 129, 524288, true, 0)
STORM(discard_2_pages, 2, 4096, false, 0)
STORM(discard_64_pages, 64, 8192, false, 0)
STORM(discard_64_mib, 16448, 4096, false, 0)
STORM(nothing_lost_in_64_mib, 16448, 4096, true, 20u << 20)
