/* SPDX-License-Identifier: MIT */
/* Tasks of the same name are combined (profile --by-comm), of which there may be very many. */
#include "cli/report/profile.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TASKS 600000u
#define EACH  2u /* tasks of a name */

/* To find the group of a task, not all groups may be looked at: the test would exceed its limit by far. */
Test(profile_group, very_many_names, .timeout = 100)
{
	struct profile_task *tasks = calloc(TASKS, sizeof(*tasks)), *groups;
	struct profile p = { .tasks = calloc(TASKS, sizeof(struct profile_task *)), .nr_tasks = TASKS };
	size_t nr;

	cr_assert(tasks && p.tasks);
	for (uint32_t i = 0; i < TASKS; i++) {
		cr_assert_gt(asprintf(&tasks[i].comm, "%" PRIu32, i % (TASKS / EACH)), 0);
		p.tasks[i] = &tasks[i];
	}
	/* It has no name. */
	free(tasks[0].comm);
	tasks[0].comm = NULL;
	cr_assert_eq(profile_group(&p, &groups, &nr), 0);
	cr_expect_eq(nr, TASKS / EACH);
	cr_expect_str_eq(groups[0].comm, "1");
	cr_expect_str_eq(groups[nr - 1].comm, "0");
	cr_expect(!tasks[0].is_in_group && tasks[1].is_in_group && tasks[TASKS - 1].is_in_group);
	for (size_t i = 0; i < nr; i++)
		profile_task_free(&groups[i]);
	for (uint32_t i = 0; i < TASKS; i++)
		free(tasks[i].comm);
	free(groups);
	text_pool_close(&p.pool);
	free(p.tasks);
	free(tasks);
}

static void add(struct profile *p, struct profile_task *task, const struct profile_kind *kind, uint64_t ns)
{
	struct profile_line *line = profile_line(p, task, kind, 0);

	cr_assert_not_null(line);
	profile_add_time(&line->total, ns, 10);
}

Test(profile_group, the_times_of_a_name_are_added)
{
	const struct profile_kind kind = { .act = PROFILE_COUNT };
	struct profile_task tasks[3] = { { .comm = (char[]){ "one" } },
					 { .comm = (char[]){ "two" } },
					 { .comm = (char[]){ "one" } } };
	struct profile_task *list[] = { &tasks[0], &tasks[1], &tasks[2] }, *groups;
	struct profile p = { .tasks = list, .nr_tasks = 3 };
	size_t nr;

	for (unsigned int i = 0; i < 3; i++)
		add(&p, &tasks[i], &kind, i + 1);
	cr_assert_eq(profile_group(&p, &groups, &nr), 0);
	cr_assert_eq(nr, 2);
	cr_assert(groups[0].nr_lines == 1 && groups[1].nr_lines == 1);
	cr_expect(groups[0].lines[0]->total.time == 4 && groups[0].lines[0]->total.count == 2);
	cr_expect(groups[1].lines[0]->total.time == 2 && groups[1].lines[0]->total.count == 1);
	for (size_t i = 0; i < nr; i++)
		profile_task_free(&groups[i]);
	free(groups);
	for (unsigned int i = 0; i < 3; i++) {
		tasks[i].comm = NULL;
		profile_task_free(&tasks[i]);
	}
	text_pool_close(&p.pool);
}
