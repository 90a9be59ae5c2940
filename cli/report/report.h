/* SPDX-License-Identifier: MIT */
/*
 * What the files of 'recorder report' share: the file that is read, opened; the walk over its selected events; and how
 * failures are reported.
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
	bool stats;	   /* how many events libtraceevent printed is reported */
	bool ts_check;	   /* times that go back are reported */
	bool wakeups;	   /* latencies of wake-ups are printed */
	bool align;	   /* times begin with 0 */
	bool profile_global, profile_by_comm; /* -G, --by-comm */
	struct opt_list profile_hooks;	      /* -H */
	int64_t ts_offset; /* added to all times */
	uint64_t hz;	   /* of the clock in the file; 0: as the file states it */
	struct event_print_options print;
	struct report_follow follow;

	struct dat_file *file;
	struct dat_time time;
	struct event_table *table;
	struct event_printer printer;
	struct report_select select;
	const char *head_name; /* of the file, in its first line; NULL: it is the only file */
	int head_width;
	struct report_lines lines; /* also where failed writes are noted */
};

/* The number of CPUs in the first line, and that line. False: writing failed. */
uint32_t report_cpus(const struct report *r);
bool report_head(struct report *r);

/* The file has the text of a latency tracer instead of events; print it. The exit status. */
bool report_is_latency(const struct report *r);
int report_latency(struct report *r);

/* The version of an open file, and options that are not known, if the level or --debug wants them. */
void report_verbose(const struct report *r);

/* In the same way, the CPUs without events: of buffers that have a name, which follow the first line, or of others. */
void report_verbose_cpus(const struct report *r, bool named);

/* For forms that have no lines besides the events'. */
void report_not_verbose(struct report *r);

/* Report in one line that the file cannot be read, or that memory is short. The exit status. */
int report_fail(const struct report *r, const struct dat_error *error);
int report_fail_memory(const struct report *r);

/* As report_lines_written(). */
static inline bool report_written(struct report *r)
{
	return report_lines_written(&r->lines);
}

/* The selected events, in order. */
struct report_walk {
	struct report *r;
	struct dat_merge *merge;
	struct dat_event next; /* if `ahead` */
	bool more;  /* there is one */
	bool ahead; /* the next event was read already, and is not part of the event before it */
	bool lines; /* a call that returned at once is one event together with its return, as in the text */
};

/*
 * The events of the file among which the selected ones are. `lines`: a call that returned at once is found together
 * with its return. 0; or the exit status, and one line was printed.
 */
int report_merge_open(struct report *r, bool lines, struct dat_merge **ret_merge);

/* Starts before the first selected event. 0; or the exit status, and one line was printed. */
int report_walk_open(struct report *r, bool lines, struct report_walk *ret_walk);
void report_walk_close(struct report_walk *walk);

/*
 * 1: *ret_event and *ret_record are the next selected event, valid until the next call; the event's data are in the
 * record. 0: there are no more. -ENOMEM.
 */
int report_walk_next(struct report_walk *walk, struct dat_event *ret_event, struct tep_record *ret_record);

/* Reports what is missing of a file that was cut off or never finished. 0: nothing; 1. */
int report_missing(const struct report *r);

/* Events of damaged pages are missing from what was printed: reports it, and returns the exit status. */
int report_damage(const struct report *r, const struct dat_merge *merge);

/* The forms of the report: print all of it, and return the exit status. report_text() is trace-cmd's. */
int report_text(struct report *r);
int report_json(struct report *r);
int report_csv(struct report *r);
int report_summary(struct report *r);
int report_clock(struct report *r);
int report_spans(struct report *r);
int report_profile(struct report *r);

typedef int (*report_form)(struct report *r);

/*
 * The options are read: open the files and print them in this form. `inputs` are options that name files, and those for
 * the file before them; `operand` is a file, too, or NULL. The exit status; errors were printed.
 */
int report_files(struct report *options, const struct opt_list *inputs, const char *operand, report_form form);
void report_options_free(struct report *options);

/* The first lines of several files begin with their names. */
void report_name_heads(struct report *all, unsigned int nr);

/* Several files, opened: the first `head` events of all by time, as text; 0: all of them. */
int report_several(struct report *all, unsigned int nr, uint64_t head);

#endif
