/* SPDX-License-Identifier: MIT */
/* The summary of a recording: the number of events, how many were lost and why, and what was skipped. */
#include "cli/recording/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/file_limit.h"
#include "cli/base/human_size.h"

/* Why events were lost, over all lanes and processes. */
struct reasons {
	struct rec_lane_stats lanes;
	struct rec_view_losses processes;
	uint64_t broken;      /* number of broken lanes */
	uint64_t refused;     /* events that broken lanes refused */
	unsigned int no_lane; /* number of processes with threads that found no lane */
};

static void add_reasons(struct reasons *all, const struct spool *spool)
{
	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		const struct spool_entry *entry = &spool->entries[i];

		if (entry->ended) {
			all->processes.no_lane += entry->losses.no_lane;
			all->processes.log_full += entry->losses.log_full;
			all->no_lane += entry->losses.no_lane != 0;
			if (entry->losses.no_lane && entry->losses.lease_errno)
				all->processes.lease_errno = entry->losses.lease_errno;
		}
		for (unsigned int j = 0; j < entry->nr_lanes; j++) {
			const struct rec_lane_stats *stats = &entry->lanes[j].stats;

			all->lanes.overrun += stats->overrun;
			all->lanes.dropped_events += stats->dropped_events;
			all->lanes.commit_overrun += stats->commit_overrun;
			all->lanes.too_long += stats->too_long;
			all->lanes.nested_limit += stats->nested_limit;
			all->lanes.torn += stats->torn;
			all->broken += stats->broken != 0;
			all->refused += stats->broken ? stats->disabled : 0;
		}
	}
}

static void say_count(const struct message_sink *sink, uint64_t count, const char *what)
{
	if (count)
		message_summary(sink, "  %" PRIu64 " %s", count, what);
}

/* The same line with a remedy, and the setting for it: "WHAT (REMEDY: SETTING)", or "WHAT (remedy: REMEDY)". */
static void say_remedy(const struct message_sink *sink, uint64_t count, const char *what, const char *remedy,
		       enum message_word word)
{
	const char *setting = message_word(sink, word);

	if (count)
		message_summary(sink, "  %" PRIu64 " %s (%s: %s)", count, what, *setting ? remedy : "remedy",
				*setting ? setting : remedy);
}

/* The same line with the setting that is the reason: "WHAT (SETTING)". */
static void say_setting(const struct message_sink *sink, uint64_t count, const char *what, enum message_word word)
{
	if (count)
		message_summary(sink, "  %" PRIu64 " %s%s", count, what, message_remark(sink, word).text);
}

static void say_no_lane(const struct message_sink *sink, const struct reasons *all)
{
	char why[256];

	if (!all->processes.no_lane)
		return;
	if (all->processes.lease_errno == EDQUOT)
		snprintf(why, sizeof(why),
			 "the program's memory for lanes is used up: set RECORDER_MAX_KB, or make lanes smaller%s",
			 message_remark(sink, WORD_LANE_SIZE).text);
	else if (all->processes.lease_errno == ENOSPC || all->processes.lease_errno == ENOMEM)
		snprintf(why, sizeof(why),
			 "no room for another lane in the buffer directory: free some, or make lanes smaller%s",
			 message_remark(sink, WORD_LANE_SIZE).text);
	else if (all->processes.lease_errno == EBUSY)
		snprintf(why, sizeof(why),
			 "more threads wrote at once than there are shared lanes: set RECORDER_MAX_KB");
	else if (all->processes.lease_errno == EINPROGRESS)
		snprintf(why, sizeof(why), "the lane of an ended thread with the same id was just being taken over");
	else if (all->processes.lease_errno == EAGAIN)
		snprintf(why, sizeof(why),
			 "a process in this program's memory, such as a child of vfork, wrote them "
			 "before its thread had a lane");
	else
		snprintf(why, sizeof(why), "%s",
			 all->processes.lease_errno ? strerror(all->processes.lease_errno) : "none was available");
	message_summary(sink, "  %" PRIu64 " of threads without a lane (%s)", all->processes.no_lane, why);
}

static void say_damage(const struct message_sink *sink, const struct weave_stats *stats)
{
	say_count(sink, stats->damaged_events, "on damaged pages");
	say_count(sink, stats->damaged_streams, "lanes that cannot be read to their end");
	say_count(sink, stats->unknown_events, "of events that no program has declared");
	say_count(sink, stats->lost_unknown, "and gaps of unknown size");
}

static void say_reasons(const struct output *output, const struct spool *spool, const struct weave_stats *stats)
{
	const struct message_sink *sink = output->sink;
	struct reasons all = { .broken = 0 };

	add_reasons(&all, spool);
	say_remedy(sink, all.lanes.overrun, "overwritten before they were read", "larger lanes", WORD_LANE_SIZE);
	say_remedy(sink, all.lanes.dropped_events, "dropped, the lane was full", "larger lanes", WORD_LANE_SIZE);
	say_setting(sink, all.lanes.too_long, "too long for a sub-buffer", WORD_SUBBUF_SIZE);
	say_remedy(sink, all.lanes.commit_overrun,
		   "refused, signal handlers filled the lane after an unfinished event", "larger lanes",
		   WORD_LANE_SIZE);
	say_count(sink, all.lanes.nested_limit, "refused, interrupted too often while being written");
	say_no_lane(sink, &all);
	say_damage(sink, stats);
	say_count(sink, all.lanes.torn, "torn: begun but not finished, not counted as lost");
	say_count(sink, all.processes.log_full,
		  "declarations, conditions or thread names that are invalid, or found no room in the buffer");
	say_count(sink, all.refused, "refused, their lanes had been stopped as damaged");
	say_count(sink, all.broken, "lanes stopped as damaged (what writes over the program's buffer?)");
	selections_say_rates(output->sink, spool);
}

/* Report programs for which there was no descriptor. */
static void say_waiting(const struct message_sink *sink, unsigned int nr)
{
	message(sink,
		"%u %s waited for a file descriptor; the limit is %" PRIu64 " (ulimit -Hn): "
		"events for which %s lanes had no room meanwhile are lost",
		nr, nr == 1 ? "buffer" : "buffers", file_limit(), nr == 1 ? "its" : "their");
}

static void say_trouble(const struct message_sink *sink, const struct drain_trouble *trouble)
{
	if (trouble->bad_buffers)
		message(sink, "%u %s skipped, the first '%s': %s", trouble->bad_buffers,
			trouble->bad_buffers == 1 ? "buffer was" : "buffers were", trouble->bad_file,
			trouble->bad_errno == EPROTO
				? "its program uses a newer librecorder, so a newer recorder is needed"
				: strerror(trouble->bad_errno));
	if (trouble->bad_lanes == 1)
		message(sink, "skipped lane %u of program %u (%s), which is damaged; the rest of it is lost",
			trouble->bad_lane.lane, trouble->bad_lane.pid, trouble->bad_lane.comm);
	else if (trouble->bad_lanes)
		message(sink,
			"skipped %u damaged lanes, the first lane %u of program %u (%s); the rest of them is lost",
			trouble->bad_lanes, trouble->bad_lane.lane, trouble->bad_lane.pid, trouble->bad_lane.comm);
	if (trouble->cut_buffers)
		message(sink, "skipped the %s of program %u (%s)%s, which %s truncated meanwhile; the rest is lost",
			trouble->cut_buffers == 1 ? "buffer" : "buffers", trouble->cut_lane.pid, trouble->cut_lane.comm,
			trouble->cut_buffers == 1 ? "" : " and others", trouble->cut_buffers == 1 ? "was" : "were");
	if (trouble->busy_lanes)
		message(sink, "%u %s being read by another process and skipped", trouble->busy_lanes,
			trouble->busy_lanes == 1 ? "lane was" : "lanes were");
	if (trouble->unready)
		message(sink, "%u %s never finished: is there room in the buffer directory?", trouble->unready,
			trouble->unready == 1 ? "buffer was" : "buffers were");
}

void summary_no_buffer(const struct spool *spool, const struct drain_trouble *trouble, char *text, size_t size)
{
	const int err = trouble->no_buffer_errno;
	const char *were = trouble->no_buffers == 1 ? "process was not" : "processes were not";

	if (err == ENOMEM || err == ENOSPC || err == EDQUOT)
		snprintf(text, size, "%u %s recorded: no room for buffers in '%s': free some or set RECORDER_DIR",
			 trouble->no_buffers, were, spool->head.session);
	else if (err == EFBIG)
		snprintf(text, size, "%u %s recorded: the limit on a file's size is smaller than a buffer (ulimit -f)",
			 trouble->no_buffers, were);
	else if (err == EOPNOTSUPP)
		snprintf(text, size, "%u %s recorded: it cannot read clocks any more (PR_SET_TSC)", trouble->no_buffers,
			 were);
	else if (err == EINVAL)
		snprintf(text, size,
			 "%u %s recorded: a size or the clock in the environment is invalid (RECORDER_SUBBUF_KB and "
			 "others)",
			 trouble->no_buffers, were);
	else
		snprintf(text, size, "%u %s recorded: %s", trouble->no_buffers, were, strerror(err));
}

void summary_trouble(const struct output *output, const struct spool *spool, const struct drain_trouble *trouble,
		     const struct weave_stats *stats)
{
	const char *session = spool->head.session;
	char text[PATH_MAX + 256];

	say_trouble(output->sink, trouble);
	if (trouble->removed)
		message(output->sink,
			"the buffer directory%s%s%s was removed, perhaps by a logout (see recorder(1)): "
			"processes that started later were not recorded",
			*session ? " '" : "", session, *session ? "'" : "");
	/* If nothing was recorded, say_empty() names the reason. */
	if (!trouble->no_buffers || !stats->file_size)
		return;
	summary_no_buffer(spool, trouble, text, sizeof(text));
	message(output->sink, "%s", text);
}

/* Report that no program was recorded, although one was expected. */
static void say_no_programs(const struct output *output, const struct spool *spool, const struct drain_trouble *trouble)
{
	unsigned int programs = 0;

	for (unsigned int i = 0; i < spool->nr_entries; i++)
		programs += !spool_is_kernel(&spool->entries[i]);
	if (!trouble->no_buffers && !programs && !output->programs_may_lack &&
	    (spool->head.session[0] || !spool->nr_entries))
		message(output->sink, "no process of '%s' " NOT_LINKED ": the recording %s", spool->head.command,
			spool->nr_entries ? "has only the kernel's events" : "is empty");
}

/* Print the range of times, as `recorder report` shows them, but rounded. */
static void say_times(const struct message_sink *sink, const struct weave_stats *stats)
{
	const uint64_t first = (stats->first_time + 500) / 1000, last = (stats->last_time + 500) / 1000,
		       span = last - first;

	message_summary(
		sink,
		"  from %" PRIu64 ".%06" PRIu64 " to %" PRIu64 ".%06" PRIu64 ", %" PRIu64 ".%06" PRIu64 " seconds",
		first / 1000000, first % 1000000, last / 1000000, last % 1000000, span / 1000000, span % 1000000);
}

static uint64_t without(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

/*
 * Print the lines about the kernel's events. The kernel's losses and gaps are subtracted from `stats`, so the programs'
 * remain.
 */
static void say_kernel(const struct output *output, const struct spool_to_weave_kernel *kernel,
		       struct weave_stats *stats)
{
	const struct message_sink *sink = output->sink;

	if (!kernel->is_there)
		return;
	message_summary(sink, "%s %" PRIu64 " kernel %s from %u %s; %" PRIu64 " lost", output->verb,
			stats->kernel_events, stats->kernel_events == 1 ? "event" : "events", kernel->cpus,
			kernel->cpus == 1 ? "CPU" : "CPUs", kernel->lost);
	say_remedy(sink, kernel->why.overrun, "overwritten before they were read", "larger rings", WORD_RING_SIZE);
	say_remedy(sink, kernel->why.dropped, "dropped, the ring was full", "larger rings", WORD_RING_SIZE);
	say_remedy(sink, kernel->why.commit_overrun, "refused, interrupts filled the ring after an unfinished event",
		   "larger rings", WORD_RING_SIZE);
	say_count(sink, kernel->why.left, "left in the ring when an error ended its drain");
	say_setting(sink, kernel->not_kept, "older than the last events of each CPU, which are kept", WORD_KEEP_LAST);
	say_count(sink, kernel->gaps, "and gaps of unknown size");
	if (kernel->is_cut)
		message_summary(sink,
				"  and those still in the rings at the end, if any: the spool has no final counts");
	if (output->drained[0])
		message_summary(sink, "  drained by %s", output->drained);
	stats->events = without(stats->events, stats->kernel_events);
	stats->lost = without(stats->lost, kernel->lost);
	stats->lost_unknown = without(stats->lost_unknown, kernel->gaps + kernel->gaps_known);
}

static void say_programs(const struct output *output, const struct spool *spool, const struct weave_stats *stats)
{
	message_summary(output->sink, "%s %" PRIu64 " %s from %" PRIu64 " %s, %" PRIu64 " %s; %" PRIu64 " lost",
			output->verb, stats->events, stats->events == 1 ? "event" : "events", stats->processes,
			stats->processes == 1 ? "process" : "processes", stats->threads,
			stats->threads == 1 ? "thread" : "threads", stats->lost);
	if (output->tell_times && stats->events)
		say_times(output->sink, stats);
	say_reasons(output, spool, stats);
}

static void say_summary(const struct output *output, const struct spool *spool, const struct weave_stats *all,
			const struct spool_to_weave_kernel *kernel)
{
	struct weave_stats stats = *all;
	unsigned int kernels = 0;
	char size[32];

	for (unsigned int i = 0; i < spool->nr_entries; i++)
		kernels += spool_is_kernel(&spool->entries[i]);
	say_kernel(output, kernel, &stats);
	if (spool->nr_entries > kernels || !kernel->is_there)
		say_programs(output, spool, &stats);
	else
		say_damage(output->sink, &stats);
	if (!all->file_size)
		return;
	human_size(all->file_size, size, sizeof(size));
	if (all->events && all->time_error != UINT64_MAX)
		message_summary(output->sink, "%s: %s, times within %" PRIu64 " ns of CLOCK_MONOTONIC", output->name,
				size, all->time_error);
	else
		message_summary(output->sink, "%s: %s", output->name, size);
}

void summary(const struct output *output, const struct spool *spool, const struct selections *selections,
	     const struct drain_trouble *trouble, const struct weave_stats *stats,
	     const struct spool_to_weave_kernel *kernel)
{
	if (trouble->waiting)
		say_waiting(output->sink, trouble->waiting);
	/* If nothing was recorded, say_empty() names the reason. */
	if (stats->file_size)
		say_no_programs(output, spool, trouble);
	if (selections)
		selections_report(output->sink, selections, spool);
	say_summary(output, spool, stats, kernel);
}
