/* SPDX-License-Identifier: MIT */
/* report --profile: each buffer of the file has a profile of its own. */
#include "cli/common/opts.h"
#include "cli/common/trace_events.h"
#include "cli/common/trace_input.h"
#include "cli/report/profile.h"
#include "format/dat/dat_gaps.h"

#include <stdio.h>
#include <stdlib.h>

/* The number of CPUs is that of the buffer: the file's option CPUCOUNT may have any number. */
static int make_all(struct report *r, struct profile *all)
{
	int status = 0;

	for (size_t i = 0; !status && i < r->file->nr_buffers; i++) {
		all[i].r = r;
		status = profile_kinds_make(&all[i], r->profile_global, &r->profile_hooks);
		if (!status && profile_tasks_make(&all[i], r->file->buffers[i].cpus))
			status = report_fail_memory(r);
	}
	return status;
}

static int print_profile(struct profile *p)
{
	struct profile_task *groups = NULL;
	size_t nr = 0;
	const int err = p->r->profile_by_comm ? profile_group(p, &groups, &nr) : 0;

	if (!err)
		profile_print(p, groups, nr);
	for (size_t i = 0; i < nr; i++)
		profile_task_free(&groups[i]);
	free(groups);
	return err || p->is_short_of_memory ? report_fail_memory(p->r) : 0;
}

struct losses {
	const struct report *r;
	struct profile *all;
	struct dat_gaps gaps;
};

static void note_loss(void *arg, const struct dat_event *event)
{
	struct losses *losses = arg;

	dat_gaps_note(&losses->gaps, event);
	profile_lose(&losses->all[event->buffer - losses->r->file->buffers], event->cpu);
}

/* Read the events, then print the profiles of all buffers, the last one first. */
static int read_and_print(struct report *r, struct profile *all)
{
	struct tep_record record;
	struct report_walk walk;
	struct dat_event event;
	const struct trace_input input = { .command = opts_command(), .path = r->path, .table = r->table };
	struct losses losses = { .r = r, .all = all };
	int status = report_walk_open(r, false, &walk), damage;

	if (status)
		return status;
	walk.loss = note_loss;
	walk.loss_arg = &losses;
	while (report_walk_next(&walk, &event, &record))
		profile_add(&all[event.buffer - r->file->buffers], &event, &record);
	report_head(r);
	for (size_t i = r->file->nr_buffers; !status && i; i--)
		status = print_profile(&all[i - 1]);
	trace_input_report_gaps(&input, &losses.gaps);
	trace_report_absent(input.command, input.path, input.table);
	damage = report_damage(r, walk.merge);
	report_walk_close(&walk);
	return status ? status : damage;
}

int report_profile(struct report *r)
{
	struct profile *all = calloc(r->file->nr_buffers + 1, sizeof(*all));
	int status = all ? make_all(r, all) : report_fail_memory(r);

	if (!status)
		status = read_and_print(r, all);
	for (size_t i = 0; all && i < r->file->nr_buffers; i++) {
		profile_tasks_free(&all[i]);
		profile_kinds_free(&all[i]);
	}
	free(all);
	return status;
}
