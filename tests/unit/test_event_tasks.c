/* SPDX-License-Identifier: MIT */
/* The names of threads as they are printed before lines (event_tasks.h), and their processes (dat_process.h). */
#include "format/text/event_tasks.h"
#include "format/dat/dat_process.h"

#include <criterion/criterion.h>

static struct event_tasks open_tasks(void)
{
	struct event_tasks tasks;
	struct tep_handle *tep = tep_alloc();

	cr_assert_not_null(tep);
	tep_register_comm(tep, "worker", 1001);
	event_tasks_open(&tasks, tep);
	return tasks;
}

static void close_tasks(struct event_tasks *tasks)
{
	struct tep_handle *tep = tasks->tep;

	event_tasks_close(tasks);
	tep_free(tep);
}

/*
 * However often libtraceevent prints an event that may have named threads, names that did not change take no more
 * memory.
 */
Test(event_tasks, threads_without_a_name)
{
	struct event_tasks tasks = open_tasks();
	const struct event_task *known = event_tasks_find(&tasks, 1001), *unknown = event_tasks_find(&tasks, 7);

	cr_assert_not_null(unknown);
	cr_expect_str_eq(known->text, "          worker-1001  ");
	cr_expect_str_eq(unknown->text, "           <...>-7     ");
	for (unsigned int i = 0; i < 1000; i++) {
		event_tasks_refresh(&tasks);
		cr_assert_eq(event_tasks_find(&tasks, 1001), known);
		cr_assert_eq(event_tasks_find(&tasks, 7), unknown);
	}
	cr_expect_null(tasks.retired);
	close_tasks(&tasks);
}

Test(event_tasks, a_name_that_comes_later)
{
	struct event_tasks tasks = open_tasks();
	const struct event_task *before = event_tasks_find(&tasks, 7), *after;

	tep_register_comm(tasks.tep, "late", 7);
	cr_expect_eq(event_tasks_find(&tasks, 7), before, "event_tasks_refresh() was not called");
	event_tasks_refresh(&tasks);
	after = event_tasks_find(&tasks, 7);
	cr_expect_str_eq(after->text, "            late-7     ");
	cr_expect_str_eq(before->text, "           <...>-7     ", "lines may still have it");
	cr_expect_eq(event_tasks_name(&tasks, 7, "again", 5), 0);
	cr_expect_eq(event_tasks_find(&tasks, 7), after, "the first name counts");
	close_tasks(&tasks);
}

/* A scheduler event has this name of a thread whose name the kernel did not keep. */
Test(event_tasks, threads_that_records_name_as_nameless)
{
	struct event_tasks tasks = open_tasks();
	const struct event_task *unknown = event_tasks_find(&tasks, 7);

	for (unsigned int i = 0; i < 1000; i++)
		cr_assert_eq(event_tasks_name(&tasks, 7, "<...>\0\0\0", 8), 0);
	cr_expect_eq(event_tasks_find(&tasks, 7), unknown);
	cr_expect_null(tasks.retired);
	cr_expect_eq(event_tasks_name(&tasks, 7, "late", 4), 0);
	cr_expect_str_eq(event_tasks_find(&tasks, 7)->text, "            late-7     ");
	close_tasks(&tasks);
}

Test(event_tasks, the_last_process_of_a_thread)
{
	char text[] = "recorder 1.0; processes: 100 500, 500, 600 601; time error at most 40 ns";
	struct dat_option option = { .id = DAT_VERSION, .size = sizeof(text), .data = text };
	const struct dat_file file = { .options = &option, .nr_options = 1 };
	struct dat_processes processes;

	cr_assert_eq(dat_processes_open(&file, &processes), 0);
	cr_expect_eq(dat_process(&processes, 100), 100);
	cr_expect_eq(dat_process(&processes, 500), 500);
	cr_expect_eq(dat_process(&processes, 601), 600);
	cr_expect_eq(dat_process(&processes, 602), -1);
	dat_processes_close(&processes);
}
