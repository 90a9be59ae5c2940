/* SPDX-License-Identifier: MIT */
/* Events of tasks, and about tasks, of which there may be very many. */
#include "cli/common/about_tasks.h"
#include "table_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

#define TASKS	100000u
#define QUERIES (8 * TASKS)

static const struct table_format formats[] = {
	{ "sched", FORMAT(300, "sched_waking", FIELD("pid_t", "pid", 8, 4, 1)) },
	{ "sched",
	  FORMAT(301, "sched_switch", FIELD("pid_t", "prev_pid", 8, 4, 1) FIELD("pid_t", "next_pid", 12, 4, 1)) },
	{ "misc", FORMAT(302, "note", FIELD("int", "number", 8, 4, 1)) },
};

/* Whether an event of this task, with two numbers, is of the tasks or about them. */
static bool has(const struct about_tasks *tasks, uint16_t id, int32_t pid, int32_t first, int32_t second)
{
	unsigned char record[16] = { 0 };

	memcpy(record, &id, sizeof(id));
	memcpy(record + 4, &pid, sizeof(pid));
	memcpy(record + 8, &first, sizeof(first));
	memcpy(record + 12, &second, sizeof(second));
	return about_tasks_has(tasks, record, sizeof(record));
}

Test(about_tasks, events_of_them_and_about_them)
{
	struct event_table *table = table_of(formats, sizeof(formats) / sizeof(formats[0]), NULL);
	struct about_tasks tasks = { 0 };

	cr_expect_not(has(&tasks, 300, 7, 7, 7));
	cr_assert_eq(about_tasks_add(&tasks, 7), 0);
	cr_assert_eq(about_tasks_add(&tasks, 0), 0);
	cr_assert_eq(about_tasks_add(&tasks, 7), 0);
	cr_assert_eq(about_tasks_open(&tasks, table), 0);
	cr_expect(has(&tasks, 302, 7, 1, 1));
	cr_expect(has(&tasks, 302, 0, 1, 1));
	cr_expect_not(has(&tasks, 302, 8, 7, 7));
	cr_expect_not(has(&tasks, 302, -1, 7, 7));
	cr_expect(has(&tasks, 300, 8, 7, 1));
	cr_expect_not(has(&tasks, 300, 8, 1, 7));
	cr_expect(has(&tasks, 301, 8, 1, 7));
	cr_expect_not(has(&tasks, 301, 8, 7, 1));
	cr_expect_not(has(&tasks, 999, 7, 7, 7), "the table does not know the event");
	about_tasks_close(&tasks);
	event_table_close(table);
}

/* Neither an add nor a query may look at all tasks, or copy them: such a test would not end. */
Test(about_tasks, very_many, .timeout = 100)
{
	struct about_tasks tasks = { 0 };
	unsigned int found = 0;

	for (uint32_t i = 0; i < TASKS; i++)
		cr_assert_eq(about_tasks_add(&tasks, (int32_t)(2 * i + 1)), 0);
	for (uint32_t i = 0; i < QUERIES; i++)
		found += about_tasks_has_tid(&tasks, (int64_t)(i % (4 * TASKS)));
	cr_expect_eq(found, QUERIES / 4, "%u", found);
	about_tasks_close(&tasks);
}
