/* SPDX-License-Identifier: MIT */
/* A trace.dat as writers of other formats see it: fields, names, processes, and the meaning of times. */
#ifndef FORMAT_EXPORT_TRACE_H
#define FORMAT_EXPORT_TRACE_H

#include "format/export/export_fields.h"
#include "format/model/overlay.h"
#include "format/model/model.h"
#include "format/text/event_context.h"
#include "format/text/event_print.h"

struct export_trace {
	const struct dat_file *file;
	const struct dat_time *time;
	const struct event_table *table;
	struct export_fields *fields;
	struct model_rules *rules;
	struct event_printer printer;
	bool has_realtime;
	int64_t realtime; /* CLOCK_REALTIME minus the trace's time, ns */
	struct clock_reading readings[CLOCK_READINGS];
	unsigned int nr_readings; /* 0: the file has none */
	struct event_contexts contexts; /* empty before export_contexts_open() */
	uint64_t given_up; /* as in struct model_sink; only for the writers that use the model */
	/* set by the writer after the last event: only items that the model gives after that may be open */
	bool is_ending;
	const struct overlay *overlay; /* for the writers that show them; NULL: none */
};

/*
 * `time` is that of the file without its date (DAT_TIME_NO_DATE); all of them must outlive the trace, which must not
 * move. 0; -ENOMEM.
 */
int export_trace_open(struct export_trace *ret_trace, const struct dat_file *file, const struct dat_time *time,
		      const struct event_table *table);
void export_trace_close(struct export_trace *trace);

/* Read the values of rec_context_set(). 0; -ENOMEM. */
int export_contexts_open(struct export_trace *trace);

/* A context value of a thread: "context.KEY", and the value. */
struct export_context {
	char name[64];
	const char *value;
};

/* The values of a thread at a time, one after the other: `*next` is 0 at the first call. False: there are no more. */
bool export_context(const struct export_trace *trace, int32_t tid, uint64_t ts, size_t *next,
		    struct export_context *ret_context);

/* The name of a thread or process; "" if the file has none. */
const char *export_task_name(const struct export_trace *trace, int32_t tid);

/* The process of a thread; if the file does not state it, the thread counts as a process. */
int32_t export_process(const struct export_trace *trace, int32_t tid);

/* A state, or the time that a thread worked for a logical task, as a slice of a row of its own. */
struct export_slice {
	const char *category, *name;
	uint64_t begin, end;
	/*
	 * It has no end: it is open where the trace ends. A slice that was open where its thread ended, or was given
	 * up, ends there, so that later slices of the row are not inside it.
	 */
	bool is_open;
	int32_t tid;
	const struct model_rule *rule; /* rule of its record; NULL: it has none */
	const struct model_record *record;
	uint32_t first; /* fields from here on are arguments */
};

/* The slice's name is that of the state's value, or its number. It is stored in the `size` bytes at `name`, or cut. */
struct export_slice export_state_slice(const struct export_trace *trace, const struct model_state *state, char *name,
				       size_t size);

/* The slice's name is the thread's. */
struct export_slice export_task_slice(const struct export_trace *trace, const struct model_task *task);

/*
 * Whether a span has no end in the output: it is still open where the trace ends. One that its thread left open ends
 * with the thread.
 */
bool export_span_is_open(const struct export_trace *trace, const struct model_span *span);

/*
 * Whether an event of the kernel, or a span of one, is of a thread other than the program's of the same id: it needs a
 * row of its own.
 */
static inline bool export_is_namesake(const struct export_trace *trace, bool is_program, int32_t tid)
{
	return !is_program && event_is_ambiguous(trace->table, tid);
}

/* The name of such a row. */
#define EXPORT_NAMESAKE "kernel's thread %d"

/*
 * Whether the trace does not show which spans are around a span: it is one of a CPU, and CPUs of several machines have
 * the same number.
 */
bool export_span_is_apart(const struct export_trace *trace, const struct model_span *span);

/* A text for what the trace does not have of a span; NULL: it is whole. */
const char *export_incomplete(const struct model_span *span);

/*
 * Whether the text of an event says more than its fields: those of printf, trace_printk() and trace_puts() have only
 * the addresses of texts that are elsewhere in the file. Then export_text() makes it, without its newline; valid until
 * the next call, NULL: out of memory.
 */
bool export_has_text(const struct export_event *event);
const char *export_text(struct export_trace *trace, const struct dat_event *event);

#endif
