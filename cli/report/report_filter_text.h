/* SPDX-License-Identifier: MIT */
/* The text of a filter of report -F: patterns of events, in trace-cmd's form or ours, and the comparisons after it. */
#ifndef CLI_REPORT_FILTER_TEXT_H
#define CLI_REPORT_FILTER_TEXT_H

#include <stddef.h>

/* Finds the end of the patterns and the beginning of the comparisons. NULL: there are only patterns. */
const char *report_filter_text_find(const char *text, size_t *ret_size);

/* The patterns in the form of librecorder/pattern.h, for free(); all events if there is no pattern. NULL: no memory. */
char *report_filter_text_patterns(const char *text, size_t size);

/* The column of the first invalid pattern; if each is valid alone, the column after the list. */
size_t report_filter_text_wrong(const char *text, size_t size);

#endif
