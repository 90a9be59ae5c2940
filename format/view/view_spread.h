/* SPDX-License-Identifier: MIT */
/* Distributes spans that overlap over lines in which no spans overlap. */
#ifndef FORMAT_VIEW_SPREAD_H
#define FORMAT_VIEW_SPREAD_H

#include "format/view/view_trace.h"

/* The order of items in a line. For qsort. */
int view_by_begin(const void *a, const void *b);

/*
 * Spans by key overlap, and so may spans that are written at their end. Each gets the first line of the row, from its
 * depth on, that is free at its begin; there are as many lines as that takes. Lines of spans below `depth` stay as they
 * are. 0; -ENOMEM.
 */
int view_spread(struct view_row *row, unsigned int depth);

#endif
