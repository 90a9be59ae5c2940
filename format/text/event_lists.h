/* SPDX-License-Identifier: MIT */
/*
 * The lists of a trace.dat in which libtraceevent looks up names. It trusts their lines, so it gets only those that are
 * well-formed. Each function returns 0, or -ENOMEM.
 */
#ifndef FORMAT_EVENT_LISTS_H
#define FORMAT_EVENT_LISTS_H

#include "format/dat/dat_read.h"

#include <event-parse.h>

/* Texts of trace_printk() by address: the form of tracefs's printk_formats. */
int event_list_printk(struct tep_handle *tep, const struct dat_text *text);

/* Names of threads: the form of tracefs's saved_cmdlines. The list ends at a malformed line. */
int event_list_threads(struct tep_handle *tep, const struct dat_text *text);

#endif
