/* SPDX-License-Identifier: MIT */
/* Marks as rows of a picture, above all others. */
#ifndef FORMAT_VIEW_MARKS_H
#define FORMAT_VIEW_MARKS_H

#include "format/model/mark.h"
#include "format/view/view_trace.h"

void view_add_marks(struct view_trace *trace, const struct marks *marks);

#endif
