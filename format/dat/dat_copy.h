/* SPDX-License-Identifier: MIT */
/*
 * Writes a copy of a trace.dat: byte order, formats, texts and options are those of the file that was read; version and
 * compression may differ. Pages are copied as they are, or made anew by the caller.
 */
#ifndef FORMAT_DAT_COPY_H
#define FORMAT_DAT_COPY_H

#include "format/dat/dat_read.h"
#include "format/dat/dat_write.h"

struct dat_copy {
	const struct dat_file *file;
	struct dat_writer *writer;
	unsigned int version;
	unsigned int *buffers; /* the writer's number of each buffer of the file */
};

/*
 * The caller makes the pages, and may leave out events. So the statistics of CPUs, which count all events, are left
 * out.
 */
#define DAT_COPY_EVENTS 1u

/* Which events the caller leaves out: the notes of the copy state this. */
struct dat_copy_absent {
	bool some_threads;
	const int32_t *threads; /* with some_threads: the events of these, and about them, are in the copy */
	size_t nr_threads;
	const bool *no_cpus; /* by CPU: its events are left out; NULL: none are */
	uint32_t nr_no_cpus;
	bool is_whole; /* the copy has all events of its time, except those of no_cpus */
	/* With is_whole, in the units of the pages: its first event, and since when nothing was left out before it. */
	uint64_t first, since;
};

/*
 * Begin the copy of a file. packing NULL: uncompressed; absent NULL: the notes are those of the file. 0; -EOPNOTSUPP
 * with ret_error filled in: the version cannot hold what the file has; or the error of dat_write_open() or
 * dat_write_pack(), with ret_error->text empty.
 */
int dat_copy_open(const struct dat_file *file, const char *path, unsigned int version, unsigned int flags,
		  const struct dat_packing *packing, const struct dat_copy_absent *absent, struct dat_copy *ret_copy,
		  struct dat_error *ret_error);

/* Frees what dat_copy_open() made; drops a file that was not finished. */
void dat_copy_close(struct dat_copy *copy);

/*
 * Copy all pages of all buffers. 0; or -errno: with ret_error filled in if the file is damaged there, else with
 * ret_error->text empty.
 */
int dat_copy_pages(struct dat_copy *copy, struct dat_error *ret_error);

/*
 * Write the events of all buffers, in new pages, to a copy that was opened with DAT_COPY_EVENTS: also those of a file
 * that was cut off within a page. Damage does not end the call: *ret_damaged is the number of damaged pages, and
 * ret_error the error of the first one. 0; -ENOMEM; or the errno of write.
 */
int dat_copy_events(struct dat_copy *copy, uint64_t *ret_damaged, struct dat_error *ret_error);

/* The clock that the writer of the copy states. False: none. */
bool dat_copy_clock(const struct dat_copy *copy, char *ret_name, size_t size);

/* Put the file in place (dat_write_finish). */
int dat_copy_finish(struct dat_copy *copy, uint64_t *ret_size);

#endif
