/* SPDX-License-Identifier: MIT */
/* Registration, ids, enable words and patterns, in the process's own buffer. */
#include "librecorder/process/process.h"
#include "tests/unit/event_fixture.h"
#include "tests/unit/made_event.h"
#include "tests/unit/own_buffer.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/context.h>
#include <librecorder/event.h>
#include <librecorder/event_text.h>
#include <librecorder/log.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

REC_EVENT(one, alpha, u64(n));
REC_EVENT(one, beta, u64(n));
REC_EVENT(two, alpha, u64(n));
REC_EVENT(two, text, string(s));
REC_EVENT(two, blob, bytes(b));
REC_EVENT(two, huge, array(u64, words, 8000));

static uint32_t word_of(const struct rec_event *event)
{
	return own_words()[event->id - REC_EVENT_ID_FIRST];
}

Test(event, everything_is_off_at_first)
{
	cr_assert_eq(rec_process_init(), 0);
	cr_assert_not(REC_ON(one, alpha));
	cr_assert_not(REC_ON(two, text));
	cr_assert_not(rec_printf_on());
	REC(one, alpha, 1);
	rec_printf("%d", 1);
	cr_assert_eq(rec_process_header()->nr_lanes, 0, "an event that is off leases no lane");
}

static int evaluated;

static uint64_t evaluate(void)
{
	return (uint64_t)++evaluated;
}

Test(event, arguments_are_evaluated_only_when_on)
{
	REC(one, alpha, evaluate());
	cr_assert_eq(evaluated, 0);
	rec_enable("one:alpha");
	REC(one, alpha, evaluate());
	cr_assert_eq(evaluated, 1);
	cr_assert_str_eq(event_fixture_text(), "alpha: n=1\n");
}

Test(event, ids_are_distinct_and_in_range)
{
	const struct rec_event *events[] = { &rec_event_one__alpha, &rec_event_one__beta, &rec_event_two__alpha,
					     &rec_event_two__text };

	for (unsigned int i = 0; i < 4; i++) {
		cr_assert_gt(events[i]->id, REC_EVENT_ID_FIRST, "the first is rec_printf's");
		cr_assert_lt(events[i]->id, REC_EVENT_ID_FIRST + REC_EVENTS_MAX);
		for (unsigned int j = 0; j < i; j++)
			cr_assert_neq(events[i]->id, events[j]->id);
	}
}

Test(event, every_event_is_in_the_log_once_with_its_id)
{
	const struct rec_log_record *record;
	struct rec_event_info info;
	unsigned int found = 0;
	size_t offset = 0;

	while ((record = rec_log_next(own_part(rec_process_header()->log), rec_process_header()->log_used, &offset))) {
		if (record->kind != REC_LOG_EVENT)
			continue;
		cr_assert_eq(rec_event_parse((const void *)record, &info), 0);
		if (record->id != rec_event_two__alpha.id)
			continue;
		found++;
		cr_assert_eq(memcmp(info.system.text, "two", 3), 0);
		cr_assert_eq(memcmp(info.name.text, "alpha", 5), 0);
	}
	cr_assert_eq(found, 1);
	cr_assert_eq(offset, rec_process_header()->log_used);
}

Test(event, the_same_declaration_is_the_same_event)
{
	struct made_event first, again, other;
	uint64_t log_used;

	made_event(&first, "made", "event, u8(a)", 9);
	made_event(&again, "made", "event,u8( a )", 9);
	made_event(&other, "made", "event, u16(a)", 10);
	rec_event_register(&first.event);
	log_used = rec_process_header()->log_used;
	rec_event_register(&first.event);
	rec_event_register(&again.event);
	cr_assert_eq(again.event.id, first.event.id);
	cr_assert_eq(again.event.enabled, first.event.enabled);
	cr_assert_eq(rec_process_header()->log_used, log_used, "and is in the log once");
	rec_event_register(&other.event);
	cr_assert_neq(other.event.id, first.event.id, "another shape is another event");
	cr_assert_gt(rec_process_header()->log_used, log_used);
}

Test(event, an_object_that_comes_back_finds_its_ids)
{
	struct made_event first, again;
	uint32_t id;

	made_event(&first, "made", "event, u8(a)", 9);
	rec_event_register(&first.event);
	id = first.event.id;
	rec_enable("made");
	rec_event_unregister(&first.event);
	rec_event_unregister(&first.event);
	memset(&first, 0xff, sizeof(first)); /* its memory is reused for something else now */
	rec_disable("one");

	made_event(&again, "made", "event, u8(a)", 9);
	rec_event_register(&again.event);
	cr_assert_eq(again.event.id, id);
	cr_assert(rec_event_on(&again.event));
}

Test(event, malformed_descriptions_stay_off_and_are_counted)
{
	struct made_event bad;

	made_event(&bad, "made", "event, u8(a)", 10);
	rec_enable("*");
	rec_event_register(&bad.event);
	cr_assert_eq(bad.event.enabled, &bad.event.off);
	cr_assert_not(rec_event_on(&bad.event));
	cr_assert_eq(rec_process_header()->lost_log_full, 1);
	rec_event_unregister(&bad.event);
}

Test(event, patterns_switch_present_and_later_events)
{
	struct made_event later;

	cr_assert_eq(rec_enable("one:alpha"), 1);
	cr_assert(REC_ON(one, alpha));
	cr_assert_not(REC_ON(one, beta));
	cr_assert_not(REC_ON(two, alpha));
	cr_assert_eq(rec_enable("*:alpha"), 2);
	cr_assert(REC_ON(two, alpha));
	cr_assert_eq(rec_disable("one"), 2);
	cr_assert_not(REC_ON(one, alpha));
	cr_assert(REC_ON(two, alpha));
	cr_assert_eq(rec_enable("nobody"), 0);
	cr_assert_eq(rec_enable("late?,one:b*"), 1);
	cr_assert(REC_ON(one, beta));

	made_event(&later, "later", "event, u8(a)", 9);
	rec_event_register(&later.event);
	cr_assert(rec_event_on(&later.event));
	made_event(&later, "latest", "event, u8(a)", 9);
	rec_event_register(&later.event);
	cr_assert_not(rec_event_on(&later.event));
	made_event(&later, "two", "alpha, u8(a)", 9);
	rec_event_register(&later.event);
	cr_assert(rec_event_on(&later.event));
	rec_disable("two:*");
	cr_assert_not(rec_event_on(&later.event));
	made_event(&later, "two", "delta, u8(a)", 9);
	rec_event_register(&later.event);
	cr_assert_not(rec_event_on(&later.event), "the last request holds");
}

Test(event, malformed_patterns_change_nothing)
{
	static const char *const bad[] = { "",	 ":",	 "a:",	":a",	 "a:b:c", ",",	    "a,",
					   ",a", "a,,b", "a b", "a:b;c", "a/b/c", "one:*," };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(rec_enable(bad[i]), -EINVAL, "'%s'", bad[i]);
		cr_assert_eq(rec_disable(bad[i]), -EINVAL, "'%s'", bad[i]);
	}
	cr_assert_eq(rec_enable(NULL), -EINVAL);
	cr_assert_not(REC_ON(one, alpha));
}

Test(event, stop_and_start_keep_selectors)
{
	rec_enable("one:alpha");
	cr_assert_eq(rec_stop(), 0);
	cr_assert_not(REC_ON(one, alpha));
	cr_assert_eq(word_of(&rec_event_one__alpha), REC_ENABLE_WANTED);
	rec_enable("one:beta");
	cr_assert_not(REC_ON(one, beta));
	cr_assert_eq(rec_start(), 0);
	cr_assert(REC_ON(one, alpha));
	cr_assert(REC_ON(one, beta));
	cr_assert_not(REC_ON(two, alpha));
}

Test(event, others_switch_by_the_word)
{
	/* The stores that a recorder makes in its mapping. */
	own_words()[rec_event_two__text.id - REC_EVENT_ID_FIRST] = REC_ENABLE_WANTED | REC_ENABLE_ON;
	cr_assert(REC_ON(two, text));
	REC(two, text, "x");
	cr_assert_str_eq(event_fixture_text(), "text: s=x\n");
}

/* ------------------------------------------------------------------------------------------------ long events */

static uint64_t too_long(void)
{
	return rec_thread_handle->lane->too_long;
}

Test(event, long_events_are_refused_and_counted)
{
	const size_t fits = 4048 - REC_EVENT_COMMON_SIZE - 4;
	static char string[70000];
	static uint64_t words[8000];

	rec_enable("two");
	memset(string, 'x', sizeof(string) - 1);
	string[fits - 1] = '\0';
	REC(two, text, string);
	cr_assert_eq(strlen(event_fixture_text()), strlen("text: s=\n") + fits - 1);
	cr_assert_eq(too_long(), 0);
	string[fits - 1] = 'x';
	string[fits] = '\0';
	REC(two, text, string);
	cr_assert_eq(too_long(), 1);
	string[fits] = 'x';
	REC(two, text, string);
	cr_assert_eq(too_long(), 2, "more than 64 KiB");
	REC(two, blob, string, SIZE_MAX);
	REC(two, blob, string, 65535);
	cr_assert_eq(too_long(), 4);
	REC(two, huge, words);
	cr_assert_eq(too_long(), 5);
	REC(two, blob, string, fits);
	cr_assert_eq(too_long(), 5);
	event_fixture_text();
	cr_assert_eq(event_fixture_count(), 1);
}

/*
 * Short events are copied in another way than long ones; each is read back. The payload is one byte past an aligned
 * address, so that none is aligned.
 */
Test(event, strings_of_every_length)
{
	char source[128], expected[160];
	unsigned int length, i;

	rec_enable("two:text");
	for (length = 0; length < 100; length++) {
		for (i = 0; i < length; i++)
			source[1 + i] = (char)('0' + (i * 7 + length) % 75);
		source[1 + length] = '\0';
		REC(two, text, source + 1);
		snprintf(expected, sizeof(expected), "text: s=%s\n", source + 1);
		cr_assert_str_eq(event_fixture_text(), expected);
	}
}

/* ------------------------------------------------------------------------------------------------------- moving */

Test(event, configure_moves_events_and_selectors)
{
	struct rec_options options = REC_OPTIONS_INIT;
	const uint32_t id = rec_event_one__alpha.id;

	rec_enable("one:alpha,ftrace:bprint");
	options.subbuf_size = 8192;
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert(REC_ON(one, alpha));
	cr_assert_not(REC_ON(one, beta));
	cr_assert_eq(rec_event_one__alpha.id, id);
	REC(one, alpha, 5);
	rec_printf("at %d", 6);
	cr_assert_str_eq(event_fixture_text(),
			 "alpha: n=5\nbprint: event_configure_moves_events_and_selectors_impl: at 6\n");
	cr_assert_eq(rec_configure(&options), -EBUSY);
}

/* No assertions here: only the test process can make them. */
static bool in_the_child(const char *parents_path)
{
	/* two:alpha was switched on from outside, as a recorder does. */
	const bool good = strcmp(rec_process_path(), parents_path) != 0 && REC_ON(one, alpha) && REC_ON(two, alpha) &&
			  !REC_ON(one, beta);

	for (int i = 0; i < 2; i++)
		rec_printf("child %d", i);
	REC(one, alpha, 2);
	return good;
}

Test(event, forked_children_have_their_own)
{
	char path[PATH_MAX], child_path[PATH_MAX] = "";
	int status, up[2], down[2];
	pid_t pid;

	rec_enable("one:alpha,ftrace");
	own_words()[rec_event_two__alpha.id - REC_EVENT_ID_FIRST] = REC_ENABLE_WANTED | REC_ENABLE_ON;
	REC(one, alpha, 1);
	rec_printf("parent");
	strcpy(path, rec_process_path());
	cr_assert(pipe(up) == 0 && pipe(down) == 0);
	pid = fork();
	if (pid == 0) {
		close(down[1]);
		if (in_the_child(path) && write(up[1], rec_process_path(), strlen(rec_process_path()) + 1) > 0)
			status = (int)read(down[0], child_path, 1); /* wait until the parent has checked */
		_exit(0);
	}
	close(up[1]);
	close(down[0]);
	cr_assert_gt(read(up[0], child_path, sizeof(child_path)), 0, "the child sees what it should");
	cr_assert_str_eq(event_fixture_text_of(child_path),
			 "bprint: in_the_child: child 0\nbprint: in_the_child: child 1\nalpha: n=2\n");
	close(down[1]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	REC(one, alpha, 3);
	cr_assert_str_eq(event_fixture_text(),
			 "alpha: n=1\nbprint: event_forked_children_have_their_own_impl: parent\nalpha: n=3\n");
}

/* ------------------------------------------------------------------------------------------------------- limits */

Test(event, sixteen_thousand_events_and_no_more)
{
	const unsigned int many = REC_EVENTS_MAX + 10;
	struct made_event *made = calloc(many, sizeof(*made));
	unsigned int on = 0, off = 0;
	char declaration[64];

	rec_enable("many");
	for (unsigned int i = 0; i < many; i++) {
		snprintf(declaration, sizeof(declaration), "event%u, u8(a)", i);
		made_event(&made[i], "many", declaration, 9);
		rec_event_register(&made[i].event);
		if (rec_event_on(&made[i].event)) {
			on++;
			cr_assert_lt(made[i].event.id, REC_EVENT_ID_FIRST + REC_EVENTS_MAX);
		} else {
			off++;
		}
	}
	cr_assert_eq(on + off, many);
	cr_assert_gt(off, 10);
	cr_assert_gt(on, REC_EVENTS_MAX / 2);
	cr_assert_eq(rec_process_header()->lost_log_full, off);
	free(made);
}

/* Each thread that records adds its name to the log, which is never freed. */
Test(event, names_of_threads_leave_room_for_events)
{
	static struct made_event later;
	const struct rec_buffer_header *header;
	unsigned int nr = 0;
	char name[256];

	cr_assert_gt(rec_enable("*"), 0);
	header = rec_process_header();
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	while (rec_thread_name(name) == 0)
		nr++;
	cr_assert_gt(nr, header->log_size / 2 / 300);
	while (rec_thread_name("n") == 0)
		;
	cr_assert_eq(rec_thread_name("n"), -ENOSPC);
	cr_assert_lt(header->log_used, header->log_size / 2 + 4096);
	cr_assert_eq(header->lost_log_full, 3, "each name that found no room");
	made_event(&later, "made", "event, u8(a)", 9);
	rec_event_register(&later.event);
	cr_assert(rec_event_on(&later.event));
	cr_assert_eq(rec_context_set("key", "value"), 0);
	rec_printf("a new site");
	cr_assert_eq(header->lost_log_full, 3);
	cr_assert_not_null(strstr(event_fixture_text(), "a new site\n"));
}

static void write_from_handler(int signal)
{
	(void)signal;
	REC(one, beta, 2);
	rec_printf("handler %s", "here");
}

Test(event, signal_handlers_write_too)
{
	const char *text;

	rec_enable("*");
	signal(SIGUSR1, write_from_handler);
	errno = 77;
	REC(one, alpha, 1);
	raise(SIGUSR1);
	rec_process_lock();
	raise(SIGUSR1); /* the site is known, so the lock is not needed */
	rec_process_unlock();
	cr_assert_eq(errno, 77);
	text = event_fixture_text();
	cr_assert_str_eq(text,
			 "alpha: n=1\nbeta: n=2\nbprint: write_from_handler: handler here\n"
			 "beta: n=2\nbprint: write_from_handler: handler here\n",
			 "%s", text);
}

Test(event, a_site_that_cannot_be_logged_is_counted)
{
	rec_enable("*");
	REC(one, alpha, 1);
	for (int i = 0; i < 2; i++) {
		if (i == 0)
			rec_process_lock();
		rec_printf("try %d", i);
		if (i == 0)
			rec_process_unlock();
	}
	cr_assert_eq(rec_process_header()->lost_log_full, 1);
	cr_assert_str_eq(event_fixture_text(),
			 "alpha: n=1\nbprint: event_a_site_that_cannot_be_logged_is_counted_impl: try 1\n");
}
