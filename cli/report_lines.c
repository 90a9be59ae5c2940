/* SPDX-License-Identifier: MIT */
/*
 * See report_lines.h. Streams: memory does not grow with the file. What needs the order of events (which are selected, which
 * calls return in the same line) is decided here. Lines without colours and escapes are made by a crew of threads.
 */
#include "cli/report_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/report_crew.h"
#include "cli/show_text.h"
#include "cli/terminal.h"

bool report_lines_written(struct report_lines *lines)
{
	if (!ferror(stdout))
		return true;
	if (!lines->write_error)
		lines->write_error = errno;
	return false;
}

static bool write_text(void *arg, const char *text, size_t size)
{
	struct report_lines *lines = arg;

	fwrite(text, 1, size, stdout);
	return report_lines_written(lines);
}

/* 1; 0: it cannot be written; -ENOMEM. */
static int print_line(struct report_lines *lines, struct report_crew *crew, const struct dat_event *event)
{
	int err;

	if (crew)
		return report_crew_add(crew, event);
	err = event_print(lines->printer, event);
	if (err)
		return err;
	show_event(stdout, lines->printer, lines->escapes);
	putchar('\n');
	return report_lines_written(lines);
}

/* Returns as print_line(). */
static int print_events(struct report_lines *lines, struct report_crew *crew)
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
			printed = print_line(lines, crew, &event);
			lines->events++;
		}
		event = next;
	}
	return printed;
}

void report_lines_stats(const struct report_lines *lines)
{
	const struct event_fallbacks fallbacks = event_fallbacks(lines->printer);

	complain("report", "%" PRIu64 " events printed, %" PRIu64 " of them, of %" PRIu32 " formats, by libtraceevent",
		 lines->events, fallbacks.records, fallbacks.formats);
}

int report_lines_print(struct report_lines *lines)
{
	const bool is_plain = !lines->escapes && !*paint(PAINT_BAD);
	struct report_crew *crew = NULL;
	int ret = is_plain ? report_crew_open(lines->printer, write_text, lines, &crew) : 0;

	if (ret < 0)
		return ret;
	ret = print_events(lines, crew);
	if (crew && ret > 0)
		ret = report_crew_flush(crew);
	report_crew_close(crew);
	return ret < 0 ? ret : 0;
}
