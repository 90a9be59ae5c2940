/* SPDX-License-Identifier: MIT */
/* The structs to which the handles of <librecorder/dat.h> point. */
#ifndef FORMAT_PUBLIC_DAT_PRIVATE_H
#define FORMAT_PUBLIC_DAT_PRIVATE_H

#include "format/dat/dat_merge.h"
#include "format/text/event_parse.h"

#include <librecorder/dat.h>

struct rec_dat_field {
	const struct tep_format_field *field;
	enum rec_dat_kind kind;
	bool big;
};

struct rec_dat_event {
	const struct tep_event *event;
	uint32_t nr_fields;
	struct rec_dat_field *fields; /* the common ones first */
};

struct rec_dat {
	struct dat_file *file;
	struct dat_time time;
	struct event_table *table;
	struct rec_dat_event *events; /* as in table->all */
	char clock[64];
	bool has_clock;
};

struct rec_dat_iter {
	struct rec_dat *dat;
	struct dat_merge *merge;
	uint64_t since; /* records before this time are skipped */
	bool is_usual;	/* type and thread are numbers of two and four bytes in this machine's byte order */
	uint32_t type_offset, pid_offset;
	uint32_t least; /* the size of a record that has both */
};

/*
 * The events of dat->table, with their fields. 0; -ENOMEM. rec_dat_events_close() may be called after a failure, too.
 */
int rec_dat_events_open(struct rec_dat *dat);
void rec_dat_events_close(struct rec_dat *dat);

#endif
