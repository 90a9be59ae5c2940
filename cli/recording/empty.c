/* SPDX-License-Identifier: MIT */
#include "cli/recording/empty.h"

#include <librecorder/log.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/recording/summary.h"

static unsigned int count_programs(const struct spool *spool)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < spool->nr_entries; i++)
		nr += !spool_is_kernel(&spool->entries[i]);
	return nr;
}

static bool has_event(const struct spool *spool)
{
	const struct rec_log_record *record;

	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		size_t offset = 0;

		while ((record = rec_log_next(spool->entries[i].log, spool->entries[i].log_size, &offset)))
			if (record->kind == REC_LOG_EVENT || record->kind == REC_LOG_PRINTF)
				return true;
	}
	return false;
}

/* Why no program recorded anything, although there is at least one. */
static const char *of_programs(const struct spool *spool, const struct selections *selections,
			       const struct drain_trouble *trouble, unsigned int programs, uint64_t lost)
{
	if (trouble->stopped == programs)
		return programs == 1 ? "the program is stopped (rec_stop()); 'recorder start' starts it again"
				     : "the programs are stopped (rec_stop()); 'recorder start' starts them again";
	if (!has_event(spool))
		return programs == 1 ? "the program has no events" : "the programs have no events";
	if (!selections_any_met(selections, spool))
		return "no event matches; 'recorder list PROGRAM' shows a program's events";
	if (lost)
		return "all events were lost";
	if (trouble->off == programs)
		return programs == 1 ? "all events of the program are off (rec_disable())"
				     : "all events of the programs are off (rec_disable())";
	return "none of the selected events occurred";
}

void say_empty(const struct output *output, const struct spool *spool, const struct selections *selections,
	       const struct drain_trouble *trouble, const struct weave_stats *stats)
{
	const char *unchanged = access(output->path, F_OK) ? "is not written" : "is unchanged";
	const unsigned int programs = count_programs(spool);
	char why[PATH_MAX + 512];

	if (selections && programs)
		snprintf(why, sizeof(why), "%s", of_programs(spool, selections, trouble, programs, stats->lost));
	else if (!selections)
		snprintf(why, sizeof(why), "%s", stats->lost ? "all events were lost" : output->why_empty);
	else if (trouble->no_buffers)
		summary_no_buffer(spool, trouble, why, sizeof(why));
	else
		snprintf(why, sizeof(why), "no process of '%s' " NOT_LINKED, spool->head.command);
	message(output->sink, "nothing was %s, '%s' %s: %s", output->verb, output->name, unchanged, why);
}
