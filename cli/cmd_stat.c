/* SPDX-License-Identifier: MIT */
/*
 * recorder stat: shows what the lanes of running programs hold and have lost, in the form of the kernel's
 * per_cpu/cpuN/stats.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/clock.h>
#include <librecorder/event_text.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base/human_age.h"
#include "cli/base/human_ns.h"
#include "cli/common/terminal.h"
#include "cli/programs/show_programs.h"

#define NAME "stat"

/* Print the counters that the kernel does not have, unless they are 0. */
static void print_more(const char *what, uint64_t nr)
{
	if (nr)
		printf("%s%s: %" PRIu64 "%s\n", paint(PAINT_BAD), what, nr, paint_end());
}

/* Print the age of the oldest event. If the clock is the TSC, the event's time and the present time are in ticks. */
static void print_age(const struct rec_view *view, const struct rec_lane_stats *stats)
{
	struct rec_anchor anchors[REC_ANCHORS], now;
	char text[HUMAN_NS_SIZE];
	double ns = 1;

	if (!stats->entries || stats->now_ts < stats->oldest_event_ts)
		return;
	if (stats->clock != REC_CLOCK_MONO) {
		/* The first anchor is the oldest; two anchors only microseconds apart would give an inexact rate. */
		if (!rec_view_anchors(view, anchors, REC_ANCHORS) || rec_clock_anchor(stats->clock, &now) ||
		    now.clock <= anchors[0].clock || now.mono <= anchors[0].mono)
			return;
		ns = (double)(now.mono - anchors[0].mono) / (double)(now.clock - anchors[0].clock);
	}
	ns *= (double)(stats->now_ts - stats->oldest_event_ts);
	if (ns < 120e9)
		human_ns_trimmed((uint64_t)ns, text);
	else
		human_age((uint64_t)time(NULL) - (uint64_t)(ns / 1e9), text, sizeof(text));
	printf("oldest event: %s ago\n", text);
}

static void print_own(const struct rec_lane_stats *stats)
{
	print_more("too long", stats->too_long);
	print_more("nested limit", stats->nested_limit);
	print_more("disabled", stats->disabled);
	print_more("torn", stats->torn);
}

/* Print the losses of a lane that the program has given up. */
static void print_given_up(unsigned int lane, const struct rec_lane_stats *stats)
{
	printf("lane %u: no memory at the moment\n", lane);
	print_more("overrun", stats->overrun);
	print_more("commit overrun", stats->commit_overrun);
	print_more("dropped events", stats->dropped_events);
	print_own(stats);
}

static int print_lane(struct rec_view *view, unsigned int lane)
{
	struct rec_lane_stats stats;
	char text[512];
	int err = rec_view_stats(view, lane, &stats);

	if (!err)
		err = rec_stats_text(&stats, text, sizeof(text));
	if (err < 0) {
		/* Continue, because other lanes may be valid. */
		printf("lane %u: %s\n", lane,
		       err == -EBADMSG  ? "damaged"
		       : err == -EAGAIN ? "no memory at the moment"
					: strerror(-err));
		return err == -EBADMSG || err == -EAGAIN ? 0 : err;
	}
	if (!stats.subbuf_size) {
		print_given_up(lane, &stats);
		return 0;
	}
	printf("%slane %u, ", paint(PAINT_NAME), lane);
	if (stats.shared)
		printf("shared by threads without their own");
	else if (stats.owner == REC_OWNER_HELD)
		printf("held in reserve");
	else if (stats.owner)
		printf("thread %u", stats.owner);
	else
		printf("no thread");
	printf(", %u sub-buffers of %u bytes%s:%s\n%s", stats.nr_pages, stats.subbuf_size,
	       stats.broken ? ", broken: nothing more is written to it" : "", paint_end(),
	       text);
	print_age(view, &stats);
	print_own(&stats);
	return 0;
}

static void print_rate(const struct rec_view *view, unsigned int id, const struct rec_words *system,
		       const struct rec_words *name)
{
	struct rec_view_rate rate;

	if (rec_view_rate(view, id, &rate))
		printf("%.*s:%.*s: at most %" PRIu32 " a second, suppressed: %" PRIu64 "\n", (int)system->size,
		       system->text, (int)name->size, name->text, rate.rate, rate.suppressed);
}

static int print_rates(const struct rec_view *view)
{
	const struct rec_log_record *record;
	size_t size = 0, offset = 0;
	unsigned char *log = programs_log(view, &size);
	struct rec_event_info info;

	if (!log)
		return -ENOMEM;
	print_rate(view, REC_EVENT_ID_FIRST, &(struct rec_words){ "ftrace", 6 }, &(struct rec_words){ "bprint", 6 });
	while ((record = rec_log_next(log, size, &offset)))
		if (record->kind == REC_LOG_EVENT && rec_event_parse((const struct rec_log_event *)record, &info) == 0)
			print_rate(view, record->id, &info.system, &info.name);
	free(log);
	return 0;
}

static int print_program(struct rec_view *view, void *data)
{
	const unsigned int lanes = rec_view_lanes(view);
	struct rec_view_losses losses;
	int err = 0;

	(void)data;
	for (unsigned int lane = 0; !err && lane < lanes; lane++)
		err = print_lane(view, lane);
	rec_view_losses(view, &losses);
	print_more("events of threads without a lane", losses.no_lane);
	print_more("events, names and filters that found no room in the buffer", losses.log_full);
	return err ? err : print_rates(view);
}

int cmd_stat(int argc, char **argv)
{
	struct programs programs = { .dir = NULL };
	unsigned int color = TERMINAL_COLOR_AUTO;
	const struct opt table[] = {
		OPT_PROGRAMS(programs),
		OPT_COLOR(color),
		OPT_END,
	};
	const struct opts opts = {
		.command = NAME,
		.operands = "[PROGRAM]",
		.about =
			"Show, lane by lane, what your running programs that use librecorder have recorded and lost.\n"
			"PROGRAM: only the programs with these pids, separated by commas, or of this name.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (operands[0] && programs.word) {
		complain(NAME, "PROGRAM and -P exclude each other: give one of them");
		return EXIT_USAGE;
	}
	if (operands[0])
		programs.word = operands[0];
	terminal_use(color);
	return programs_print(NAME, &programs, print_program, NULL) > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
