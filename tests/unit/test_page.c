/* SPDX-License-Identifier: MIT */
/*
 * The contents of a page, decoded by each reader: rec_page_next(), and dat_walk_next() for both byte orders. The test
 * draws pages record by record and notes the expected events. Each reader must return exactly these. If a page has an
 * invalid end, the readers are compared with each other.
 */
#include "format/dat/dat_page.h"
#include "librecorder/core/page_bytes.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define PAGE	   4096u
#define EVENTS_MAX 1024u

/* The time has bits above the 59 that a stamp has: all readers complete it in the same way there. */
#define BEGIN ((UINT64_C(3) << 59) + 1000)

struct event {
	uint32_t offset, size;
	uint64_t time;
};

/* The same page in this machine's byte order and in the other one, and its contents. */
struct image {
	unsigned char own[PAGE], other[PAGE];
	uint32_t size;
	uint64_t time;
	struct event events[EVENTS_MAX];
	unsigned int nr;
};

static void begin(struct image *image, uint64_t time)
{
	const uint64_t swapped = __builtin_bswap64(time);

	memset(image, 0, sizeof(*image));
	image->time = time;
	memcpy(image->own, &time, sizeof(time));
	memcpy(image->other, &swapped, sizeof(swapped));
}

static void end(struct image *image, uint64_t flags)
{
	const uint64_t commit = flags | image->size, swapped = __builtin_bswap64(commit);

	memcpy(image->own + 8, &commit, sizeof(commit));
	memcpy(image->other + 8, &swapped, sizeof(swapped));
}

static void put_number(struct image *image, uint32_t number, uint32_t of_other)
{
	const uint32_t swapped = __builtin_bswap32(of_other);

	memcpy(image->own + 16 + image->size, &number, 4);
	memcpy(image->other + 16 + image->size, &swapped, 4);
	image->size += 4;
}

/* An event word: on a big endian machine the type has the upper bits. */
static void put_word(struct image *image, uint32_t type, uint32_t delta)
{
	put_number(image, delta << 5 | type, type << 27 | delta);
}

static void put_bytes(struct image *image, uint32_t size)
{
	memset(image->own + 16 + image->size, 0x11, size);
	memset(image->other + 16 + image->size, 0x11, size);
	image->size += (size + 3) / 4 * 4;
}

static void note(struct image *image, uint32_t offset, uint32_t size)
{
	image->events[image->nr++] = (struct event){ offset, size, image->time };
}

static void put_event(struct image *image, uint32_t delta, uint32_t type)
{
	image->time += delta;
	note(image, image->size, type * 4);
	put_word(image, type, delta);
	put_bytes(image, type * 4);
}

static void put_long(struct image *image, uint32_t delta, uint32_t size)
{
	image->time += delta;
	note(image, image->size, size);
	put_word(image, 0, delta);
	put_number(image, size + 4, size + 4);
	put_bytes(image, size);
}

/* The delta of the record counts, because later records were written after it. With a delta of 1, readers differ. */
static void put_padding(struct image *image, uint32_t delta, uint32_t body)
{
	image->time += delta;
	put_word(image, REC_TYPE_PADDING, delta);
	put_number(image, body + 4, body + 4);
	put_bytes(image, body);
}

static void put_time(struct image *image, uint32_t type, uint64_t value)
{
	put_word(image, type, (uint32_t)(value & REC_DELTA_MAX));
	put_number(image, (uint32_t)(value >> 27), (uint32_t)(value >> 27));
	image->time = type == REC_TYPE_TIME_EXTEND ? image->time + value : (image->time & ~REC_TIME_STAMP_MASK) | value;
}

/* ----------------------------------------------------------------------------------------------------- the readers */

struct seen {
	struct event events[EVENTS_MAX];
	unsigned int nr;
	int end;     /* how reading ended: 0 or -EBADMSG */
	uint32_t at; /* where reading ended */
};

static void read_own(const struct image *image, struct seen *ret)
{
	struct rec_page_iter iter;
	struct rec_record record;
	int r;

	ret->nr = 0;
	rec_page_iter_init(&iter, image->own, image->size);
	while ((r = rec_page_next(&iter, &record)) > 0)
		ret->events[ret->nr++] = (struct event){ record.offset, record.size, record.time };
	ret->end = r;
	ret->at = iter.offset;
}

static int open_dat(const unsigned char *bytes, bool big, unsigned int commit_size, struct dat_walk *ret_walk)
{
	const struct dat_file file = { .big = big, .commit_size = commit_size };
	const struct dat_page page = { .data = bytes, .size = PAGE };
	struct dat_error error = { 0 };

	return dat_walk_open(&file, &page, ret_walk, &error);
}

static void read_dat(const unsigned char *bytes, bool big, struct seen *ret)
{
	struct dat_error error = { 0 };
	struct dat_record record;
	struct dat_walk walk;
	int r;

	ret->nr = 0;
	cr_assert_eq(open_dat(bytes, big, 8, &walk), 0);
	while ((r = dat_walk_next(&walk, &record, &error)) > 0)
		if (record.kind == DAT_RECORD_DATA)
			ret->events[ret->nr++] = (struct event){ record.pos - 16, record.size, record.ts };
	ret->end = r;
	ret->at = walk.pos - 16;
}

static void same_events(const struct event *a, unsigned int nr_a, const struct event *b, unsigned int nr_b,
			unsigned int seed)
{
	cr_assert_eq(nr_a, nr_b, "seed %u: %u events and %u", seed, nr_a, nr_b);
	for (unsigned int i = 0; i < nr_a; i++)
		cr_assert(a[i].offset == b[i].offset && a[i].size == b[i].size && a[i].time == b[i].time,
			  "seed %u, event %u: at %u, %u bytes, time %llu; at %u, %u bytes, time %llu", seed, i,
			  a[i].offset, a[i].size, (unsigned long long)a[i].time, b[i].offset, b[i].size,
			  (unsigned long long)b[i].time);
}

/* --------------------------------------------------------------------------------------------------- pages, drawn */

static uint32_t draw(unsigned int *seed, uint32_t below)
{
	return (uint32_t)rand_r(seed) % below;
}

static void put_any(struct image *image, unsigned int *seed)
{
	const uint32_t delta = 1 + draw(seed, 1000);

	switch (draw(seed, 8)) {
	case 0:
		put_padding(image, delta + 1, draw(seed, 40));
		break;
	case 1:
		put_time(image, REC_TYPE_TIME_EXTEND, delta + ((uint64_t)draw(seed, 5) << 27));
		break;
	case 2:
		put_time(image, REC_TYPE_TIME_STAMP, (image->time & REC_TIME_STAMP_MASK) + delta);
		break;
	case 3:
		put_long(image, delta, draw(seed, 200));
		break;
	default:
		put_event(image, delta - 1, 1 + draw(seed, 28));
	}
}

static void fill(struct image *image, unsigned int *seed)
{
	const uint32_t until = draw(seed, PAGE - 16 - 256);

	begin(image, BEGIN + draw(seed, 1000000));
	while (image->size < until)
		put_any(image, seed);
}

Test(page, all_readers_see_what_was_written)
{
	static struct image image;
	static struct seen own, same, other;
	unsigned int seed;

	for (seed = 1; seed <= 1000; seed++) {
		unsigned int draws = seed;

		fill(&image, &draws);
		/* The kernel's filler: the rest of the page is unused. */
		if (draw(&draws, 2)) {
			put_word(&image, REC_TYPE_PADDING, 0);
			put_bytes(&image, draw(&draws, 3) * 4);
		}
		end(&image, 0);
		read_own(&image, &own);
		read_dat(image.own, false, &same);
		read_dat(image.other, true, &other);
		cr_assert(own.end == 0 && same.end == 0 && other.end == 0, "seed %u", seed);
		same_events(own.events, own.nr, image.events, image.nr, seed);
		same_events(same.events, same.nr, image.events, image.nr, seed);
		same_events(other.events, other.nr, image.events, image.nr, seed);
	}
}

/*
 * The readers stop at the same place. If fewer bytes remain than a record needs, rec_page_next() returns the end, and
 * the other reader damage.
 */
Test(page, all_readers_stop_at_the_same_nonsense)
{
	static struct image image;
	static struct seen own, same, other;
	unsigned int seed, damaged = 0, ended = 0, cut = 0;

	for (seed = 1; seed <= 3000; seed++) {
		unsigned int draws = seed;
		unsigned int words;

		fill(&image, &draws);
		for (words = draw(&draws, 8); words; words--)
			put_word(&image, draw(&draws, 32), draw(&draws, 2) * 2);
		end(&image, 0);
		read_own(&image, &own);
		read_dat(image.own, false, &same);
		read_dat(image.other, true, &other);
		if (own.end == 0 && same.end < 0) {
			cr_assert_lt(image.size - own.at, 8, "seed %u", seed);
			cut++;
		} else {
			cr_assert_eq(own.end, same.end, "seed %u: %d and %d", seed, own.end, same.end);
		}
		same_events(own.events, own.nr, same.events, same.nr, seed);
		damaged += own.end < 0;
		ended += own.end == 0;
		/*
		  * In the other byte order the second word of a record is another number. So reading may end elsewhere,
		  * but within the page.
		 */
		cr_assert_leq(other.at, image.size);
	}
	cr_assert(damaged > 100 && ended > 100 && cut > 10, "%u damaged, %u not, %u cut", damaged, ended, cut);
}

/* --------------------------------------------------------------------------------------------------- one by one */

/* Facts A4.2: the event was written 30 + 7 after the first one, with any reader. */
Test(page, the_delta_of_padding_counts)
{
	static struct image image;
	static struct seen own;

	begin(&image, BEGIN);
	put_event(&image, 0, 2);
	put_padding(&image, 30, 16);
	put_event(&image, 7, 2);
	end(&image, 0);
	read_own(&image, &own);
	cr_assert_eq(own.nr, 2);
	cr_assert_eq(own.events[1].time, BEGIN + 37);
}

/*
 * A padding's delta of 1 represents 0, so our readers do not add it, though libtraceevent does. A stamp with the page's
 * own time follows each marker, and must not look like one that overflowed.
 */
Test(page, a_delta_of_1_of_padding)
{
	static struct image image;
	static struct seen own, file;

	begin(&image, BEGIN);
	put_padding(&image, 1, 16);
	put_event(&image, 7, 2);
	put_padding(&image, 1, 8);
	put_time(&image, REC_TYPE_TIME_STAMP, (BEGIN + 7) & REC_TIME_STAMP_MASK);
	put_event(&image, 0, 2);
	end(&image, 0);
	read_own(&image, &own);
	cr_assert_eq(own.nr, 2);
	cr_assert_eq(own.events[0].time, BEGIN + 7);
	cr_assert_eq(own.events[1].time, BEGIN + 7);
	read_dat(image.own, false, &file);
	cr_assert_eq(file.events[0].time, BEGIN + 8);
}

/* A marker has its length and its magic; anything else does not change the CPU. */
Test(page, a_marker_names_the_cpu)
{
	static const struct {
		uint32_t length, magic, cpu;
	} paddings[] = {
		{ 12, REC_MARKER_MAGIC, 5 }, { 8, REC_MARKER_MAGIC, 5 },  { 16, REC_MARKER_MAGIC, 5 },
		{ 11, REC_MARKER_MAGIC, 5 }, { 12, 0x55504353, 5 },	  { 12, REC_MARKER_MAGIC, 70000 },
	};
	static const uint32_t expected[] = { 5, REC_CPU_UNKNOWN, REC_CPU_UNKNOWN, REC_CPU_UNKNOWN, REC_CPU_UNKNOWN,
					     70000 };

	for (unsigned int i = 0; i < sizeof(paddings) / sizeof(paddings[0]); i++) {
		static struct image image;
		struct rec_page_iter iter;
		struct rec_record record;

		begin(&image, BEGIN);
		put_word(&image, REC_TYPE_PADDING, 1);
		put_number(&image, paddings[i].length, 0);
		put_number(&image, paddings[i].magic, 0);
		if (paddings[i].length > 8)
			put_number(&image, paddings[i].cpu, 0);
		if (paddings[i].length > 12)
			put_number(&image, 0, 0);
		put_event(&image, 0, 2);
		rec_page_iter_init(&iter, image.own, image.size);
		cr_assert_eq(rec_page_next(&iter, &record), 1);
		cr_assert_eq(record.cpu, expected[i], "padding %u: CPU %u", i, record.cpu);
	}
}

/* Facts A2.7: the kernel carries a stamp's time into the upper bits for the first time, too; libtraceevent does not. */
Test(page, the_first_carry_of_a_stamp)
{
	static struct image image;
	static struct seen own, file;

	begin(&image, REC_TIME_STAMP_MASK - 10);
	put_time(&image, REC_TYPE_TIME_STAMP, 5);
	put_event(&image, 0, 2);
	end(&image, 0);
	read_own(&image, &own);
	read_dat(image.own, false, &file);
	cr_assert_eq(own.nr, 1);
	cr_assert_eq(own.events[0].time, REC_TIME_STAMP_MASK + 1 + 5);
	cr_assert_eq(file.nr, 1);
	cr_assert_eq(file.events[0].time, 5);
}

/* The loss before a page: none, some, a number; and a number for which the page has no room. */
Test(page, losses)
{
	static struct image image;
	struct dat_walk walk;
	uint64_t lost = 77;
	int32_t lost32 = 78;
	uint32_t commit32;

	begin(&image, BEGIN);
	put_event(&image, 0, 2);
	end(&image, 0);
	memcpy(image.own + 16 + image.size, &lost, sizeof(lost));
	cr_assert_eq(rec_page_size(image.own), image.size);
	cr_assert_eq(rec_page_lost(image.own, PAGE - 16), 0);
	end(&image, REC_COMMIT_LOST);
	cr_assert_eq(rec_page_size(image.own), image.size);
	cr_assert_eq(rec_page_lost(image.own, PAGE - 16), UINT64_MAX);
	cr_assert_eq(open_dat(image.own, false, 8, &walk), 0);
	cr_assert_eq(walk.page_lost, DAT_PAGE_LOST_UNKNOWN);
	end(&image, REC_COMMIT_LOST | REC_COMMIT_LOST_STORED);
	cr_assert_eq(rec_page_lost(image.own, PAGE - 16), 77);
	cr_assert_eq(rec_page_lost(image.own, image.size + 8), 77);
	cr_assert_eq(rec_page_lost(image.own, image.size + 7), UINT64_MAX);
	cr_assert_eq(rec_page_lost(image.own, image.size - 1), UINT64_MAX);
	cr_assert_eq(open_dat(image.own, false, 8, &walk), 0);
	cr_assert_eq(walk.page_lost, 77);
	/* On a machine of 32 bits, the commit word and the number have four bytes each. */
	commit32 = REC_COMMIT_LOST | REC_COMMIT_LOST_STORED | 12;
	memcpy(image.own + 8, &commit32, sizeof(commit32));
	memcpy(image.own + 12 + 12, &lost32, sizeof(lost32));
	cr_assert_eq(open_dat(image.own, false, 4, &walk), 0);
	cr_assert_eq(walk.page_lost, 78);
	cr_assert_eq(walk.header, 12);
	cr_assert_eq(walk.used, 12 + 12);
}

/*
 * In bytes from untrusted sources nothing beyond them is read (the sanitizers check that), and a record lies within
 * them.
 */
Test(page, any_bytes)
{
	unsigned int seed = 1, kinds[PAGE_STAMP + 1] = { 0 }, damaged = 0;

	for (unsigned int round = 0; round < 100000; round++) {
		const uint32_t left = draw(&seed, 64);
		const unsigned int rule = draw(&seed, 32);
		unsigned char *bytes = malloc(left ? left : 1);
		struct page_record record;
		uint64_t time = BEGIN;
		int kind;

		cr_assert_not_null(bytes);
		for (uint32_t i = 0; i < left; i++)
			bytes[i] = (unsigned char)draw(&seed, 256);
		/* If lengths were not limited, few records would fit. */
		if (left >= 8 && draw(&seed, 4)) {
			memset(bytes + 4, 0, 4);
			bytes[rule & PAGE_SWAPPED ? 7 : 4] = (unsigned char)draw(&seed, 80);
		}
		kind = page_record(bytes, left, rule, &time, &record);
		cr_assert(kind >= 0 ? kind <= PAGE_STAMP : kind == -EBADMSG);
		if (kind > PAGE_END) {
			cr_assert(record.length >= 8 && record.length <= left &&
				  record.head + record.size <= record.length,
				  "a record of %u bytes, %u of them payload, in %u", record.length, record.size, left);
			kinds[kind]++;
		}
		damaged += kind < 0;
		free(bytes);
	}
	for (unsigned int kind = PAGE_DATA; kind <= PAGE_STAMP; kind++)
		cr_assert_gt(kinds[kind], 100, "kind %u: %u", kind, kinds[kind]);
	cr_assert_gt(damaged, 100);
}
