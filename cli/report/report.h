/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of 'recorder report': the opened file, the walk over its selected events, and the reports of
 * failures.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/common/verbosity.h"
#include "cli/report/report_follow.h"
#include "cli/report/report_handlers.h"
#include "cli/report/report_lines.h"
#include "cli/report/report_list.h"
#include "cli/report/report_select.h"
#include "format/dat/dat_merge.h"
#include "format/text/event_print.h"

struct report {
	/* the command line */
	const char *path;
	bool no_plugins;
	bool no_date;
	bool raw_ts;
	bool raw_strings;
	enum verbosity verbosity;
	struct report_choice choice;
	struct report_lists lists;
	struct report_handlers handlers;
	bool local_plugins;
	bool test_filters;
	bool stats;	   /* report how many events libtraceevent printed */
	bool ts_check;	   /* report times that go back */
	bool wakeups;	   /* print latencies of wake-ups */
	bool align;	   /* times begin with 0 */
	bool profile_global, profile_by_comm; /* -G, --by-comm */
	struct opt_list profile_hooks;	      /* -H */
	int64_t ts_offset; /* added to all times */
	uint64_t hz;	   /* ticks per second of the clock; 0: as the file states it */
	struct event_print_options print;
	struct report_follow follow;

	struct dat_file *file;
	struct dat_time time;
	struct event_table *table;
	struct event_printer printer;
	struct report_select select;
	const char *head_name; /* name of the file in its first line; NULL: it is the only file */
	int head_width;
	struct report_lines lines; /* also has the error of a failed write */
};

/*
 * The first function returns the number of CPUs for the first line; the second one prints that line. False: writing
 * failed.
 */
uint32_t report_cpus(const struct report *r);
bool report_head(struct report *r);

/*
 * The first function: whether the file has the text of a latency tracer instead of events. The second one prints that
 * text, and returns the exit status.
 */
bool report_is_latency(const struct report *r);
int report_latency(struct report *r);

/* Print the version of an open file, and its unknown options, if the level or --debug requests them. */
void report_verbose(const struct report *r);

/*
 * Likewise print the CPUs without events: with `named`, the CPUs of the buffers that have a name, after the report's
 * first line; otherwise the CPUs of the buffers without a name.
 */
void report_verbose_cpus(const struct report *r, bool named);

/* Switch verbosity off, for forms of the report that print only events. */
void report_not_verbose(struct report *r);

/* Report on one line that the file cannot be read, or that memory is short. The exit status. */
int report_fail(const struct report *r, const struct dat_error *error);
int report_fail_memory(const struct report *r);

/* Reports that the file cannot be opened; `err` is the -errno. If FILE.spool exists, the line names it. */
int report_fail_open(const struct report *r, int err, const struct dat_error *error);

/* As report_lines_written(). */
static inline bool report_written(struct report *r)
{
	return report_lines_written(&r->lines);
}

/* The selected events, in order. */
struct report_walk {
	struct report *r;
	struct dat_merge *merge;
	struct dat_event next; /* the next event, if `ahead` */
	bool more;  /* there is a next event */
	bool ahead; /* the next event was read already, and is not part of the previous one */
	bool lines; /* a call and its immediate return are one event, as in the text */
	/*
	 * Called for each loss in the window, with the event after it, also if that event is not selected: the lost
	 * events may have been. NULL: the caller needs only the losses before selected events.
	 */
	void (*loss)(void *arg, const struct dat_event *event);
	void *loss_arg;
};

/*
 * Open the merge of the file's events. `lines`: the filters get a call and its immediate return as one line. 0; or the
 * exit status, and one line was printed.
 */
int report_merge_open(struct report *r, bool lines, struct dat_merge **ret_merge);

/*
 * Place the walk before the first selected event. 0; or the exit status, and one line was printed. The caller may then
 * set walk->loss.
 */
int report_walk_open(struct report *r, bool lines, struct report_walk *ret_walk);
void report_walk_close(struct report_walk *walk);

/*
 * The next selected event, valid until the next call; the event's data are in the record. False: there are no more.
 */
bool report_walk_next(struct report_walk *walk, struct dat_event *ret_event, struct tep_record *ret_record);

/* Reports what is missing of a file that was cut off or never finished. 0: nothing; 1. */
int report_missing(const struct report *r);

/* Report that events of damaged pages are missing from the output. Returns the exit status. */
int report_damage(const struct report *r, const struct dat_merge *merge);

/*
 * The forms of the report: each function prints all of it, and returns the exit status. report_text() prints
 * trace-cmd's form.
 */
int report_text(struct report *r);
int report_json(struct report *r);
int report_csv(struct report *r);
int report_summary(struct report *r);
int report_clock(struct report *r);
int report_spans(struct report *r);
int report_profile(struct report *r);

typedef int (*report_form)(struct report *r);

/*
 * After the options were read: open the files and print them in this form. `inputs` has the options that name files,
 * and those that apply to the file before them; `operand` is one more file, or NULL. The exit status; errors were
 * printed.
 */
int report_files(struct report *options, const struct opt_list *inputs, const char *operand, report_form form);
void report_options_free(struct report *options);

/* The first lines of several files begin with their names. */
void report_name_heads(struct report *all, unsigned int nr);

/* Several files, opened: the first `head` events of all by time, as text; 0: all of them. */
int report_several(struct report *all, unsigned int nr, uint64_t head);

#endif
