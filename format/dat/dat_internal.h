/* SPDX-License-Identifier: MIT */
/* Shared by dat_read.c, which opens and closes, and dat_parse*.c, which know the layout of versions 6 and 7. */
#ifndef FORMAT_DAT_INTERNAL_H
#define FORMAT_DAT_INTERNAL_H

#include "format/io/bytes.h"
#include "format/dat/dat_grow.h"
#include "format/dat/dat_read.h"

/* Fills in the error, unless err is 0, and returns err. The text is one line, without the file's name. */
int dat_fail(struct dat_error *error, int err, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The error of reading b: "truncated: WHAT ... ends at END" or the reason of the read error. */
int dat_fail_bytes(struct dat_error *error, const struct dat_file *file, const struct bytes *b, const char *what);

/*
 * Called when a part could not be read. If the file is opened although it is incomplete, notes the error as the reason
 * of `missing` and returns 0; otherwise returns err.
 */
int dat_missing(struct dat_file *file, int err, const struct dat_error *error);

/*
 * Open a file that is complete, except that the data of CPUs may still be missing if there is a growth. -EBADMSG also
 * if the file ends before the data, and for the empty file.
 */
struct dat_growth;
int dat_open_file(const char *path, const struct dat_codec *codec, struct dat_growth *growth,
		  struct dat_file **ret_file, struct dat_error *ret_error);

#define DAT_NAME_MAX 4096u /* the longest name of a system or buffer */

#define DAT_PROLOGUE 18u /* bytes that both versions begin with */

/* Parse everything after the prologue. */
int dat_parse_v6(struct dat_file *file, struct dat_error *error);
int dat_parse_v7(struct dat_file *file, struct dat_error *error);

/*
 * Version 7: find sections by their headers, from `start` on. The first function finds the options, and the parts that
 * no option names. The second one, called when the parts were read, finds the buffers that no option describes.
 */
int dat_find_sections(struct dat_file *file, uint64_t start, struct dat_error *error);
int dat_find_buffers(struct dat_file *file, uint64_t start, struct dat_error *error);

/* Version 7: the contents after a section's header, as a cursor; *ret_plain must be freed if it is set. */
int dat_open_section(struct dat_file *file, uint64_t offset, unsigned int id, struct bytes *ret_b, char **ret_plain,
		     struct dat_error *error);

/* The same for a section whose header was read, and all of which is in the file. */
int dat_open_contents(struct dat_file *file, const struct dat_section *section, struct bytes *ret_b, char **ret_plain,
		      struct dat_error *error);

/*
 * The largest unpacked chunk. trace-cmd writes chunks of 10 pages, which are at most 10 MiB, and we write 1 MiB; no
 * writer has a reason for more than this.
 */
#define DAT_CHUNK_MAX (16u * 1024u * 1024u)

/* Whether a frame of this size may unpack to `plain_size` bytes: a compressor never makes data much longer. */
static inline bool dat_packed_fits(uint32_t packed_size, uint32_t plain_size)
{
	return packed_size <= plain_size + (uint64_t)(plain_size / 8) + 1024;
}

/* Reads the number of chunks that a stream begins with. */
static inline uint32_t dat_read_count(const struct dat_stream *stream, struct bytes *b)
{
	const uint32_t count = bytes_u32(b);

	return stream->chunks ? stream->chunks : count;
}

/* Reads the contents of the options from DAT_BTF_FILE on, and moves symbols accordingly. */
int dat_read_parts(struct dat_file *file, struct dat_error *error);

/* Version 7: reads the options in the section at an offset, unless they were read before. */
int dat_parse_options_at(struct dat_file *file, uint64_t offset, struct dat_error *error);

/* Read the blobs at b into the file. */
int dat_parse_header_info(struct dat_file *file, struct bytes *b, struct dat_error *error);
int dat_parse_ftrace_events(struct dat_file *file, struct bytes *b, struct dat_error *error);
int dat_parse_event_formats(struct dat_file *file, struct bytes *b, struct dat_error *error);
int dat_parse_text(struct dat_file *file, struct bytes *b, unsigned int id, struct dat_error *error);

/* Read one option's payload into the file. */
int dat_add_option(struct dat_file *file, struct bytes *b, bool in_file, struct dat_error *error);
struct dat_buffer *dat_add_buffer(struct dat_file *file);
void dat_drop_buffer(struct dat_file *file); /* drops the last buffer */

/* Whether the file is still getting longer. */
bool dat_is_growing(const struct dat_file *file);

/* Check that the ranges of all streams lie within the file, or shorten them. */
int dat_check_buffers(struct dat_file *file, struct dat_error *error);

#endif
