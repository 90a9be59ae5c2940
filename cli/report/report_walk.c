/* SPDX-License-Identifier: MIT */
/* The walk over the selected events of a file, and the failures that all forms of the report have. */
#include "cli/common/missing_parts.h"
#include "cli/common/opts.h"
#include "cli/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int report_fail(const struct report *r, const struct dat_error *error)
{
	complain(opts_command(), "%s: %s", r->path, error->text);
	return 1;
}

int report_fail_open(const struct report *r, int err, const struct dat_error *error)
{
	char spool[PATH_MAX];

	snprintf(spool, sizeof(spool), "%s.spool", r->path);
	if (err != -ENOENT || access(spool, F_OK))
		return report_fail(r, error);
	complain(opts_command(),
		 "%s: %s; there is '%s': the recording is still running, or was killed; see recorder-recover(1)",
		 r->path, error->text, spool);
	return 1;
}

int report_missing(const struct report *r)
{
	return complain_missing(opts_command(), r->path, r->file);
}

int report_fail_memory(const struct report *r)
{
	const struct dat_error error = { .text = "not enough memory" };

	return report_fail(r, &error);
}

int report_merge_open(struct report *r, bool lines, struct dat_merge **ret_merge)
{
	if (dat_merge_open_at(r->file, &r->time, report_select_has_cpu, &r->select, r->select.window.since, ret_merge))
		return report_fail_memory(r);
	report_select_types(&r->select, lines ? r->printer.ftrace.call : NULL, *ret_merge);
	return 0;
}

int report_walk_open(struct report *r, bool lines, struct report_walk *ret_walk)
{
	struct report_walk walk = { .r = r, .lines = lines };
	int status = report_merge_open(r, lines, &walk.merge);

	if (status)
		return status;
	*ret_walk = walk;
	return 0;
}

void report_walk_close(struct report_walk *walk)
{
	dat_merge_close(walk->merge);
}

/* Read the next event of the file. */
static int next_event(struct report_walk *walk, struct dat_event *ret_event)
{
	if (!walk->ahead)
		return dat_merge_next(walk->merge, ret_event);
	walk->ahead = false;
	*ret_event = walk->next;
	return walk->more;
}

/* Losses before the last event that --tail leaves out are not in the window. */
static void note_loss(const struct report_walk *walk, const struct dat_event *event)
{
	const struct report_window *window = &walk->r->select.window;

	if (walk->loss && event->lost && event->ts >= window->since && window->selected >= window->skip)
		walk->loss(walk->loss_arg, event);
}

bool report_walk_next(struct report_walk *walk, struct dat_event *ret_event, struct tep_record *ret_record)
{
	struct report *r = walk->r;

	while (!report_window_is_full(&r->select.window) && next_event(walk, ret_event) &&
	       !report_select_ends(&r->select, ret_event)) {
		*ret_record = event_record(ret_event);
		note_loss(walk, ret_event);
		if (!report_select_has(&r->select, ret_event, ret_record))
			continue;
		/* Read ahead only if it is needed, because the next event of a growing file may come late. */
		walk->ahead = walk->lines && event_ftrace_may_take(&r->printer.ftrace, ret_record);
		if (walk->ahead) {
			walk->more = dat_merge_next(walk->merge, &walk->next);
			walk->ahead = !event_ftrace_takes(&r->printer.ftrace, ret_record,
							  walk->more ? &walk->next : NULL);
		}
		if (report_window_shows(&r->select.window))
			return true;
	}
	return false;
}

int report_damage(const struct report *r, const struct dat_merge *merge)
{
	struct dat_error error;
	uint32_t cpu;
	const uint64_t pages = dat_merge_damaged(merge, &error, &cpu);

	/* Without damage, missing parts are reported at the end of the command. */
	return pages ? complain_incomplete(opts_command(), r->path, r->file, pages, cpu, &error) : 0;
}
