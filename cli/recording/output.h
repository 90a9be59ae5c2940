/* SPDX-License-Identifier: MIT */
/*
 * The end of a recording and of a recovery: weave the spool into a trace.dat and print the summary. Also chooses the
 * output and its spool, so that both commands refuse the same things with the same messages.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <limits.h>
#include <stdbool.h>

#include "cli/base/message.h"
#include "cli/recording/drain.h"
#include "cli/recording/selection.h"
#include "cli/recording/spool.h"

struct dat_packing;

/* The destination of the recording. */
struct output {
	const struct message_sink *sink;
	const char *verb; /* the summary's first word: "recorded" */
	const char *name; /* as the user gave it */
	char path[PATH_MAX];
	char spool[PATH_MAX];
	int stream; /* the descriptor of standard output, if the name is "-"; 0: the output is a file */
	const struct dat_packing *packing; /* how a file of version 7 is compressed; NULL: not compressed */
	bool quiet;
	bool tell_times; /* print the time range of the events */
	bool programs_may_lack; /* do not report that no process uses librecorder */
	/*
	 * *ret_empty is set to true if there was no event, and so no output was written; NULL: a file without events is
	 * written. why_empty is the reason that is printed if no selections are known.
	 */
	bool *ret_empty;
	const char *why_empty;
	/* *ret_unsent is set to true if the output is complete, but was not sent: its file stays; or NULL */
	bool *ret_unsent;
	/* Called periodically during the weave, and once after it; or NULL. */
	void (*weaving)(void *arg, uint64_t percent);
	void (*woven)(void *arg);
	void *weaving_arg;
	char drained[128]; /* how the kernel's events were drained: see kernel_drain_about(); "": not known */
};

/*
 * Take `name` as the output, "-" as standard output. A symbolic link is followed; an existing file must be regular and
 * writable, and is not touched. False: one line was printed. Call output_close() in any case.
 */
bool output_choose(struct output *output, const char *name);

/* Remove the temporary directory of a streamed output, unless it is needed for a recovery. */
void output_close(const struct output *output);

/* Make the spool beside the output. False: one line was printed. */
bool output_spool(const struct output *output, const struct spool_head *head, struct spool **ret_spool);

/*
 * Weave. Report what was skipped and, unless quiet, print the summary, including losses with the reasons.
 * `selections` are the selections of events (NULL: not known); unless quiet, those that matched no event or do not fit
 * their events are reported. False: one line was printed, and the spool still exists; it is not needed if
 * *output->ret_empty or *output->ret_unsent was set.
 */
bool output_finish(const struct output *output, struct spool *spool, const struct selections *selections,
		   const struct drain_trouble *trouble);

/*
 * Store, for a message, how the spool is recovered after an error: the command, with another output if the disk is
 * full. A verb follows.
 */
#define OUTPUT_RECOVER_SIZE (PATH_MAX + 128)
void output_put_recover(const struct message_sink *sink, const char *spool, int err, char text[OUTPUT_RECOVER_SIZE]);

/*
 * The recording is complete, or there was none: remove the spool and its side files. If that fails, one line is
 * printed.
 */
void output_remove_spool(const struct output *output, struct spool *spool);

#endif
