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

static void put_stopped(const struct message_sink *sink, unsigned int programs, char *why, size_t size)
{
	const char *start = message_word(sink, WORD_START);

	if (programs == 1)
		snprintf(why, size, "the program is stopped (rec_stop()); '%s' starts it again", start);
	else
		snprintf(why, size, "the programs are stopped (rec_stop()); '%s' starts them again", start);
}

/* Without -q the summary has already named the patterns, and the command. */
static void put_unmet(const struct output *output, char *why, size_t size)
{
	if (output->quiet)
		snprintf(why, size, "no event matches; '%s PROGRAM' shows a program's events",
			 message_word(output->sink, WORD_LIST_EVENTS));
	else
		snprintf(why, size, "no event matches");
}

/* The reason why no program recorded an event, although at least one program could. */
static const char *of_programs(const struct spool *spool, const struct drain_trouble *trouble, unsigned int programs,
			       uint64_t lost)
{
	if (!has_event(spool))
		return programs == 1 ? "the program has no events" : "the programs have no events";
	if (lost)
		return "all events were lost";
	if (trouble->off == programs)
		return programs == 1 ? "all events of the program are off (rec_disable())"
				     : "all events of the programs are off (rec_disable())";
	if (trouble->halted == programs)
		return programs == 1 ? "the program is stopped by a signal; SIGCONT continues it"
				     : "the programs are stopped by a signal; SIGCONT continues them";
	return "none of the selected events occurred";
}

void say_empty(const struct output *output, const struct spool *spool, const struct selections *selections,
	       const struct drain_trouble *trouble, const struct weave_stats *stats)
{
	const char *unchanged = access(output->path, F_OK) ? "is not written" : "is unchanged";
	const unsigned int programs = count_programs(spool);
	char why[PATH_MAX + 512];

	if (selections && programs && trouble->stopped == programs)
		put_stopped(output->sink, programs, why, sizeof(why));
	else if (selections && programs && selections_only_left_out(selections, spool))
		snprintf(why, sizeof(why), "all selected events are left out%s",
			 message_remark(output->sink, WORD_LEAVE_OUT).text);
	else if (selections && programs && has_event(spool) && !selections_any_met(selections, spool))
		put_unmet(output, why, sizeof(why));
	else if (selections && programs)
		snprintf(why, sizeof(why), "%s", of_programs(spool, trouble, programs, stats->lost));
	else if (!selections)
		snprintf(why, sizeof(why), "%s", stats->lost ? "all events were lost" : output->why_empty);
	else if (trouble->no_buffers)
		summary_no_buffer(spool, trouble, why, sizeof(why));
	else
		snprintf(why, sizeof(why), "no process of '%s' " NOT_LINKED, spool->head.command);
	message(output->sink, "nothing was %s, '%s' %s: %s", output->verb, output->name, unchanged, why);
}
