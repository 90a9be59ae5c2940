/* SPDX-License-Identifier: MIT */
/* A recording: the command line of 'recorder record', which cmd_record.c reads, and its execution, in record_run.c. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/common/background.h"
#include "cli/common/opts.h"
#include "cli/programs/selection_options.h"
#include "cli/programs/show_programs.h"
#include "cli/record/record_kernel.h"
#include "cli/record/record_lanes.h"
#include "cli/recording/attach.h"
#include "cli/recording/child.h"
#include "cli/recording/child_user.h"
#include "cli/recording/drain.h"
#include "cli/recording/output.h"
#include "cli/recording/proc_maps.h"
#include "cli/recording/programs.h"
#include "cli/recording/selection.h"
#include "cli/recording/session.h"
#include "cli/recording/spool.h"
#include "format/dat/dat_pack.h"

#define RECORD "record" /* the command's name */
extern const struct message_sink record_sink;

struct record {
	/* the command line */
	const char *output_name;
	struct opt_list events; /* -u, -x, -f, --rate, -e, -R, -v */
	struct opt_list user_events; /* those of `events` that are -u, -x, -f or --rate */
	bool user;		/* programs are recorded */
	bool user_is_asked; /* -u was given; otherwise, if the kernel is recorded, programs need not use librecorder */
	const char *threads;
	uint64_t subbuf_kb;
	uint64_t sleep_us;	  /* -s; UINT64_MAX: not given */
	unsigned int mode, clock; /* indexes into the words of the options; UINT32_MAX: not given */
	unsigned int version, buffers;
	const char *compression; /* NULL: not given */
	struct dat_packing packing;
	bool raw, quiet;
	bool daemonize;
	bool proc_map; /* the file has the maps of the recorded processes */
	bool date; /* the file states the time of day */
	char **command;
	struct programs programs; /* programs to attach to; none if it has no word */
	uint64_t duration;    /* ms; 0: until the command ends */
	const char *as_user;  /* run COMMAND as this user; NULL: as ourselves */

	/* the recording */
	struct record_kernel kernel;
	struct record_lanes lanes;
	struct output output;
	struct session session;
	struct spool *spool;
	struct drain *drain;
	struct attach *attach;
	unsigned int priority; /* real-time priority of this thread while it records; 0: none */
	struct background background;
	struct child child;
	struct child_user child_user;
	struct proc_maps maps;
	struct selections selections;
	bool lacks_programs; /* none of the named programs uses librecorder */
	bool time_is_over;   /* the duration has passed */
	bool is_empty;	     /* no event was recorded */
	bool is_unsent;	     /* the file is complete, but standard output did not take it: it is still there */
	bool full_is_reported; /* whether it was reported that the spool's stage is full */
	bool failure_is_reported; /* whether it was reported, while COMMAND ran, that an error has stopped a drain */
	char *enable; /* the selection, in the form of RECORDER_ENABLE */
};

/* Record, and write the file. Returns the command's exit status; if it is not COMMAND's, one line was printed. */
int record_run(struct record *record);

/*
 * Give this thread priority over the recorded programs, if permitted, from before the first event until record_drain()
 * has taken the last: a busy machine must not delay the end of the recording.
 */
void record_go_first(struct record *record);

/*
 * Report, once, that an error has stopped a drain while COMMAND is still running: `programs` that of programs, if it is
 * negative, else `kernel` that of the kernel.
 */
void record_say_failing(struct record *record, int programs, int kernel);

/* Take events until it is over. Returns 0 or what stopped the drain. */
int record_drain(struct record *record);

/* Close what record_run() has left open. */
void record_close(struct record *record);

#endif
