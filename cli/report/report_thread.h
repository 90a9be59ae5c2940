/* SPDX-License-Identifier: MIT */
/*
 * What a file states about the thread of an event, as fields that filters compare although the record does not have
 * them: tgid and process, and each key of rec_context_set() with the thread's value at this time. A field of the same
 * name takes precedence: the event's own, or one that filters have for any event. A field whose value the file does not
 * state is 0 or an empty text.
 */
#ifndef CLI_REPORT_THREAD_H
#define CLI_REPORT_THREAD_H

#include "cli/report/report_event.h"
#include "format/text/event_context.h"

/*
 * The fields are stored after a copy of the record, at offsets that a condition can still name. A longer record is cut
 * at the first of these offsets.
 */
#define REPORT_THREAD_AT   61440u
#define REPORT_THREAD_SIZE 4032u

struct report_thread {
	const struct event_table *table;
	const struct event_contexts *contexts; /* NULL: not read */
	const struct pooled_text *keys[REC_FIELDS_MAX]; /* those that the filter names */
	unsigned int nr_keys;
};

/* Values of contexts, which the first filter that needs them reads. All zeros at first. */
struct report_thread_contexts {
	struct event_contexts values; /* to be closed by its owner */
	bool are_read;
};

/*
 * Use the values of the keys that the filter names, except keys with the name of a field that filters have for any
 * event. Returns the number of these keys; -ENOMEM. Before this call there are only tgid and process. The contexts must
 * outlive the thread.
 */
int report_thread_read(struct report_thread *thread, const struct dat_file *file, const struct dat_time *time,
		       struct report_thread_contexts *contexts, const char *filter);

/* Add the fields that the filter names to an event that lacks them. Returns whether there are any. */
bool report_thread_describe(const struct report_thread *thread, const struct tep_event *type, const char *filter,
			    struct rec_event_info *info);

/* Store the fields of an event's thread: REPORT_THREAD_SIZE bytes. */
void report_thread_put(const struct report_thread *thread, int32_t tid, uint64_t ts, unsigned char *fields);

#endif
