/* SPDX-License-Identifier: MIT */
/* An event that rec_event_declare() made, with what a record of it needs: its fields, read once. */
#ifndef DECLARED_H
#define DECLARED_H

#include <librecorder/event_text.h>
#include <librecorder/ffi.h>

struct declared_field {
	uint8_t kind; /* enum rec_field_kind */
	uint8_t is_signed;
	uint8_t decimals;
	uint8_t element; /* size of an element */
	uint32_t length; /* elements */
	uint32_t offset; /* from the beginning of the common fields */
};

/* `event` is the first member, so a pointer to it also points to the struct. */
struct declared {
	struct rec_event event;
	uint32_t nr_fields;
	uint32_t fixed_size; /* common and fixed fields */
	struct declared_field fields[REC_FIELDS_MAX];
	/* The description as the compiler makes it (abi.h): numbers and text follow it directly. */
	struct rec_log_event description;
	int64_t numbers[];
};

#endif
