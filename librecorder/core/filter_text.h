/* SPDX-License-Identifier: MIT */
/* A compiled filter as text again. */
#ifndef FILTER_TEXT_H
#define FILTER_TEXT_H

#include <librecorder/event_text.h>
#include <librecorder/filter.h>

/*
 * A filter that passes the same records as the condition, which need not be trusted; `info` NULL: rec_printf's event.
 * Brackets and spaces may differ from the original's. Returns the length of the text, 0 if every record passes;
 * -EBADMSG: it is not what the compiler of filters writes; -ENOSPC: `size` is too small.
 */
int rec_filter_text(const struct rec_condition *condition, size_t condition_size, const struct rec_event_info *info,
		    char *text, size_t size);

#endif
