/* SPDX-License-Identifier: MIT */
/* Walking a log that cannot be trusted, and patterns. */
#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/log.h>
#include <librecorder/pattern.h>
#include <stdlib.h>
#include <string.h>

/* A log built record by record. */
static uint64_t words[512];
static unsigned char *const bytes = (unsigned char *)words;
static size_t used;

static void start(void)
{
	memset(words, 0, sizeof(words));
	used = 0;
}

TestSuite(log, .init = start);

static struct rec_log_record *put(uint16_t kind, uint32_t size)
{
	struct rec_log_record *record = (void *)(bytes + used);

	record->size = size;
	record->kind = kind;
	used += size;
	return record;
}

static void put_event(const char *text, uint32_t text_size, uint32_t nr_numbers)
{
	struct rec_log_event *event = (void *)put(REC_LOG_EVENT, 64);

	event->nr_numbers = nr_numbers;
	event->text_size = text_size;
	memcpy((char *)(event + 1) + (nr_numbers < 4 ? nr_numbers * 8 : 0), text, text_size < 20 ? text_size : 4);
}

static void put_thread(const char *name, uint32_t name_size)
{
	struct rec_log_thread *thread = (void *)put(REC_LOG_THREAD, 32);

	thread->name_size = name_size;
	strncpy((char *)(thread + 1), name, 16);
}

static unsigned int walk(size_t *offset)
{
	const struct rec_log_record *record;
	unsigned int count = 0;

	*offset = 0;
	while ((record = rec_log_next(bytes, used, offset))) {
		cr_assert_geq((const unsigned char *)record, bytes);
		cr_assert_leq((const unsigned char *)record + record->size, bytes + used);
		count++;
	}
	return count;
}

Test(log, good_records)
{
	size_t offset;

	put_event("s\0n", 4, 0);
	put_event("s\0n", 4, 2);
	put_thread("name", 5);
	put(77, 16); /* of a later version */
	used += 24;  /* a linker's padding */
	put_thread("", 1);
	cr_assert_eq(walk(&offset), 5);
	cr_assert_eq(offset, used);
}

Test(log, bad_contents_are_passed_over)
{
	size_t offset;

	put_event("s\0n", 3, 0);	  /* not terminated */
	put_event("s\0n", 2, 0);	  /* one string only */
	put_event("s\0n", 49, 0);	  /* beyond its end */
	put_event("s\0n", 4, 6);	  /* numbers and text beyond its end */
	put_event("s\0n", 4, UINT32_MAX);
	put_event("s\0n", UINT32_MAX, 0);
	put_thread("name", 4);
	put_thread("name", 0);
	put_thread("name", 17);
	put_thread("name", UINT32_MAX);
	put(REC_LOG_EVENT, 8);
	put(REC_LOG_THREAD, 8);
	put(REC_LOG_PRINTF, 16);
	put_thread("good", 5);
	cr_assert_eq(walk(&offset), 1);
	cr_assert_eq(offset, used);
}

Test(log, bad_sizes_end_it)
{
	static const uint32_t sizes[] = { 1, 4, 7, 9, 12, 1000, UINT32_MAX, UINT32_MAX - 7 };
	size_t offset, end;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		start();
		put_thread("good", 5);
		end = used;
		((struct rec_log_record *)(void *)(bytes + used))->size = sizes[i];
		((struct rec_log_record *)(void *)(bytes + used))->kind = REC_LOG_THREAD;
		used += 64;
		cr_assert_eq(walk(&offset), 1, "size %u", sizes[i]);
		cr_assert_eq(offset, end);
	}
}

Test(log, any_bytes_end)
{
	size_t offset;

	srand(1);
	for (int round = 0; round < 20000; round++) {
		start();
		put_event("system\0name, u64(x)", 20, 1);
		put_thread("thread", 7);
		put(REC_LOG_PRINTF, 64);
		for (int flips = 0; flips < 4; flips++)
			bytes[rand() % 160] ^= (unsigned char)(1 << rand() % 8);
		walk(&offset);
		cr_assert_leq(offset, used);
	}
}

Test(log, cut_anywhere)
{
	size_t all, offset = 0;

	put_event("s\0n", 4, 0);
	put_thread("name", 5);
	all = used;
	for (used = 0; used <= all; used++) {
		cr_assert_eq(walk(&offset), (used >= 64) + (used >= 96));
		cr_assert_eq(offset, used >= 96 ? 96 : used >= 64 ? 64 : 0);
	}
}

static bool match(const char *patterns, const char *system, const char *name)
{
	return rec_pattern_match(patterns, system, strlen(system), name, strlen(name));
}

Test(pattern, globs)
{
	cr_assert(match("io:submit", "io", "submit"));
	cr_assert(match("io", "io", "submit"));
	cr_assert(match("*", "io", "submit"));
	cr_assert(match("i?:s*t", "io", "submit"));
	cr_assert(match("*:*", "io", "submit"));
	cr_assert(match("*:**b**t*", "io", "submit"));
	cr_assert(match("a,b:c,io:submit", "io", "submit"));
	cr_assert(match("io:*mit,x", "io", "submit"));
	cr_assert(match("*:*aab", "x", "aaaab"));
	cr_assert_not(match("io:submi", "io", "submit"));
	cr_assert_not(match("io:submitt", "io", "submit"));
	cr_assert_not(match("i", "io", "submit"));
	cr_assert_not(match("submit", "io", "submit"));
	cr_assert_not(match("io:?", "io", "submit"));
	cr_assert_not(match("?:submit", "io", "submit"));
	cr_assert_not(match("*:*aab", "x", "aaaba"));
	cr_assert_not(match("a,b", "io", "submit"));
	cr_assert_not(match("io:submit,", "io", "submit"), "malformed");
	cr_assert_not(match("io-x", "io-x", "submit"));
}

/* trace-cmd separates system and event by a slash. */
Test(pattern, slashes)
{
	cr_assert_eq(rec_pattern_check("io/submit,i?/*,!io/poll"), 0);
	cr_assert_eq(rec_pattern_check("io/"), -EINVAL);
	cr_assert_eq(rec_pattern_check("/submit"), -EINVAL);
	cr_assert_eq(rec_pattern_check("io/sub/mit"), -EINVAL);
	cr_assert_eq(rec_pattern_check("io:sub/mit"), -EINVAL);
	cr_assert(match("io/submit", "io", "submit"));
	cr_assert(match("io/request", "io", "request_end"));
	cr_assert(match("net:a,i?/s*", "io", "submit"));
	cr_assert_not(match("io/submit", "io", "done"));
	cr_assert_not(match("io/*,!io/poll", "io", "poll"));
}

Test(pattern, exclusions)
{
	cr_assert_eq(rec_pattern_check("io:*,!io:poll"), 0);
	cr_assert_eq(rec_pattern_check("*,!io,!net:a*"), 0);
	cr_assert_eq(rec_pattern_check("!io"), -EINVAL);
	cr_assert_eq(rec_pattern_check("io,!"), -EINVAL);
	cr_assert_eq(rec_pattern_check("io,!!net"), -EINVAL);
	cr_assert_eq(rec_pattern_check("io:!poll"), -EINVAL);
	cr_assert_eq(rec_pattern_check("io,net!"), -EINVAL);
	cr_assert(match("io:*,!io:poll", "io", "submit"));
	cr_assert_not(match("io:*,!io:poll", "io", "poll"));
	cr_assert_not(match("io:*,!io:poll,io:poll", "io", "poll"), "whatever is named after it");
	cr_assert_not(match("*,!io", "io", "submit"));
	cr_assert(match("*,!io", "net", "submit"));
	cr_assert_not(match("io,!net", "file", "open"));
}
