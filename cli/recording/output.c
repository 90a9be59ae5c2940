/* SPDX-License-Identifier: MIT */
#include "cli/recording/output.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/pattern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recording/empty.h"
#include "cli/recording/spool_to_weave.h"
#include "cli/recording/output_stream.h"
#include "cli/recording/summary.h"
#include "format/weave/weave.h"

/* ----------------------------------------------------------------------------------------------------- the output */

/* Put the path of `name`, with links resolved, into output->path. 0 or -errno. */
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
	/* The file does not exist, so its directory must exist. A link that leads nowhere is refused. */
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

void output_close(const struct output *output)
{
	if (output->stream && output->path[0])
		output_stream_close(output);
}

bool output_choose(struct output *output, const char *name)
{
	struct stat st;
	int err;

	output->name = name;
	output->stream = strcmp(name, "-") ? 0 : STDOUT_FILENO;
	if (output->stream)
		return output_stream_open(output);
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
 * Other recorders may use the spool's name when this one makes the file, and be gone when it examines the file. Then it
 * tries again, this number of times.
 */
#define SPOOL_TRIES 100u

/*
 * Examine the spool's path. 0: a killed recorder has left a spool there; -ENOENT: nothing is there any more; or
 * -errno.
 */
static int look_at_spool(const struct output *output)
{
	struct spool_head head;
	struct spool *left;
	int err = spool_look(output->spool, &head);

	/* The killed recorder had finished, except for removing the spool; or it was copying another spool. */
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
		message(output->sink, "'%s' is being written by another recorder; choose another output%s",
			output->name, message_remark(output->sink, WORD_OUTPUT).text);
	else if (!found)
		message(output->sink, "'%s' is left from an unfinished recording; '%s %s' makes a trace.dat of it",
			output->spool, message_word(output->sink, WORD_RECOVER), output->spool);
	else
		message(output->sink, "'%s' exists already; remove it or choose another output%s", output->spool,
			message_remark(output->sink, WORD_OUTPUT).text);
	return false;
}

/* -------------------------------------------------------------------------------------------------------- weaving */

struct weaving {
	const struct output *output;
	uint64_t pages; /* in the spool */
};

static int show_weaving(void *arg, uint64_t pages)
{
	const struct weaving *weaving = arg;

	if (weaving->output->weaving)
		weaving->output->weaving(weaving->output->weaving_arg,
					 weaving->pages ? pages * 100 / weaving->pages : 100);
	return 0;
}

/* Whether the event matches one of the lists of patterns, of which there is one on each line. */
static bool wants(void *arg, const struct rec_words *system, const struct rec_words *name)
{
	char patterns[sizeof(((struct spool_head *)0)->wanted)];

	for (const char *line = arg; *line; line += strspn(line, "\n")) {
		const size_t size = strcspn(line, "\n");

		memcpy(patterns, line, size);
		patterns[size] = '\0';
		if (rec_pattern_match(patterns, system->text, system->size, name->text, name->size))
			return true;
		line += size;
	}
	return false;
}

/*
 * The time of day at time 0 of CLOCK_MONOTONIC, by the newest reading or anchor; spools of earlier versions have only
 * anchors. 0: not requested, or unknown.
 */
static uint64_t find_date(const struct spool *spool)
{
	const struct rec_anchor *newest = NULL;

	for (uint32_t clock = 0; spool->head.date && clock <= REC_CLOCK_MONO; clock++)
		for (unsigned int i = 0; i < spool->anchors[clock].nr; i++)
			if (!newest || spool->anchors[clock].anchors[i].mono > newest->mono)
				newest = &spool->anchors[clock].anchors[i];
	if (spool->head.date && spool->nr_clocks) {
		const struct clock_reading *last = &spool->clocks[spool->nr_clocks - 1];

		if (!newest || last->mono >= newest->mono)
			return last->realtime > last->mono ? last->realtime - last->mono : 0;
	}
	return newest && newest->realtime > newest->mono ? newest->realtime - newest->mono : 0;
}

static int weave(const struct output *output, struct spool *spool, struct weave_stats *ret_stats,
		 struct spool_to_weave_kernel *ret_kernel)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct spool_to_weave to_weave = { .pages = 0 };
	struct weave_params params;
	struct weaving weaving = { .output = output };
	int err;

	err = spool_to_weave_open(&to_weave, spool);
	if (err) {
		spool_to_weave_close(&to_weave);
		return err;
	}
	weaving.pages = to_weave.pages;
	params = (struct weave_params){
		.source = to_weave.source,
		.streams = to_weave.streams,
		.processes = to_weave.processes,
		.nr_processes = spool->nr_entries,
		.output = output->path,
		.version = spool->head.file_version,
		.packing = output->packing,
		.raw = spool->head.raw,
		.buffers = spool->head.split ? WEAVE_SPLIT : WEAVE_WOVEN,
		.nr_cpus = cpus > 0 ? (unsigned int)cpus : 1,
		.notes = spool_to_weave_notes(spool),
		.maps = to_weave.maps,
		.nr_maps = to_weave.nr_maps,
		.date = find_date(spool),
		.wants = spool->head.wanted[0] ? wants : NULL,
		.wants_arg = spool->head.wanted,
		.refuse_empty = output->ret_empty != NULL,
		.progress = show_weaving,
		.arg = &weaving,
	};
	err = weave_to_dat(&params, ret_stats);
	if (!err || err == -ENODATA)
		spool_to_weave_kernel(&to_weave, spool, ret_kernel);
	spool_to_weave_close(&to_weave);
	return err;
}

void output_put_recover(const struct message_sink *sink, const char *spool, int err, char text[OUTPUT_RECOVER_SIZE])
{
	/* By default the file is made beside the spool. */
	const bool full = err == -ENOSPC || err == -EDQUOT;

	snprintf(text, OUTPUT_RECOVER_SIZE, "'%s %s'%s", message_word(sink, full ? WORD_RECOVER_TO : WORD_RECOVER),
		 spool, full ? ", with FILE on another disk," : "");
}

bool output_finish(const struct output *output, struct spool *spool, const struct selections *selections,
		   const struct drain_trouble *trouble)
{
	struct spool_to_weave_kernel kernel;
	char recover[OUTPUT_RECOVER_SIZE];
	struct weave_stats stats;
	int err;

	err = weave(output, spool, &stats, &kernel);
	if (output->woven)
		output->woven(output->weaving_arg);
	if (err && err != -ENODATA) {
		output_put_recover(output->sink, output->spool, err, recover);
		message(output->sink, "cannot write '%s': %s; %s tries again", output->name, strerror(-err), recover);
		return false;
	}
	if (!err && output->stream && !output_stream_send(output)) {
		if (output->ret_unsent)
			*output->ret_unsent = true;
		return false;
	}
	summary_trouble(output, spool, trouble, &stats);
	if (!output->quiet)
		summary(output, spool, selections, trouble, &stats, &kernel);
	if (err) {
		say_empty(output, spool, selections, trouble, &stats);
		*output->ret_empty = true;
	}
	return !err;
}

void output_remove_spool(const struct output *output, struct spool *spool)
{
	const int err = spool_remove(spool);

	if (err)
		message(output->sink, "cannot remove '%s': %s", output->spool, strerror(-err));
}
