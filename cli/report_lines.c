/* SPDX-License-Identifier: MIT */
/* See report_lines.h. Streams: memory does not grow with the file. */
#include "cli/report_lines.h"

#include <errno.h>
#include <stdio.h>

#include "cli/show_text.h"

bool report_lines_written(struct report_lines *lines)
{
	if (!ferror(stdout))
		return true;
	if (!lines->write_error)
		lines->write_error = errno;
	return false;
}

/* 1; 0: it cannot be written; -ENOMEM. */
static int print_line(struct report_lines *lines, const struct dat_event *event)
{
	int err = event_print(lines->printer, event);

	if (err)
		return err;
	show_event(stdout, lines->printer, lines->escapes);
	putchar('\n');
	return report_lines_written(lines);
}

int report_lines_print(struct report_lines *lines)
{
	struct tep_record record;
	struct dat_event event, next;
	int more = dat_merge_next(lines->merge, &event), printed = 1;

	while (more && printed > 0) {
		record = event_record(&event);
		more = dat_merge_next(lines->merge, &next);
		if (report_select_has(lines->select, &event, &record)) {
			if (more && event_ftrace_takes(&lines->printer->ftrace, &record, &next))
				more = dat_merge_next(lines->merge, &next);
			printed = print_line(lines, &event);
		}
		event = next;
	}
	return printed < 0 ? printed : 0;
}
