/* SPDX-License-Identifier: MIT */
/* Several logs combined: equal events get one id, different ones their own; names and texts are valid for viewers. */
#include "format/weave/trace_info.h"
#include "weave_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define ID(n) ((uint16_t)(REC_EVENT_ID_FIRST + (n)))

static uint16_t id_of(const struct trace_info *info, unsigned int process, uint16_t id)
{
	const struct trace_process_map *map = trace_info_map(info, process);
	const unsigned int index = (unsigned int)id - REC_EVENT_ID_FIRST;

	return index < map->nr_events ? map->events[index].id : 0;
}

static char *text_of(const struct trace_info *info, int (*make)(const struct trace_info *, struct blob *))
{
	struct blob text = BLOB_INIT;

	cr_assert_eq(make(info, &text), 0);
	blob_put(&text, "", 1);
	return (char *)text.data;
}

static void add(struct trace_info *info, uint32_t pid, const char *comm, struct blob *log)
{
	cr_assert_eq(trace_info_add_process(info, pid, comm, log->data, log->size), 0);
	blob_free(log);
}

Test(trace_info, same_events_get_one_id)
{
	struct trace_info *info;
	struct blob log = BLOB_INIT;
	uint16_t a;

	cr_assert_eq(trace_info_new(&info), 0);
	fake_log_event(&log, ID(1), "io", "a", "u64(x)", 16);
	fake_log_event(&log, ID(2), "io", "b", "u64(x)", 16);
	add(info, 1, "one", &log);
	fake_log_event(&log, ID(5), "io", "a", "u64(x)", 16);
	fake_log_event(&log, ID(900), "io", "a", "u32(x)", 12);
	fake_log_event(&log, ID(3), "net", "a", "u64(x)", 16);
	add(info, 2, "two", &log);
	a = id_of(info, 0, ID(1));
	cr_assert_gt(a, REC_EVENT_ID_FIRST);
	cr_assert_lt(a, 32767);
	cr_assert_eq(id_of(info, 1, ID(5)), a);
	cr_assert_neq(id_of(info, 1, ID(900)), a);
	cr_assert_neq(id_of(info, 1, ID(900)), 0);
	cr_assert_neq(id_of(info, 1, ID(3)), a);
	cr_assert_neq(id_of(info, 0, ID(2)), a);
	cr_assert_eq(id_of(info, 1, ID(1)), 0);
	cr_assert_eq(id_of(info, 1, ID(901)), 0);
	cr_assert_eq(id_of(info, 1, 5), 0);
	trace_info_free(info);
}

struct formats {
	unsigned int nr;
	char systems[8][16];
	char names[8][16];
};

static int collect(void *arg, const char *system, const char *text, size_t size)
{
	struct formats *formats = arg;

	cr_assert_lt(formats->nr, 8);
	cr_assert_eq(strnlen(text, size), size);
	cr_assert_eq(text[size - 1], '\n');
	cr_assert_not_null(strstr(text, "\n\n"), "the blank line that viewers need");
	cr_assert_eq(sscanf(text, "name: %15s", formats->names[formats->nr]), 1);
	snprintf(formats->systems[formats->nr++], 16, "%s", system);
	return 0;
}

Test(trace_info, formats_by_system)
{
	struct trace_info *info;
	struct blob log = BLOB_INIT;
	struct formats formats = { 0 };

	cr_assert_eq(trace_info_new(&info), 0);
	fake_log_event(&log, ID(1), "net", "a", "u64(x)", 16);
	fake_log_event(&log, ID(2), "io", "a", "u64(x)", 16);
	fake_log_event(&log, ID(3), "net", "b", "u64(x)", 16);
	/* None of these is an event. */
	fake_log_event(&log, ID(4), "net", "bad name", "u64(x)", 16);
	fake_log_event(&log, ID(5), "n\net", "x", "u64(x)", 16);
	fake_log_event(&log, ID(6), "net", "c", "u64(", 16);
	fake_log_event(&log, ID(7), "net", "d", "u64(x)", 12);
	fake_log_event(&log, 12, "net", "e", "u64(x)", 16);
	add(info, 1, "one", &log);
	cr_assert_eq(id_of(info, 0, ID(6)), 0);
	cr_assert_eq(trace_info_formats(info, collect, &formats), 0);
	cr_assert_eq(trace_info_end_format(collect, &formats), 0);
	cr_assert_eq(formats.nr, 4);
	cr_assert_str_eq(formats.systems[0], "io");
	cr_assert_str_eq(formats.systems[1], "net");
	cr_assert_str_eq(formats.names[1], "a");
	cr_assert_str_eq(formats.systems[2], "net");
	cr_assert_str_eq(formats.systems[3], "recorder");
	cr_assert_str_eq(formats.names[3], "end");
	trace_info_free(info);
}

Test(trace_info, names_that_viewers_take)
{
	struct trace_info *info;
	struct blob log = BLOB_INIT;
	char *cmdlines;

	cr_assert_eq(trace_info_new(&info), 0);
	fake_log_thread(&log, 30, "early");
	fake_log_thread(&log, 20, "a name with blanks that is longer than fifteen");
	fake_log_thread(&log, 30, "late");
	fake_log_thread(&log, 40, "two\nlines\t");
	fake_log_thread(&log, 50, "");
	fake_log_thread(&log, 51, "  ");
	add(info, 10, "prog", &log);
	fake_log_thread(&log, 30, "later process");
	add(info, 60, "", &log);
	cr_assert_eq(trace_info_seen(info, 0, 50), 0);
	cr_assert_eq(trace_info_seen(info, 0, 50), 0);
	cr_assert_eq(trace_info_seen(info, 0, 0), 0);
	cr_assert_eq(trace_info_seen(info, 1, 61), 0);
	cr_assert_eq(trace_info_threads(info), 3);
	cmdlines = text_of(info, trace_info_cmdlines);
	cr_assert_str_eq(cmdlines, "10 prog\n"
				   "20 a name with blanks that is longer than fifteen\n"
				   "30 later process\n"
				   "40 two?lines?\n"
				   "50 prog\n");
	free(cmdlines);
	trace_info_free(info);
}

Test(trace_info, damaged_logs)
{
	unsigned int seed;

	for (seed = 1; seed < 3000; seed++) {
		unsigned int state = seed;
		struct trace_info *info;
		struct blob log = BLOB_INIT;
		struct formats formats = { 0 };
		unsigned int i;

		cr_assert_eq(trace_info_new(&info), 0);
		fake_log_event(&log, ID(1), "io", "a", "u64(x), string(y)", 20);
		fake_log_thread(&log, 20, "name");
		fake_log_printf(&log, 77, "function", "n=%d\n");
		fake_log_event(&log, ID(2), "io", "b", "u64(x)", 16);
		for (i = 0; i < 4; i++)
			log.data[(unsigned int)rand_r(&state) % log.size] = (unsigned char)rand_r(&state);
		cr_assert_eq(trace_info_add_process(info, 1, "p", log.data, log.size - seed % 16), 0);
		cr_assert_eq(trace_info_formats(info, collect, &formats), 0);
		free(text_of(info, trace_info_cmdlines));
		free(text_of(info, trace_info_printk));
		free(text_of(info, trace_info_kallsyms));
		trace_info_free(info);
		blob_free(&log);
	}
}
