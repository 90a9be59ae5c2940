/* SPDX-License-Identifier: MIT */
/* Event types from texts that a test has, without a file. */
#ifndef TABLE_FIXTURE_H
#define TABLE_FIXTURE_H

#include "format/text/event_parse.h"

#define FIELD(type, name, offset, size, sign)                                                                          \
	"\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"
#define FORMAT_PRINT(id, name, fields, print)                                                                          \
	"name: " name "\nID: " #id "\nformat:\n" FIELD("u16", "common_type", 0, 2, 0)                                  \
		FIELD("u8", "common_flags", 2, 1, 0) FIELD("u8", "common_preempt_count", 3, 1, 0)                      \
			FIELD("s32", "common_pid", 4, 4, 1) "\n" fields "\nprint fmt: " print "\n"
/* Without a print format. */
#define FORMAT(id, name, fields) FORMAT_PRINT(id, name, fields, "\"\"")

struct table_format {
	const char *system, *text;
};

/* The table of these events. `notes`: those of the file (dat_notes.h); NULL: it has none. */
struct event_table *table_of(const struct table_format *formats, size_t nr, const char *notes);

#endif
