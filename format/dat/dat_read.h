/* SPDX-License-Identifier: MIT */
/*
 * Reads trace.dat, versions 6 and 7 (trace-dat.md). Opening a file reads and checks everything except the CPU data:
 * each size and count is compared with the file's length before it is used. CPU data is read page by page.
 *
 * Everything in struct dat_file belongs to the file: read it, do not change it; it is valid until dat_close(). Strings
 * and texts end with a NUL and may contain others. Threads: one at a time per file.
 */
#ifndef FORMAT_DAT_READ_H
#define FORMAT_DAT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

#include "format/dat/dat_id.h"
#include "format/io/number_map.h"

/* The name of an option or section id, for people; "unknown" for those of later versions. */
const char *dat_id_name(unsigned int id);

/* The reason of a failure: one line without the file's name, and the position in the file. */
struct dat_error {
	uint64_t offset;
	char text[192];
};

struct dat_text {
	char *text; /* NULL if the file has none */
	size_t size;
	uint64_t offset;
};

struct dat_format {
	const char *system;
	struct dat_text text;
};

struct dat_section { /* version 7 */
	uint16_t id;
	uint16_t flags; /* DAT_COMPRESSED */
	uint32_t string;
	uint64_t offset; /* offset of its header */
	uint64_t size;	 /* size of the part after the header */
};

#define DAT_COMPRESSED 1u

/* Limit of all compressed sections together, in bytes before compression; those of a large kernel take 30 MiB. */
#define DAT_SECTIONS_MAX (60u << 20)

#define DAT_SECTION_HEADER 16u /* bytes */

/* The contents of DAT_BTF_FILE, DAT_LAST_BOOT_INFO or DAT_MODULES_FILE, from its section or from its option. */
struct dat_part {
	uint16_t id;
	struct dat_text text;
};

struct dat_option {
	uint16_t id;
	uint32_t size;
	char *data;
	uint64_t offset; /* offset of the payload; 0 if it was in a compressed section */
};

/* The data of one CPU. */
struct dat_stream {
	uint32_t cpu;
	uint32_t chunks; /* their number, if a cut file does not state it; 0: the file states it */
	uint64_t offset;
	uint64_t size;
	bool cut; /* the file ends before the end of the stream */
};

struct dat_buffer {
	char *name;  /* "" is the top buffer */
	char *clock; /* as in the file: "[mono]", "local [global]", "mono"; NULL: not stated */
	uint32_t page_size;
	uint32_t cpus; /* one more than the highest CPU number */
	uint32_t nr_streams;
	struct dat_stream *streams; /* by CPU number; version 7 has only CPUs with data */
	uint64_t offset;	    /* version 6: of its CPU table; version 7: of its section */
	bool compressed;
	bool latency; /* it has the text of a latency tracer, and no streams */
	/*
	 * Version 7: the contents of its section. For a latency tracer: its text, whose parts a cursor returns as
	 * pages.
	 */
	struct dat_stream text;
};

struct dat_file {
	int fd;
	uint64_t size;
	unsigned int version; /* 6 or 7 */
	bool big;
	unsigned int long_size; /* from the prologue; use commit_size instead */
	unsigned int commit_size; /* bytes of a page's commit word: 4 or 8 */
	uint32_t page_size;
	char *compression; /* "none", "zstd", ...; NULL in version 6 */
	char *compression_version;
	uint64_t options_offset;
	struct dat_text header_page;
	struct dat_text header_event;
	struct dat_text kallsyms;
	struct dat_text printk;
	struct dat_text cmdlines;
	size_t nr_formats; /* those of system "ftrace" from the FTRACE EVENTS blob first */
	size_t nr_ftrace; /* number of formats from that blob, which is read before the other one */
	struct dat_format *formats;
	size_t nr_options;
	struct dat_option *options;
	size_t nr_parts;
	struct dat_part *parts;
	/* kallsyms at the time when the events were written; NULL: the kallsyms of the file */
	struct dat_text boot_symbols;
	size_t nr_sections;
	struct dat_section *sections;
	size_t nr_buffers; /* in the file's order; the top buffer of version 6 is the first */
	struct dat_buffer *buffers;
	uint32_t cpus; /* version 6: length of the CPU tables */
	struct dat_growth *growth; /* waits for the rest of a file that grows; NULL: the file is complete */
	struct dat_error missing; /* why dat_open_rest() did not find all parts; text "": it found all */

	/* private */
	bool rest; /* missing parts are not an error */
	size_t nr_systems;
	char **systems;
	const struct dat_codec *codec;
	uint32_t unpacked; /* bytes of compressed sections */
	uint32_t tried; /* bytes that were unpacked to find where the data of CPUs begin in a cut file */
	size_t nr_streams; /* of all buffers, those with data */
	struct dat_chunks *chunks; /* unpacked chunks of the cursors */
	uint64_t where[DAT_BUFFER_TEXT + 1]; /* version 7: section offsets by id */
	struct number_map known; /* version 7: offsets of sections that were read, or that a buffer's option names */
};

/*
 * How to decompress; this file knows no algorithm. decompress() fills exactly dst_size bytes and returns 0, or returns
 * -errno.
 */
struct dat_codec {
	const char *name;
	const struct dat_codec *next; /* the next codec of the list; NULL: this is the last */
	bool (*is_there)(void);	      /* whether the library is on this machine; NULL: always */
	int (*decompress)(void *dst, size_t dst_size, const void *src, size_t src_size);
};

/*
 * Opens a file that contains a trace.dat. codec may be NULL: compressed files are then refused. 0, or -errno with
 * ret_error filled in: the errno of open, fstat or pread; -EBADMSG: the file contradicts itself or ends early;
 * -EPROTO: this is not a trace.dat; -EPROTONOSUPPORT: an unknown version or compression; -ENOMEM; -ESPIPE: not a
 * regular file.
 */
int dat_open(const char *path, const struct dat_codec *codec, struct dat_file **ret_file, struct dat_error *ret_error);

/*
 * The same, also for a file that was cut off or never finished: opens the parts that exist, and notes in `missing` what
 * does not. -EBADMSG if there are no events.
 */
int dat_open_rest(const char *path, const struct dat_codec *codec, struct dat_file **ret_file,
		  struct dat_error *ret_error);

/* Frees everything. Takes NULL. Returns NULL. */
struct dat_file *dat_close(struct dat_file *file);

/* The first option with this id; NULL if the file has no such option. */
const struct dat_option *dat_option(const struct dat_file *file, unsigned int id);

/* The first buffer with the text of a latency tracer instead of events; NULL: the file has none. */
const struct dat_buffer *dat_latency(const struct dat_file *file);

/* For commands that need events. 0; -EBADMSG: the file has the text of a latency tracer. */
int dat_check_events(const struct dat_file *file, struct dat_error *ret_error);

/* The notes in the file, as dat_notes_read() returns them. False: another program wrote the file. */
struct dat_notes;
bool dat_notes_of(const struct dat_file *file, struct dat_notes *ret_notes);

/* The text of kallsyms at the time when the events were written. */
static inline const struct dat_text *dat_symbols(const struct dat_file *file)
{
	return file->boot_symbols.text ? &file->boot_symbols : &file->kallsyms;
}

/* The pages of one stream. */
struct dat_cursor {
	const struct dat_file *file;
	const struct dat_buffer *buffer;
	const struct dat_stream *stream;
	uint64_t pos; /* offset of the next page, or of the next chunk of compressed data */
	/*
	 * Pages as they are in the file, or of an unpacked chunk: the current ones, and those that are kept. NULL: none
	 * were read, or they were released.
	 */
	unsigned char *blocks[2];
	unsigned int now, kept;
	uint32_t block_room, block_size, block_pos; /* for uncompressed data */
	/* For compressed data: the part of the chunk that the current block has, and the size of parts; 0: unknown. */
	size_t part_pos, part_size;
	uint32_t part_room;
	uint32_t packed_size; /* of the chunk */
	size_t chunk_size;
	size_t chunk_pos;
	uint64_t chunk_offset;
	uint32_t chunks_left;
	uint32_t skipped; /* see dat_cursor_next() */
	bool started;
};

struct dat_page {
	const unsigned char *data; /* header and data; valid until the cursor moves, or longer: dat_cursor_keep() */
	uint32_t size;		   /* size of these; smaller than the page size only for the last page */
	uint64_t offset;	   /* offset in the file; for compressed data, that of the chunk */
	uint32_t in_chunk;	   /* compressed data: where the page begins in the uncompressed chunk; otherwise 0 */
	bool cut;		   /* the file ends within this page */
};

/* Puts the cursor before the first page of a stream. 0; -ENOMEM. */
int dat_cursor_open(const struct dat_file *file, const struct dat_buffer *buffer, const struct dat_stream *stream,
		    struct dat_cursor *ret_cursor);
void dat_cursor_close(struct dat_cursor *cursor);

/*
 * 1: *ret_page is the next page. 0: there are no more. -errno with ret_error filled in: if cursor->skipped is not 0,
 * this number of pages is damaged, and the next call continues after them; otherwise nothing more can be read from
 * here.
 */
int dat_cursor_next(struct dat_cursor *cursor, struct dat_page *ret_page, struct dat_error *ret_error);

/*
 * For a reader that needs no unused pages: if the file has a hole at the next page, moves to the page where data begin
 * again. Does nothing if the data are compressed, or if the file grows.
 */
void dat_cursor_skip_hole(struct dat_cursor *cursor);

/* Keeps the data of the last page valid while the cursor moves, until the next call of this function. */
void dat_cursor_keep(struct dat_cursor *cursor);

/*
 * The page that dat_cursor_keep() kept is no longer needed. Frees its memory if the cursor reads only one page at a
 * time, as in a file of thousands of streams; otherwise does nothing.
 */
void dat_cursor_release(struct dat_cursor *cursor);

#endif
