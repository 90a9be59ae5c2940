/* SPDX-License-Identifier: MIT */
/* What the weave needs from the format of one of the kernel's events: its id, and where its fields are. */
#ifndef FORMAT_KERNEL_FORMAT_H
#define FORMAT_KERNEL_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL_FIELDS_MAX 64u

struct kernel_field {
	char name[32];
	uint32_t offset, size;
};

struct kernel_format {
	unsigned int id; /* 0: the text has none */
	unsigned int nr;
	struct kernel_field fields[KERNEL_FIELDS_MAX]; /* further ones are left out */
};

/* Read the text of a format file. Lines that are not understood are left out. */
void kernel_format_parse(const char *text, size_t size, struct kernel_format *ret_format);

/* The field with this name and size; NULL: the event has none. */
const struct kernel_field *kernel_format_field(const struct kernel_format *format, const char *name, uint32_t size);

#endif
