/* SPDX-License-Identifier: MIT */
/*
 * The text of events, byte for byte that of trace-cmd report 3.1.6.
 *
 * Most events have a program (format/print), which needs no libtraceevent. Their lines can be made in two halves:
 * event_line_open() in the order of the events, and event_line_put() by any thread. If an event has no program, or its
 * program refuses a record, libtraceevent prints the record, in order, and it is counted.
 */
#ifndef FORMAT_EVENT_PRINT_H
#define FORMAT_EVENT_PRINT_H

#include "format/dat/dat_merge.h"
#include "format/print/print_program.h"
#include "format/text/event_ftrace.h"
#include "format/text/event_page.h"
#include "format/text/event_parse.h"
#include "format/text/event_tasks.h"

#include <trace-seq.h>

struct event_print_options {
	bool raw;     /* fields instead of the print format (-R) */
	bool full_ts; /* nanoseconds (-t) */
	bool latency; /* the latency columns (-l) */
	bool ts_diff; /* time since the event printed before (--ts-diff) */
	bool hz_given; /* the user states the clock's rate (--ts2secs) */
	bool boundary; /* a line where a page begins (--boundary) */
	bool places;   /* where in its page each event lies (--debug) */
	bool names;   /* each line begins with its buffer's name */
};

/* The ends of the parts of an event's text. Every part may contain words from the file. */
struct event_parts {
	size_t losses; /* end of the buffer's name, and of the line of losses with its newline */
	size_t task;   /* end of the thread, including the CPU and the latency columns */
	size_t time;
	size_t name;
	bool lines; /* the text after the name has several lines: a stack */
};

/* How events of one type are printed. */
struct event_plan {
	const struct event_type *type;
	struct print_program *program; /* NULL: libtraceevent prints the event */
	bool reads_far;		       /* its program may refuse a record that lacks bytes of its last field */
	uint32_t name_size;
	uint64_t fallbacks; /* records that libtraceevent has printed */
	char name[];	    /* " name:              " */
};

/* The number of records that libtraceevent has printed, and the number of their formats. */
struct event_fallbacks {
	uint64_t records;
	uint32_t formats;
};

struct event_printer {
	struct event_print_options options;
	const struct dat_file *file;
	const struct event_table *table;
	struct event_ftrace ftrace;
	struct print_text text; /* text of the last event */
	struct event_parts parts;
	struct trace_seq seq;		/* the text that libtraceevent prints */
	struct event_plan **plans;	/* by event_type_number(); made when first used */
	struct event_tasks tasks;
	struct event_pages pages;	/* for places in the page */
	struct print_context *context;
	unsigned char *record; /* a copy of a record, followed by EVENT_SLACK bytes */
	uint32_t room;
	int name_width;
	const char *top_name; /* path of the file, for lines of the buffer without a name; NULL: none */
	bool seconds;
	bool diff_us; /* differences are in microseconds even if the clock has another unit */
	uint64_t last_ts;
};

/* The data of an event, except its record, that event_line_put() needs. */
struct event_line {
	const struct event_plan *plan;
	const struct event_task *task;
	const struct dat_buffer *buffer;
	uint64_t ts, last_ts;
	int64_t lost;
	bool begins; /* a line states that a sub-buffer begins */
	const struct dat_event *placed; /* the event; NULL unless its place in the page is printed */
	uint32_t cpu;
	uint32_t size; /* size of the record */
};

/* libtraceevent reads at most this much of a page after a record whose program refuses it. */
#define EVENT_BYTES_AFTER 256u

/* table and file must outlive the printer, which must not move. 0; -ENOMEM; event_printer_close() in any case. */
int event_printer_open(struct event_printer *ret_printer, const struct dat_file *file, const struct dat_time *time,
		       const struct event_table *table, const struct event_print_options *options);
void event_printer_close(struct event_printer *printer);

/* The event in libtraceevent's form, without a copy: no byte after its `size` may be read. */
struct tep_record event_record(const struct dat_event *event);

/*
 * Makes the text of the event, without its newline, in `text`, and sets `parts`. It begins with the buffer's name if
 * the file has several; losses have lines of their own. 0; -ENOMEM.
 */
int event_print(struct event_printer *printer, const struct dat_event *event);

/*
 * The first half, for all events that are printed, in order. 1: any thread can put *ret_line; 0: call event_print() for
 * this event now; -ENOMEM.
 */
int event_line_open(struct event_printer *printer, const struct dat_event *event, struct event_line *ret_line);

/*
 * The second half: add the line, with its newline. `data`: the record. `context`: that of the calling thread. False:
 * the program refuses the record, or there is no memory; the text is as it was. event_line_print() then prints it.
 */
bool event_line_put(const struct event_printer *printer, const struct event_line *line, const void *data,
		    struct print_context *context, struct print_text *text);

/*
 * Adds the line as libtraceevent prints it; `bytes_after` is the number of readable bytes after the record. Only one
 * thread at a time may be in this function, event_line_open() or event_print(). 0; -ENOMEM.
 */
int event_line_print(struct event_printer *printer, const struct event_line *line, const void *data,
		     uint32_t bytes_after, struct print_text *text);

struct event_fallbacks event_fallbacks(const struct event_printer *printer);

#endif
