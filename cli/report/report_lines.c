/* SPDX-License-Identifier: MIT */
/*
 * See report_lines.h. Streams: memory does not grow with the file. Decisions that depend on the order of events are
 * made here: which are selected, and which calls return on the same line. Lines without colours and escapes are made by
 * a crew of threads.
 */
#include "cli/common/opts.h"
#include "cli/report/report_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/common/show_text.h"
#include "cli/common/terminal.h"
#include "cli/report/report_crew.h"

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

/* Report a time that is earlier than that of the event before it on the same CPU and in the same buffer. */
static int check_time(struct report_lines *lines, const struct dat_event *event)
{
	const uint64_t stream = (uint64_t)(event->buffer - lines->buffers) << 32 | event->cpu;
	/* The time + 1, because 0 in the map means that there is none. */
	const uint64_t stored = number_map_get(&lines->last, stream), last = stored ? stored - 1 : 0;

	if (last > event->ts)
		complain(opts_command(),
			 "WARNING: Record on cpu %" PRIu32 " went backwards: %" PRIu64 " to %" PRIu64
			 " delta: -%" PRIu64,
			 event->cpu, last, event->ts, last - event->ts);
	return number_map_set(&lines->last, stream, event->ts + 1);
}

/* Print a line. 1; 0: it cannot be written; -ENOMEM. */
static int print_line(struct report_lines *lines, struct report_crew *crew, const struct dat_event *event,
		      struct tep_record *record)
{
	int err;

	if (lines->ts_check && check_time(lines, event))
		return -ENOMEM;
	if (crew)
		return report_crew_add(crew, event);
	err = event_print(lines->printer, event);
	if (err)
		return err;
	show_event(stdout, lines->printer, lines->escapes);
	if (lines->wakeup && report_wakeup_event(lines->wakeup, record))
		return -ENOMEM;
	putchar('\n');
	return report_lines_written(lines);
}

/* Returns as print_line(). */
static int print_events(struct report_lines *lines, struct report_crew *crew)
{
	struct event_ftrace *ftrace = &lines->printer->ftrace;
	struct report_select *select = lines->select;
	struct tep_record record;
	struct dat_event event, next;
	int more = dat_merge_next(lines->merge, &event), printed = 1;

	while (more && printed > 0 && !report_select_ends(select, &event)) {
		bool ahead = false;

		record = event_record(&event);
		if (report_select_has(select, &event, &record)) {
			/* Read ahead only if it is needed, because the next event of a growing file may come late. */
			ahead = event_ftrace_may_take(ftrace, &record);
			if (ahead) {
				more = dat_merge_next(lines->merge, &next);
				ahead = !event_ftrace_takes(ftrace, &record, more ? &next : NULL);
			}
			if (report_window_shows(&select->window)) {
				printed = print_line(lines, crew, &event, &record);
				lines->events++;
			}
		}
		if (printed <= 0 || report_window_is_full(&select->window))
			break;
		/* Move to the next event only after the print, because this invalidates the printed event's data. */
		if (ahead)
			event = next;
		else
			more = dat_merge_next(lines->merge, &event);
	}
	return printed;
}

void report_lines_stats(const struct report_lines *lines)
{
	const struct event_fallbacks fallbacks = event_fallbacks(lines->printer);

	complain(opts_command(),
		 "%" PRIu64 " events printed, %" PRIu64 " of them, of %" PRIu32 " formats, by libtraceevent",
		 lines->events, fallbacks.records, fallbacks.formats);
}

int report_lines_print(struct report_lines *lines)
{
	/* A crew keeps lines until a batch is full. Latencies of wake-ups are printed within a line. */
	const bool is_plain = !lines->at_once && !lines->escapes && !lines->wakeup && !*paint(PAINT_BAD) &&
			      !lines->printer->options.places;
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
