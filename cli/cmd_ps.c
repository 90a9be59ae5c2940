/* SPDX-License-Identifier: MIT */
/* recorder ps: lists the running programs that use librecorder, one on each line. */
#include "cli/cmd.h"

#include <errno.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>

#include "cli/base/human_age.h"
#include "cli/base/human_size.h"
#include "cli/common/terminal.h"
#include "cli/programs/listed_events.h"
#include "cli/programs/show_programs.h"
#include "cli/recording/leftovers.h"

static bool is_on(const struct rec_view *view, unsigned int id)
{
	return rec_view_enabled(view, id) & REC_ENABLE_ON;
}

/*
 * Count the events. A span is one event, as in list. Every program has the event of rec_printf, with the first id; it
 * counts only if it was used, as for enable.
 */
static int print_program(struct rec_view *view, void *data)
{
	const struct rec_view_info *info = rec_view_info(view);
	struct listing listing = { .log = NULL };
	unsigned char *log = programs_log(view, &listing.size);
	unsigned int events = 0, on = 0;
	struct listed listed;
	char pid[PROGRAMS_PID_SIZE];

	(void)data;
	if (!log)
		return -ENOMEM;
	listing.log = log;
	for (; listing_next(&listing, &listed); events++)
		on += is_on(view, listed.event->record.id) || (listed.end && is_on(view, listed.end->record.id));
	events += listing.prints;
	on += listing.prints && is_on(view, REC_EVENT_ID_FIRST);
	free(log);
	printf("%12s  %s%-8s%s %5u/%-5u %5u  %-15s  %s\n", programs_pid(view, pid),
	       rec_view_stopped(view) ? paint(PAINT_BAD) : paint(PAINT_GOOD),
	       rec_view_stopped(view) ? "stopped" : "started", paint_end(), on, events, rec_view_lanes(view),
	       info->comm, info->exe);
	return 0;
}

/* Report the buffers that dead programs have left. */
static void print_left(const struct leftovers *left)
{
	uint64_t oldest = UINT64_MAX, size = 0;
	char age[32], bytes[32];
	unsigned int nr = 0;

	for (unsigned int i = 0; i < left->nr; i++) {
		const struct left_place *place = &left->places[i];

		for (unsigned int j = 0; j < place->nr; j++, nr++) {
			size += place->items[j].size;
			oldest = place->items[j].last < oldest ? place->items[j].last : oldest;
		}
	}
	if (nr)
		fprintf(stderr, "dead programs left %u buffer%s, %s, the oldest %s old; 'recorder recover' lists %s\n",
			nr, nr == 1 ? "" : "s", human_size(size, bytes, sizeof(bytes)),
			human_age(oldest, age, sizeof(age)), nr == 1 ? "it" : "them");
}

int cmd_ps(int argc, char **argv)
{
	static const char about[] =
		"Show your running programs that use librecorder: whether they record, how many of their\n"
		"events are on, how many lanes they have, name and file. Buffers of dead programs are summarised.\n";

	return programs_show(argc, argv, about, "         PID  STATE     ON/EVENTS  LANES  NAME             FILE",
			     print_program, print_left);
}
