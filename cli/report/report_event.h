/* SPDX-License-Identifier: MIT */
/* The fields of an event of a trace.dat as filters take them (librecorder/filter.h). */
#ifndef CLI_REPORT_EVENT_H
#define CLI_REPORT_EVENT_H

#include <librecorder/event_text.h>

#include "format/dat/dat_read.h"
#include "format/text/event_parse.h"

struct report_event {
	struct rec_event_info info;
	int64_t *values[REC_FIELDS_MAX]; /* that names stand for; NULL: none */
	char *names[REC_FIELDS_MAX];
};

/* Whether the filter has this name as a word: all others need no description. */
bool report_event_is_named(const char *filter, const char *name);

/* Describe the fields that `filter` names. 0; -ENOMEM; report_event_free() in any case. */
int report_event_describe(struct report_event *event, const struct dat_file *file, const struct event_table *table,
			  const struct tep_event *type, const char *filter);
void report_event_free(struct report_event *event);

/* What prints names instead of the field's numbers: __print_symbolic or __print_flags. NULL: nothing does. */
const struct tep_print_arg *report_event_names(const struct tep_event *type, const char *name);

/* How many decimals the print format shows of the field as event_text.c writes a real; 0: it is no such field. */
uint32_t report_event_decimals(const struct dat_file *file, const struct tep_event *type, const char *name);

#endif
