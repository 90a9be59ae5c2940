/* SPDX-License-Identifier: MIT */
/*
 * Weaving and the summary. A line of the summary goes to stderr, as everything that recorder itself says: standard output
 * is the command's.
 */
#include "cli/finish.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/selection.h"
#include "format/weave.h"

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
		complain(output->command, "cannot write '%s': it is no regular file", name);
		return false;
	} else if (!err && access(output->path, W_OK) < 0)
		err = -errno;
	if (!err && strlen(output->path) + sizeof(".spool") > sizeof(output->spool))
		err = -ENAMETOOLONG;
	if (err) {
		complain(output->command, "cannot write '%s': %s", name, strerror(-err));
		return false;
	}
	snprintf(output->spool, sizeof(output->spool), "%.*s.spool", (int)(sizeof(output->spool) - 8), output->path);
	return true;
}

bool output_spool(const struct output *output, const struct spool_head *head, struct spool **ret_spool)
{
	struct spool *other;
	int err;

	err = spool_create(output->spool, head, ret_spool);
	if (!err)
		return true;
	if (err != -EEXIST) {
		complain(output->command, "cannot write '%s': %s", output->spool, strerror(-err));
		return false;
	}
	err = spool_open(output->spool, &other);
	if (err == -EBUSY)
		complain(output->command, "'%s' is being written by another recorder; choose another file with -o",
			 output->name);
	else if (!err)
		complain(output->command,
			 "'%s' is left from a recorder that was killed; 'recorder recover' makes a trace.dat of it",
			 output->spool);
	else
		complain(output->command, "'%s' is in the way; remove it or choose another file with -o", output->spool);
	if (!err)
		spool_close(other);
	return false;
}

/* -------------------------------------------------------------------------------------------------------- weaving */

struct weaving {
	struct progress progress;
	uint64_t pages; /* in the spool */
	struct weave_params params;
	struct weave_process *processes;
	struct weave_stream *streams;
	struct rec_source *source;
};

static int show_weaving(void *arg, uint64_t pages)
{
	struct weaving *weaving = arg;

	progress_show(&weaving->progress, "weaving: %" PRIu64 "%%",
		      weaving->pages ? pages * 100 / weaving->pages : 100);
	return 0;
}

/* Describe the spool's processes and streams. 0 or -ENOMEM. */
static int describe(struct weaving *weaving, struct spool *spool)
{
	const struct spool_stream *streams;
	bool given[REC_CLOCK_MONO + 1] = { false };
	int err;

	err = spool_source_open(spool, &weaving->source, &streams);
	if (err)
		return err;
	weaving->processes = calloc(spool->nr_entries + 1, sizeof(*weaving->processes));
	weaving->streams = calloc(weaving->source->nr_streams + 1, sizeof(*weaving->streams));
	if (!weaving->processes || !weaving->streams)
		return -ENOMEM;
	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		const struct spool_entry *entry = &spool->entries[i];
		const struct rec_view_info *info = &entry->process.info;
		/* A clock that this version does not know is the weave's to refuse. */
		const uint32_t clock = info->clock <= REC_CLOCK_MONO ? info->clock : 0;

		weaving->processes[i] = (struct weave_process){
			.pid = info->pid,
			.clock = info->clock,
			.subbuf_size = entry->subbuf_size,
			.comm = info->comm,
			.log = entry->log,
			.log_size = entry->log_size,
			/* Those of one process count for all of the same clock. */
			.anchors = given[clock] ? NULL : spool->anchors[clock].anchors,
			.nr_anchors = given[clock] ? 0 : spool->anchors[clock].nr,
			.lost = entry->ended ? entry->losses.no_lane : 0,
		};
		given[clock] = true;
		for (unsigned int j = 0; j < entry->nr_lanes; j++)
			weaving->pages += entry->lanes[j].pages;
	}
	for (unsigned int i = 0; i < weaving->source->nr_streams; i++) {
		const struct spool_lane *lane = &spool->entries[streams[i].process].lanes[streams[i].lane];

		weaving->streams[i].process = streams[i].process;
		weaving->streams[i].lost = lane->ended ? lane->stats.lost_unread : 0;
	}
	return 0;
}

static int weave(const struct output *output, struct spool *spool, struct weave_stats *ret_stats)
{
	struct weaving weaving = { .pages = 0 };
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int err;

	err = describe(&weaving, spool);
	if (err)
		goto free_weaving;
	progress_init(&weaving.progress, output->quiet);
	weaving.params = (struct weave_params){
		.source = weaving.source,
		.streams = weaving.streams,
		.processes = weaving.processes,
		.nr_processes = spool->nr_entries,
		.output = output->path,
		.version = spool->head.file_version,
		.raw = spool->head.raw,
		.nr_cpus = cpus > 0 ? (unsigned int)cpus : 1,
		.writer = "recorder " PACKAGE_VERSION,
		.progress = show_weaving,
		.arg = &weaving,
	};
	err = weave_to_dat(&weaving.params, ret_stats);
	progress_clear(&weaving.progress);
free_weaving:
	free(weaving.streams);
	free(weaving.processes);
	spool_source_close(weaving.source);
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
		snprintf(why, sizeof(why), "the program's memory for lanes is used up: set RECORDER_MAX_KB, or a smaller -b");
	else if (all->processes.lease_errno == ENOSPC || all->processes.lease_errno == ENOMEM)
		snprintf(why, sizeof(why), "no room for another lane in the buffer directory: free some, or a smaller -b");
	else if (all->processes.lease_errno == EBUSY)
		snprintf(why, sizeof(why), "so many wrote at once that all lanes to share were taken: set RECORDER_MAX_KB");
	else
		snprintf(why, sizeof(why), "%s", all->processes.lease_errno ? strerror(all->processes.lease_errno) :
									      "none could be had at that time");
	fprintf(stderr, "  %" PRIu64 " of threads without a lane (%s)\n", all->processes.no_lane, why);
}

static void say_reasons(const struct output *output, const struct spool *spool, const struct weave_stats *stats)
{
	struct reasons all = { .broken = 0 };

	add_reasons(&all, spool);
	say_count(all.lanes.overrun, "overwritten before they were read (larger lanes: -b)");
	say_count(all.lanes.dropped_events, "dropped, the lane was full (larger lanes: -b)");
	say_count(all.lanes.too_long, "longer than a sub-buffer takes (--subbuf-size)");
	say_count(all.lanes.commit_overrun, "refused, signal handlers filled the lane above an unfinished event (larger lanes: -b)");
	say_count(all.lanes.nested_limit, "refused, interrupted too often while being written");
	say_no_lane(&all);
	say_count(stats->damaged_events, "on damaged pages");
	say_count(stats->damaged_streams, "lanes that cannot be read to their end");
	say_count(stats->unknown_events, "of events that no program has declared");
	say_count(stats->lost_unknown, "gaps of unknown size besides");
	if (output->tell_torn || all.lanes.torn)
		fprintf(stderr, "  %" PRIu64 " torn: begun but not finished, not counted as lost\n", all.lanes.torn);
	say_count(all.processes.log_full, "declarations, conditions or thread names that found no room in the buffer");
	say_count(all.refused, "refused, their lanes had been stopped as damaged");
	say_count(all.broken, "lanes stopped as damaged (what writes over the program's buffer?)");
	selections_say_rates(spool);
}

static void say_trouble(const char *command, const struct drain_trouble *trouble)
{
	if (trouble->bad_buffers)
		complain(command, "%u %s passed over, the first '%s': %s", trouble->bad_buffers,
			 trouble->bad_buffers == 1 ? "buffer was" : "buffers were", trouble->bad_file,
			 trouble->bad_errno == EPROTO ? "its program has another version of librecorder" :
							strerror(trouble->bad_errno));
	if (trouble->bad_lanes == 1)
		complain(command, "skipped lane %u of program %u (%s), which is damaged; what it held from there on is lost",
			 trouble->bad_lane.lane, trouble->bad_lane.pid, trouble->bad_lane.comm);
	else if (trouble->bad_lanes)
		complain(command, "skipped %u damaged lanes, the first lane %u of program %u (%s); what they held from there on is lost",
			 trouble->bad_lanes, trouble->bad_lane.lane, trouble->bad_lane.pid, trouble->bad_lane.comm);
	if (trouble->cut_buffers)
		complain(command, "skipped the %s of program %u (%s)%s, which %s cut short meanwhile; what was left there is lost",
			 trouble->cut_buffers == 1 ? "buffer" : "buffers", trouble->cut_lane.pid, trouble->cut_lane.comm,
			 trouble->cut_buffers == 1 ? "" : " and others", trouble->cut_buffers == 1 ? "was" : "were");
	if (trouble->busy_lanes)
		complain(command, "%u %s being read by another process and passed over", trouble->busy_lanes,
			 trouble->busy_lanes == 1 ? "lane was" : "lanes were");
	if (trouble->unready)
		complain(command, "%u %s never finished: is there room in the buffer directory?", trouble->unready,
			 trouble->unready == 1 ? "buffer was" : "buffers were");
}

/* Programs run on without a buffer, and cannot tell. */
static void say_no_buffers(const struct output *output, const struct spool *spool, const struct drain_trouble *trouble)
{
	const int err = trouble->no_buffer_errno;
	char why[PATH_MAX + 64];

	if (err == ENOMEM || err == ENOSPC || err == EDQUOT)
		snprintf(why, sizeof(why), "no room for buffers in '%s': free some or set RECORDER_DIR", spool->head.session);
	else if (err == EFBIG)
		snprintf(why, sizeof(why), "the limit on a file's size is smaller than a buffer (ulimit -f)");
	else if (err == EOPNOTSUPP)
		snprintf(why, sizeof(why), "it has given up reading clocks (PR_SET_TSC)");
	else if (err == EINVAL)
		snprintf(why, sizeof(why), "sizes or clock in the environment make no sense (RECORDER_SUBBUF_KB and others)");
	else
		snprintf(why, sizeof(why), "%s", strerror(err));
	if (trouble->no_buffers)
		complain(output->command, "%u %s recorded: %s", trouble->no_buffers,
			 trouble->no_buffers == 1 ? "process was not" : "processes were not", why);
	else if (!spool->nr_entries)
		complain(output->command, "no process of '%s' uses librecorder, or its buffer directory was out of reach "
			 "(REC_DEBUG=1 tells): the recording is empty", spool->head.command);
}

/* As `recorder report` shows times, which rounds. */
static void say_times(const struct weave_stats *stats)
{
	const uint64_t first = (stats->first_time + 500) / 1000, last = (stats->last_time + 500) / 1000, span = last - first;

	fprintf(stderr, "  from %" PRIu64 ".%06" PRIu64 " to %" PRIu64 ".%06" PRIu64 ", %" PRIu64 ".%06" PRIu64 " seconds\n",
		first / 1000000, first % 1000000, last / 1000000, last % 1000000, span / 1000000, span % 1000000);
}

static void say_summary(const struct output *output, const struct spool *spool, const struct weave_stats *stats)
{
	char size[32];

	fprintf(stderr, "%s %" PRIu64 " %s from %" PRIu64 " %s, %" PRIu64 " %s; %" PRIu64 " lost\n", output->verb,
		stats->events, stats->events == 1 ? "event" : "events", stats->processes,
		stats->processes == 1 ? "process" : "processes", stats->threads,
		stats->threads == 1 ? "thread" : "threads", stats->lost);
	if (output->tell_times && stats->events)
		say_times(stats);
	say_reasons(output, spool, stats);
	fprintf(stderr, "%s: %s", output->name, human_size(stats->file_size, size, sizeof(size)));
	if (stats->events && stats->time_error != UINT64_MAX)
		fprintf(stderr, ", times within %" PRIu64 " ns of CLOCK_MONOTONIC", stats->time_error);
	fputc('\n', stderr);
}

bool output_finish(const struct output *output, struct spool *spool, const struct selections *selections,
		   const struct drain_trouble *trouble)
{
	struct weave_stats stats;
	int err;

	err = weave(output, spool, &stats);
	if (err) {
		complain(output->command, "cannot write '%s': %s; 'recorder recover %s' tries again", output->name,
			 strerror(-err), output->spool);
		return false;
	}
	if (output->quiet)
		return true;
	say_trouble(output->command, trouble);
	say_no_buffers(output, spool, trouble);
	if (selections)
		selections_report(output->command, selections, spool);
	say_summary(output, spool, &stats);
	return true;
}

void output_remove_spool(const struct output *output)
{
	if (unlink(output->spool) < 0 && errno != ENOENT)
		complain(output->command, "cannot remove '%s': %s", output->spool, strerror(errno));
}
