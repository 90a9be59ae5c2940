/* SPDX-License-Identifier: MIT */
/*
 * The keys of recorder hist: fields of events, or cpu, common_pid, comm and event, with the kernel's suffixes .hex,
 * .log2, .execname, .sym and .syscall. The key of an event is a string of bytes, which can be compared, and printed
 * later.
 */
#ifndef CLI_HIST_KEYS_H
#define CLI_HIST_KEYS_H

#include "cli/ask/hist_table.h"
#include "cli/common/trace_input.h"
#include "cli/report/report_filter.h"
#include "format/dat/dat_merge.h"
#include "format/export/export_fields.h"
#include "format/io/blob.h"

#define HIST_KEYS_MAX 8u

enum hist_form { HIST_PLAIN, HIST_HEX, HIST_LOG2, HIST_EXECNAME, HIST_SYM, HIST_SYSCALL };

enum hist_source { HIST_FIELD, HIST_PID, HIST_CPU, HIST_COMM, HIST_EVENT };

struct hist_key {
	char *name; /* without the suffix */
	enum hist_form form;
	enum hist_source source; /* in events without a field of this name */
};

/* The fields of an event; NULL: the event has no such field. */
struct hist_event {
	const struct export_event *event;
	const struct export_field *keys[HIST_KEYS_MAX];
	const struct export_field *value;
};

struct hist_keys {
	const struct event_table *table;
	struct export_fields *fields;
	struct hist_event **events; /* by id; NULL: the event is not counted */
	unsigned int nr;
	struct hist_key keys[HIST_KEYS_MAX];
};

/*
 * Find the keys' fields in the events that the filter names. `keys`: separated by commas; NULL: the event's name.
 * `value`: NULL, or a field with a number; without `keys`, with a whole number. 0; or the exit status, and one line was
 * printed. Call hist_keys_close() in either case.
 */
int hist_keys_open(const struct trace_input *input, const struct report_filter *filter, const char *keys,
		   const char *value, struct hist_keys *ret_keys);
void hist_keys_close(struct hist_keys *keys);

/* Makes the key of an event. False: the event lacks a field. blob->error: -ENOMEM. */
bool hist_key_of(const struct hist_keys *keys, const struct dat_event *event, struct blob *ret_key);

/* The number of the field `value`. False: the event has none. */
bool hist_value_of(const struct hist_keys *keys, const struct dat_event *event, struct hist_value *ret_value);

/* Append a key as text, "{ name: value, name: value }" as the kernel prints it, or as members of a JSON object. */
void hist_key_put_text(const struct hist_keys *keys, const void *key, struct blob *out);
void hist_key_put_json(const struct hist_keys *keys, const void *key, struct blob *out);

#endif
