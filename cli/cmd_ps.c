/* SPDX-License-Identifier: MIT */
/*
 * recorder ps: the running programs that use librecorder, a line each.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <librecorder/event_text.h>
#include <librecorder/log.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/show_programs.h"
#include "cli/terminal.h"

static int print_program(struct rec_view *view, void *data)
{
	const struct rec_view_info *info = rec_view_info(view);
	const struct rec_log_record *record;
	size_t size = 0, offset = 0;
	unsigned char *log = programs_log(view, &size);
	unsigned int events = 0, on = 0;
	char pid[PROGRAMS_PID_SIZE];

	(void)data;
	if (!log)
		return -ENOMEM;
	while ((record = rec_log_next(log, size, &offset))) {
		if (record->kind != REC_LOG_EVENT)
			continue;
		events++;
		on += (rec_view_enabled(view, record->id) & REC_ENABLE_ON) != 0;
	}
	free(log);
	printf("%7s  %s%-8s%s %5u/%-5u %5u  %-15s  %s\n", programs_pid(view, pid),
	       rec_view_stopped(view) ? paint(PAINT_BAD) : paint(PAINT_GOOD),
	       rec_view_stopped(view) ? "stopped" : "started", paint_end(), on, events, rec_view_lanes(view),
	       info->comm, info->exe);
	return 0;
}

int cmd_ps(int argc, char **argv)
{
	static const char about[] =
		"Show your running programs that use librecorder: whether they record, how many of their\n"
		"events are on, how many lanes they have, name and file.\n";

	return programs_show(argc, argv, about, "    PID  STATE     ON/EVENTS  LANES  NAME             FILE",
			     print_program);
}
