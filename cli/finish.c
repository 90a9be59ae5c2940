/* SPDX-License-Identifier: MIT */
/*
 * Weaving and the summary. A line of the summary goes to stderr, as everything that recorder
 * itself says: standard output is the command's.
 */
#include "cli/finish.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recording/loom.h"
#include "cli/progress.h"
#include "cli/recording/selection.h"
#include "format/io/blob.h"
#include "format/weave/weave.h"

/* ----------------------------------------------------------------------------------------------------- the output */

/* Put the path that `name` means, links resolved, into output->path. 0 or -errno. */
static int resolve(struct output *output, const char *name)
{
	char dir[PATH_MAX], real[PATH_MAX];
	const char *base;
	char *slash;

	if (strlen(name) >= sizeof(dir) - 16)
		return -ENAMETOOLONG;
	if (realpath(name, real)) {
		strcpy(output->path, real);
		return 0;
	}
	if (errno != ENOENT)
		return -errno;
	/* It does not exist: its directory must, and a link that leads nowhere is not ours to fill. */
	strcpy(dir, name);
	slash = strrchr(dir, '/');
	base = name + (slash ? slash - dir + 1 : 0);
	if (slash)
		slash[slash == dir] = '\0';
	if (!*base || !realpath(slash ? dir : ".", real))
		return *base ? -errno : -EISDIR;
	if (strlen(real) + strlen(base) + 2 >= sizeof(output->path))
		return -ENAMETOOLONG;
	strcpy(stpcpy(stpcpy(output->path, real), real[1] ? "/" : ""), base);
	return 0;
}

bool output_choose(struct output *output, const char *name)
{
	struct stat st;
	int err;

	output->name = name;
	err = *name ? resolve(output, name) : -ENOENT;
	if (!err && lstat(output->path, &st) < 0)
		err = errno == ENOENT ? 0 : -errno;
	else if (!err && S_ISDIR(st.st_mode))
		err = -EISDIR;
	else if (!err && !S_ISREG(st.st_mode)) {
		message(output->sink, "cannot write '%s': it is not a regular file", name);
		return false;
	} else if (!err && access(output->path, W_OK) < 0)
		err = -errno;
	if (!err && strlen(output->path) + sizeof(".spool") > sizeof(output->spool))
		err = -ENAMETOOLONG;
	if (err) {
		message(output->sink, "cannot write '%s': %s", name, strerror(-err));
		return false;
	}
	snprintf(output->spool, sizeof(output->spool), "%.*s.spool", (int)(sizeof(output->spool) - 8), output->path);
	return true;
}

/*
 * A name that is taken when the file is to be made, and free when it is looked at: another recorder comes and goes. It
 * is tried again this many times.
 */
#define SPOOL_TRIES 100u

/* Look at the spool's path. 0: a killed recorder has left a spool there; -ENOENT: nothing is there any more; or -errno. */
static int look_at_spool(const struct output *output)
{
	struct spool_head head;
	struct spool *left;
	int err = spool_look(output->spool, &head);

	/* Its recorder was killed when it only had to remove it. */
	if (!err && head.done) {
		err = spool_open(output->spool, &left);
		if (!err) {
			err = spool_remove(left);
			spool_close(left);
		}
		err = err ? err : -ENOENT;
	}
	return err;
}

bool output_spool(const struct output *output, const struct spool_head *head, struct spool **ret_spool)
{
	int made, found = -ENOENT;

	for (unsigned int i = 0; i < SPOOL_TRIES && found == -ENOENT; i++) {
		made = spool_create(output->spool, head, ret_spool);
		if (!made)
			return true;
		if (made != -EEXIST) {
			message(output->sink, "cannot write '%s': %s", output->spool, strerror(-made));
			return false;
		}
		found = look_at_spool(output);
	}
	if (found == -EBUSY)
		message(output->sink, "'%s' is being written by another recorder; choose another file with -o",
			output->name);
	else if (!found)
		message(output->sink,
			"'%s' is left from a recorder that was killed; 'recorder recover' makes a trace.dat of it",
			output->spool);
	else
		message(output->sink, "'%s' exists already; remove it or choose another file with -o", output->spool);
	return false;
}

/* -------------------------------------------------------------------------------------------------------- weaving */

/* For the progress line. */
struct shown {
	struct progress progress;
	uint64_t pages; /* in the spool */
};

static int show_weaving(void *arg, uint64_t pages)
{
	struct shown *shown = arg;

	progress_show(&shown->progress, "weaving: %" PRIu64 "%%", shown->pages ? pages * 100 / shown->pages : 100);
	return 0;
}

/* Whether the kernel was told to record the switches of some threads alone. */
static bool has_some_threads(const struct spool_entry *entry)
{
	const struct spool_text *pids = spool_text(entry, SPOOL_TEXT_SOME, "pids");
	const struct spool_text *filter = spool_text(entry, SPOOL_TEXT_SOME, "filter");

	return (pids && strpbrk(pids->text, "0123456789")) ||
	       (filter && filter->size && strncmp(filter->text, "none", 4));
}

/* What the file says of how it was made. Strings lead into the spool. */
static struct dat_notes make_notes(const struct spool *spool)
{
	const struct spool_text *offsets = NULL, *hidden = NULL;
	struct dat_notes notes = { .program = "recorder " PACKAGE_VERSION };

	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		notes.some_threads = notes.some_threads || has_some_threads(&spool->entries[i]);
		offsets = offsets ? offsets : spool_text(&spool->entries[i], SPOOL_TEXT_OFFSETS, "");
		hidden = hidden ? hidden : spool_text(&spool->entries[i], SPOOL_TEXT_HIDDEN, "");
	}
	notes.offsets = offsets ? offsets->text : NULL;
	notes.hidden = hidden ? hidden->text : NULL;
	return notes;
}

static int weave(const struct output *output, struct spool *spool, struct weave_stats *ret_stats,
		 struct loom_kernel *ret_kernel)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct loom loom = { .pages = 0 };
	struct weave_params params;
	struct shown shown;
	int err;

	err = loom_open(&loom, spool);
	if (err) {
		loom_close(&loom);
		return err;
	}
	progress_init(&shown.progress, output->quiet);
	shown.pages = loom.pages;
	params = (struct weave_params){
		.source = loom.source,
		.streams = loom.streams,
		.processes = loom.processes,
		.nr_processes = spool->nr_entries,
		.output = output->path,
		.version = spool->head.file_version,
		.raw = spool->head.raw,
		.buffers = spool->head.split ? WEAVE_SPLIT : WEAVE_WOVEN,
		.nr_cpus = cpus > 0 ? (unsigned int)cpus : 1,
		.notes = make_notes(spool),
		.progress = show_weaving,
		.arg = &shown,
	};
	err = weave_to_dat(&params, ret_stats);
	progress_clear(&shown.progress);
	if (!err)
		loom_kernel(&loom, spool, ret_kernel);
	loom_close(&loom);
	return err;
}

/* -------------------------------------------------------------------------------------------------------- the summary */

/* Why events were lost, over all lanes and processes. */
struct reasons {
	struct rec_lane_stats lanes;
	struct rec_view_losses processes;
	uint64_t broken; /* lanes */
	uint64_t refused; /* by these */
	unsigned int no_lane; /* processes */
};

static void add_reasons(struct reasons *all, const struct spool *spool)
{
	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		const struct spool_entry *entry = &spool->entries[i];

		if (entry->ended) {
			all->processes.no_lane += entry->losses.no_lane;
			all->processes.log_full += entry->losses.log_full;
			all->no_lane += entry->losses.no_lane != 0;
			if (entry->losses.lease_errno)
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

static void say_count(uint64_t count, const char *what)
{
	if (count)
		fprintf(stderr, "  %" PRIu64 " %s\n", count, what);
}

static void say_no_lane(const struct reasons *all)
{
	char why[128];

	if (!all->processes.no_lane)
		return;
	if (all->processes.lease_errno == EDQUOT)
		snprintf(why, sizeof(why),
			 "the program's memory for lanes is used up: set RECORDER_MAX_KB, or a smaller -b");
	else if (all->processes.lease_errno == ENOSPC || all->processes.lease_errno == ENOMEM)
		snprintf(why, sizeof(why),
			 "no room for another lane in the buffer directory: free some, or a smaller -b");
	else if (all->processes.lease_errno == EBUSY)
		snprintf(why, sizeof(why),
			 "more threads wrote at once than there are shared lanes: set RECORDER_MAX_KB");
	else
		snprintf(why, sizeof(why), "%s", all->processes.lease_errno ? strerror(all->processes.lease_errno) :
									      "none was available");
	fprintf(stderr, "  %" PRIu64 " of threads without a lane (%s)\n", all->processes.no_lane, why);
}

static void say_damage(const struct weave_stats *stats)
{
	say_count(stats->damaged_events, "on damaged pages");
	say_count(stats->damaged_streams, "lanes that cannot be read to their end");
	say_count(stats->unknown_events, "of events that no program has declared");
	say_count(stats->lost_unknown, "and gaps of unknown size");
}

static void say_reasons(const struct output *output, const struct spool *spool, const struct weave_stats *stats)
{
	struct reasons all = { .broken = 0 };

	add_reasons(&all, spool);
	say_count(all.lanes.overrun, "overwritten before they were read (larger lanes: -b)");
	say_count(all.lanes.dropped_events, "dropped, the lane was full (larger lanes: -b)");
	say_count(all.lanes.too_long, "longer than a sub-buffer takes (--subbuf-size)");
	say_count(all.lanes.commit_overrun,
		  "refused, signal handlers filled the lane above an unfinished event (larger lanes: -b)");
	say_count(all.lanes.nested_limit, "refused, interrupted too often while being written");
	say_no_lane(&all);
	say_damage(stats);
	if (output->tell_torn || all.lanes.torn)
		fprintf(stderr, "  %" PRIu64 " torn: begun but not finished, not counted as lost\n", all.lanes.torn);
	say_count(all.processes.log_full, "declarations, conditions or thread names that found no room in the buffer");
	say_count(all.refused, "refused, their lanes had been stopped as damaged");
	say_count(all.broken, "lanes stopped as damaged (what writes over the program's buffer?)");
	selections_say_rates(output->sink, spool);
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

/* Programs run on without a buffer, and cannot tell. */
static void say_no_buffers(const struct output *output, const struct spool *spool, const struct drain_trouble *trouble)
{
	const int err = trouble->no_buffer_errno;
	unsigned int programs = 0;
	char why[PATH_MAX + 64];

	for (unsigned int i = 0; i < spool->nr_entries; i++)
		programs += !spool_is_kernel(&spool->entries[i]);

	if (err == ENOMEM || err == ENOSPC || err == EDQUOT)
		snprintf(why, sizeof(why), "no room for buffers in '%s': free some or set RECORDER_DIR",
			 spool->head.session);
	else if (err == EFBIG)
		snprintf(why, sizeof(why), "the limit on a file's size is smaller than a buffer (ulimit -f)");
	else if (err == EOPNOTSUPP)
		snprintf(why, sizeof(why), "it cannot read clocks any more (PR_SET_TSC)");
	else if (err == EINVAL)
		snprintf(why, sizeof(why),
			 "a size or the clock in the environment is invalid (RECORDER_SUBBUF_KB and others)");
	else
		snprintf(why, sizeof(why), "%s", strerror(err));
	if (trouble->no_buffers)
		message(output->sink, "%u %s recorded: %s", trouble->no_buffers,
			trouble->no_buffers == 1 ? "process was not" : "processes were not", why);
	else if (!programs && (spool->head.session[0] || !spool->nr_entries))
		message(output->sink,
			"no process of '%s' uses librecorder, or its buffer directory was out of reach "
			"(REC_DEBUG=1 shows why): the recording %s",
			spool->head.command, spool->nr_entries ? "has only the kernel's events" : "is empty");
}

/* As `recorder report` shows times, which rounds. */
static void say_times(const struct weave_stats *stats)
{
	const uint64_t first = (stats->first_time + 500) / 1000, last = (stats->last_time + 500) / 1000,
		       span = last - first;

	fprintf(stderr,
		"  from %" PRIu64 ".%06" PRIu64 " to %" PRIu64 ".%06" PRIu64 ", %" PRIu64 ".%06" PRIu64 " seconds\n",
		first / 1000000, first % 1000000, last / 1000000, last % 1000000, span / 1000000, span % 1000000);
}

static uint64_t without(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

/* Of the kernel, whose losses and gaps are taken out of `stats`: what remains there is the programs'. */
static void say_kernel(const struct output *output, const struct loom_kernel *kernel, struct weave_stats *stats)
{
	if (!kernel->is_there)
		return;
	fprintf(stderr, "%s %" PRIu64 " kernel %s from %u %s; %" PRIu64 " lost\n", output->verb, stats->kernel_events,
		stats->kernel_events == 1 ? "event" : "events", kernel->cpus, kernel->cpus == 1 ? "CPU" : "CPUs",
		kernel->lost);
	say_count(kernel->why.overrun, "overwritten before they were read (larger rings: -b)");
	say_count(kernel->why.dropped, "dropped, the ring was full (larger rings: -b)");
	say_count(kernel->why.commit_overrun,
		  "refused, interrupts filled the ring above an unfinished event (larger rings: -b)");
	say_count(kernel->why.left, "left in the ring when an error ended its drain");
	say_count(kernel->gaps, "and gaps of unknown size");
	if (output->drained[0])
		fprintf(stderr, "  drained by %s\n", output->drained);
	stats->events = without(stats->events, stats->kernel_events);
	stats->lost = without(stats->lost, kernel->lost);
	stats->lost_unknown = without(stats->lost_unknown, kernel->gaps + kernel->gaps_known);
}

static void say_programs(const struct output *output, const struct spool *spool, const struct weave_stats *stats)
{
	fprintf(stderr, "%s %" PRIu64 " %s from %" PRIu64 " %s, %" PRIu64 " %s; %" PRIu64 " lost\n", output->verb,
		stats->events, stats->events == 1 ? "event" : "events", stats->processes,
		stats->processes == 1 ? "process" : "processes", stats->threads,
		stats->threads == 1 ? "thread" : "threads", stats->lost);
	if (output->tell_times && stats->events)
		say_times(stats);
	say_reasons(output, spool, stats);
}

static void say_summary(const struct output *output, const struct spool *spool, const struct weave_stats *all,
			const struct loom_kernel *kernel)
{
	struct weave_stats stats = *all;
	char size[32];

	say_kernel(output, kernel, &stats);
	if (spool->nr_entries > 1 || !kernel->is_there)
		say_programs(output, spool, &stats);
	else
		say_damage(&stats);
	fprintf(stderr, "%s: %s", output->name, human_size(all->file_size, size, sizeof(size)));
	if (all->events && all->time_error != UINT64_MAX)
		fprintf(stderr, ", times within %" PRIu64 " ns of CLOCK_MONOTONIC", all->time_error);
	fputc('\n', stderr);
}

bool output_finish(const struct output *output, struct spool *spool, const struct selections *selections,
		   const struct drain_trouble *trouble)
{
	struct loom_kernel kernel;
	struct weave_stats stats;
	int err;

	err = weave(output, spool, &stats, &kernel);
	if (err) {
		message(output->sink, "cannot write '%s': %s; 'recorder recover %s' tries again", output->name,
			strerror(-err), output->spool);
		return false;
	}
	if (output->quiet)
		return true;
	say_trouble(output->sink, trouble);
	say_no_buffers(output, spool, trouble);
	if (selections)
		selections_report(output->sink, selections, spool);
	say_summary(output, spool, &stats, &kernel);
	return true;
}

void output_remove_spool(const struct output *output, struct spool *spool)
{
	const int err = spool_remove(spool);

	if (err)
		message(output->sink, "cannot remove '%s': %s", output->spool, strerror(-err));
}
