/* SPDX-License-Identifier: MIT */
/* The fields of an event of a trace.dat as filters take them (librecorder/filter.h). */
#ifndef CLI_REPORT_EVENT_H
#define CLI_REPORT_EVENT_H

#include <librecorder/event_text.h>

#include "format/dat/dat_read.h"
#include "format/text/event_parse.h"

struct report_event {
	struct rec_event_info info;
	int64_t *values[REC_FIELDS_MAX]; /* value names of the field; NULL: none */
	char *names[REC_FIELDS_MAX];
};

/* Whether the filter contains this name as a word. Other fields need no description. */
bool report_event_is_named(const char *filter, const char *name);

/* Describe the fields that `filter` names. 0; -ENOMEM; report_event_free() in any case. */
int report_event_describe(struct report_event *event, const struct dat_file *file, const struct event_table *table,
			  const struct tep_event *type, const char *filter);
void report_event_free(struct report_event *event);

/*
 * The part of the print format that prints names instead of the field's numbers: __print_symbolic or __print_flags.
 * NULL: the format prints no names for the field.
 */
const struct tep_print_arg *report_event_names(const struct tep_event *type, const char *name);

/*
 * The number of decimals of a real, from the print format, which is in the form that event_text.c writes; 0: the field
 * is not a real.
 */
uint32_t report_event_decimals(const struct dat_file *file, const struct tep_event *type, const char *name);

#endif
