/* SPDX-License-Identifier: MIT */
/*
 * The log of a buffer: append-only, so that a reader may read it at any time. A record is complete before log_used
 * covers it, and is never changed afterwards. The end of the log is also kept outside of the shared memory, so that no
 * other process can make us write elsewhere. Names of threads fill at most half of the log: a program may have any
 * number of threads, and the rest is for its events and call sites.
 */

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "librecorder/process/log_private.h"
#include "librecorder/core/atomic.h"
#include "librecorder/process/debug.h"
#include "librecorder/process/process.h"

static unsigned char *records; /* of the present buffer */
static uint64_t room;
static uint64_t used;
static uint64_t names; /* bytes of it that are names of threads */
static uint64_t populated; /* bytes of it that have memory */

void rec_log_begin(unsigned char *start, uint64_t size)
{
	records = start;
	room = size;
	used = 0;
	names = 0;
	populated = 0;
}

/* Give memory to the first `upto` bytes. 0, -ENOSPC (beyond the end), or as rec_process_populate(). */
static int populate(uint64_t upto)
{
	int r;

	if (upto > room)
		return -ENOSPC;
	if (upto <= populated)
		return 0;
	upto = (upto + REC_MAP_PAGE - 1) & ~(uint64_t)(REC_MAP_PAGE - 1);
	r = rec_process_populate(records + populated, (size_t)(upto - populated));
	if (r == 0)
		populated = upto;
	return r;
}

void rec_log_count_lost(void)
{
	struct rec_buffer_header *header = rec_process_header();

	if (header)
		__atomic_fetch_add(&header->lost_log_full, 1, __ATOMIC_RELAXED);
}

int rec_log_append_locked(const struct rec_log_record *record)
{
	struct rec_buffer_header *header = rec_process_header();
	const bool is_thread = record->kind == REC_LOG_THREAD;
	int r;

	if (!header)
		return -ENXIO;
	r = is_thread && names + record->size > room / 2 ? -ENOSPC : populate(used + record->size);
	if (r < 0) {
		rec_log_count_lost();
		if (!is_thread)
			rec_debug_lost("names of events", r);
		return r;
	}
	memcpy(records + used, record, record->size);
	used += record->size;
	if (is_thread)
		names += record->size;
	/* Release: the record comes before it; pairs with the acquire of the log's readers (edge G1). */
	rec_store_release(&header->log_used, used);
	return 0;
}
