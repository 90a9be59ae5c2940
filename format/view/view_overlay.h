/* SPDX-License-Identifier: MIT */
/* An overlay's tracks as rows of a picture, above all others. */
#ifndef FORMAT_VIEW_OVERLAY_H
#define FORMAT_VIEW_OVERLAY_H

#include "format/model/overlay.h"
#include "format/view/view_trace.h"

void view_add_overlay(struct view_trace *trace, const struct overlay *overlay);

#endif
