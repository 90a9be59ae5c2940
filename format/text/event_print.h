/* SPDX-License-Identifier: MIT */
/*
 * The text of events, byte for byte that of trace-cmd report 3.1.6. Texts are collected in a trace_seq of the printer;
 * the caller writes them.
 */
#ifndef FORMAT_EVENT_PRINT_H
#define FORMAT_EVENT_PRINT_H

#include "format/dat/dat_merge.h"
#include "format/text/event_ftrace.h"
#include "format/text/event_parse.h"

#include <trace-seq.h>

struct event_print_options {
	bool raw;     /* fields instead of the print format (-R) */
	bool full_ts; /* nanoseconds (-t) */
	bool latency; /* the latency columns (-l) */
	bool ts_diff; /* time since the event printed before (--ts-diff) */
	bool names;   /* each line begins with its buffer's name */
};

/* Where the parts of an event's text end. Words from the file are in all of them. */
struct event_parts {
	unsigned int losses; /* the buffer's name, and the line of losses with its newline */
	unsigned int task;   /* with the CPU and the latency columns */
	unsigned int time;
	unsigned int name;
	bool lines; /* what follows the name has lines by itself: a stack */
};

struct event_printer {
	struct event_print_options options;
	const struct event_table *table;
	struct event_ftrace ftrace;
	struct trace_seq seq; /* the text of the last event */
	struct event_parts parts;
	unsigned char *record; /* copy of it, followed by EVENT_SLACK bytes */
	uint32_t room;
	int name_width;
	bool seconds;
	bool diff_us; /* differences are in microseconds, whatever the clock's unit */
	uint64_t last_ts;
};

/* table and file must outlive the printer, which must not move. 0; -ENOMEM. */
int event_printer_open(struct event_printer *ret_printer, const struct dat_file *file, const struct dat_time *time,
		       const struct event_table *table, const struct event_print_options *options);
void event_printer_close(struct event_printer *printer);

/*
 * The event in libtraceevent's form: a copy with room after it, for filters and for event_print(). Valid until the
 * next call. 0; -ENOMEM.
 */
int event_record(struct event_printer *printer, const struct dat_event *event, struct tep_record *ret_record);

/*
 * Makes the text of the event of the last event_record(), without its newline, and sets `parts`. It begins with the
 * buffer's name if the file has several; losses have lines of their own.
 */
void event_print(struct event_printer *printer, const struct dat_event *event, struct tep_record *record);

/*
 * Parts of the same text, each as a text of its own: thread, CPU and time of the event; and the fields of the record, which
 * has a type, without a newline at the end.
 */
void event_print_head(struct event_printer *printer, const struct dat_event *event, struct tep_record *record);
void event_print_fields(struct event_printer *printer, const struct event_type *type, struct tep_record *record);

#endif
