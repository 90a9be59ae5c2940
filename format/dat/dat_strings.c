/* SPDX-License-Identifier: MIT */
/* See dat_strings.h. */
#include "format/dat/dat_strings.h"
#include "format/dat/dat_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_compressed(const struct dat_section *section)
{
	return section->flags & DAT_COMPRESSED;
}

/* Read the header at an offset, with the sizes after it. */
static int read_heading(const struct dat_file *file, uint64_t offset, struct dat_heading *ret_heading,
			struct dat_error *error)
{
	struct dat_heading heading = { .section.offset = offset };
	struct dat_section *section = &heading.section;
	struct bytes b;

	bytes_from_file(&b, file->fd, offset, file->size, file->big);
	section->id = bytes_u16(&b);
	section->flags = bytes_u16(&b);
	section->string = bytes_u32(&b);
	section->size = bytes_u64(&b);
	heading.is_data = section->id == DAT_BUFFER || section->id == DAT_BUFFER_TEXT;
	if (!b.error && section->size > bytes_left(&b))
		return dat_fail(error, -EBADMSG, offset,
				"truncated: the section at %" PRIu64 " has %" PRIu64
				" bytes, the file ends at %" PRIu64, offset, section->size, file->size);
	if (is_compressed(section) && !heading.is_data) {
		heading.packed_size = bytes_u32(&b);
		heading.plain_size = bytes_u32(&b);
	}
	if (b.error)
		return dat_fail_bytes(error, file, &b, "header of a section");
	*ret_heading = heading;
	return 0;
}

static int add_heading(struct dat_headings *headings, const struct dat_heading *heading, struct dat_error *error)
{
	struct dat_heading *all = dat_grow(headings->all, headings->nr, sizeof(*all));

	if (!all)
		return dat_fail(error, -ENOMEM, heading->section.offset, "not enough memory for sections");
	headings->all = all;
	all[headings->nr++] = *heading;
	return 0;
}

/* Appends the contents of a STRINGS section. */
static int add_strings(struct dat_headings *headings, struct dat_file *file, const struct dat_section *section,
		       struct dat_error *error)
{
	char *plain = NULL, *added = NULL, *strings;
	struct bytes b;
	uint64_t size;
	int err = dat_open_contents(file, section, &b, &plain, error);

	if (err)
		return err;
	size = bytes_left(&b);
	added = bytes_blob(&b, size);
	free(plain);
	if (!added)
		return dat_fail_bytes(error, file, &b, "strings");
	strings = realloc(headings->strings, headings->strings_size + size + 1);
	if (!strings) {
		free(added);
		return dat_fail(error, -ENOMEM, section->offset, "not enough memory for strings");
	}
	memcpy(strings + headings->strings_size, added, size + 1);
	headings->strings = strings;
	headings->strings_size += size;
	free(added);
	return 0;
}

int dat_headings_open(struct dat_file *file, struct dat_headings *ret_headings, struct dat_error *ret_error)
{
	struct dat_heading heading;
	uint64_t offset;
	int err = 0;

	*ret_headings = (struct dat_headings){ 0 };
	if (file->version != 7)
		return 0;
	/* After the prologue: the names of the compression and the place of the options. */
	offset = DAT_PROLOGUE + strlen(file->compression) + 1 + strlen(file->compression_version) + 1 + 8;
	while (!err && offset < file->size) {
		err = read_heading(file, offset, &heading, ret_error);
		if (!err)
			err = add_heading(ret_headings, &heading, ret_error);
		if (!err && heading.section.id == DAT_STRINGS)
			err = add_strings(ret_headings, file, &heading.section, ret_error);
		offset += DAT_SECTION_HEADER + heading.section.size;
	}
	return err;
}

void dat_headings_close(struct dat_headings *headings)
{
	free(headings->all);
	free(headings->strings);
	*headings = (struct dat_headings){ 0 };
}

const char *dat_heading_name(const struct dat_headings *headings, const struct dat_heading *heading)
{
	return heading->section.string < headings->strings_size ? headings->strings + heading->section.string : NULL;
}
