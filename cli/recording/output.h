/* SPDX-License-Identifier: MIT */
/*
 * The end of a recording and of a recovery: weave the spool into a trace.dat and say what came of it. Also the
 * choice of the output and its spool, so that both commands refuse the same things in the same words.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <limits.h>
#include <stdbool.h>

#include "cli/base/message.h"
#include "cli/recording/drain.h"
#include "cli/recording/selection.h"
#include "cli/recording/spool.h"

/* Where the recording goes. */
struct output {
	const struct message_sink *sink;
	const char *verb; /* the summary's first word: "recorded" */
	const char *name; /* as the user gave it */
	char path[PATH_MAX];
	char spool[PATH_MAX];
	bool quiet;
	bool tell_torn;	 /* how many writes were torn, be it none */
	bool tell_times; /* from when to when the events are */
	/* Called now and then while it is woven, and once it is; NULL: not. */
	void (*weaving)(void *arg, uint64_t percent);
	void (*woven)(void *arg);
	void *weaving_arg;
	char drained[128]; /* how the kernel's events were: see kernel_drain_about(); "": not known */
};

/*
 * Take `name` for the output. A symbolic link is followed; what exists must be a regular file that may be written,
 * and is not touched. False: one line was printed.
 */
bool output_choose(struct output *output, const char *name);

/* Make the spool beside the output. False: one line was printed. */
bool output_spool(const struct output *output, const struct spool_head *head, struct spool **ret_spool);

/*
 * Weave, and unless quiet tell the summary, and what was lost or passed over and why. `selections` are those that
 * events were asked for by (NULL: not known); those that met no event or do not fit theirs are named. False: one
 * line was printed, and the spool is still there.
 */
bool output_finish(const struct output *output, struct spool *spool, const struct selections *selections,
		   const struct drain_trouble *trouble);

/* The recording is complete, or there was none: spool and side files go. If they cannot, one line is printed. */
void output_remove_spool(const struct output *output, struct spool *spool);

#endif
