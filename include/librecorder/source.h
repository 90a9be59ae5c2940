/* SPDX-License-Identifier: MIT */
/*
 * A source delivers sub-buffers: "the next page of stream N". Live lanes, files of dead programs, spools and files in
 * trace.dat format all look the same to their consumers. Streams are independent of each other; within a stream, time
 * never goes back. One thread at a time uses a source.
 */
#ifndef LIBRECORDER_SOURCE_H
#define LIBRECORDER_SOURCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of lost events is unknown. */
#define REC_LOST_UNKNOWN UINT64_MAX

/*
 * One sub-buffer as handed over. The memory belongs to the source and stays valid until the stream's next page is
 * requested.
 */
struct rec_page {
	const void *data;   /* header and events; `size` applies, not the header's commit word */
	uint32_t size;	    /* bytes of valid data after the header */
	/* events that begin before this offset were handed over earlier; read them only for the time and the CPU */
	uint32_t from;
	uint32_t entries;   /* events at or after `from`; 0: not counted */
	uint64_t first;	    /* number of the event at `from`, counted since the stream began, losses included */
	uint64_t lost;	    /* events lost immediately before the event at `from`; REC_LOST_UNKNOWN */
	uint64_t lost_time; /* time of the first of them, in the source's clock; 0: not known */
};

struct rec_source {
	/*
	 * 1: *ret_page is the stream's next page. 0: no page is left (at all, or at the moment, as the source defines).
	 * -EBADMSG, -EFAULT: the stream is damaged from here on. Another -errno: it cannot be read.
	 */
	int (*next)(struct rec_source *source, unsigned int stream, struct rec_page *ret_page);
	unsigned int nr_streams;
};

#ifdef __cplusplus
}
#endif
#endif
