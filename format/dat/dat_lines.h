/* SPDX-License-Identifier: MIT */
/*
 * Lines of a file's texts, as tracefs has them: the fields and the id of a format, and the names of threads. These
 * functions need no libtraceevent, and take damaged texts.
 */
#ifndef FORMAT_DAT_LINES_H
#define FORMAT_DAT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Offset and size in the line of a field: "\tfield:TYPE NAME;\toffset:8;\tsize:4;\tsigned:0;". `name` is " NAME;".
 * False: the text has no such line with both numbers.
 */
bool dat_line_field(const char *format, const char *name, uint32_t *ret_offset, uint32_t *ret_size);

/* Where the number in the line "ID: 17" begins. NULL: the format has no such line, or no number in it. */
const char *dat_line_id(const char *format);

/* Whether the format is of the event of this name, by its first line. */
bool dat_line_is_named(const char *format, const char *name);

/* The digits of the largest 32-bit number. */
#define DAT_TID_DIGITS_MAX 10u

/*
 * A line of the names of threads, "12 worker", without its line feed. The name is the rest of the line from `*ret_name`
 * on. False: it is malformed, and readers of a file stop there. Inline, because the library has no other part of this
 * file.
 */
static inline bool dat_line_thread(const char *line, size_t size, uint64_t *ret_tid, const char **ret_name)
{
	size_t digits = 0;

	while (digits < size && line[digits] >= '0' && line[digits] <= '9')
		digits++;
	if (!digits || digits > DAT_TID_DIGITS_MAX || digits + 1 >= size || line[digits] != ' ')
		return false;
	*ret_tid = strtoull(line, NULL, 10);
	*ret_name = line + digits + 1;
	return true;
}

#endif
