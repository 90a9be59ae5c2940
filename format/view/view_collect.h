/* SPDX-License-Identifier: MIT */
/* The events of a trace.dat as rows and items. */
#ifndef FORMAT_VIEW_COLLECT_H
#define FORMAT_VIEW_COLLECT_H

#include "format/dat/dat_merge.h"
#include "format/text/event_parse.h"
#include "format/view/view_trace.h"

/* Adds all events of `merge`, which is at its beginning, to an empty trace. 0; -ENOMEM. */
int view_collect(const struct event_table *table, struct dat_merge *merge, struct view_trace *trace);

#endif
