/* SPDX-License-Identifier: MIT */
/*
 * Weaves a raw recording, in which each "CPU" is a lane of a thread: each event goes to the CPU that the markers of its
 * lane name, in the top buffer. A lane has no other data about CPUs. The kernel's streams have no markers, except in
 * merged files where they share a stream with a lane: there each event has a marker of its own CPU.
 */
#ifndef FORMAT_DAT_WOVEN_H
#define FORMAT_DAT_WOVEN_H

#include "format/dat/dat_copy.h"
#include "format/dat/dat_time.h"

/*
 * Write the events of the file to the copy, which was opened with DAT_COPY_EVENTS, and put it in place. Damage does not
 * end the call: *ret_damaged is the number of damaged pages, and ret_error the error of the first one. 0; -ENODATA: the
 * file has no markers; -ENOMEM; or the errno of write.
 */
int dat_woven(struct dat_copy *copy, const struct dat_time *time, uint64_t *ret_damaged, struct dat_error *ret_error);

/*
 * The CPU that the first marker of a stream names; DAT_NO_MARKER: the stream is not a lane. A marker begins each page
 * of a lane, or follows the page's first event, unless this event leaves no room for it. So a stream is not a lane if
 * its first page that can be read and has not exactly one event has no marker. 0; -ENOMEM.
 */
int dat_woven_marker(const struct dat_file *file, const struct dat_buffer *buffer, const struct dat_stream *stream,
		     uint32_t *ret_cpu);

#endif
