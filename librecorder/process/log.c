/* SPDX-License-Identifier: MIT */
/*
 * The log of a buffer: append-only, so that a reader may read it at any time. A record is complete before log_used
 * covers it, and is never changed afterwards. The end of the log is also kept outside of the shared memory, so that no
 * other process can make us write elsewhere.
 */

#include <errno.h>
#include <string.h>

#include "librecorder/process/log_private.h"
#include "librecorder/core/atomic.h"
#include "librecorder/process/debug.h"
#include "librecorder/process/process.h"

static uint64_t used;

void rec_log_restart(void)
{
	used = 0;
}

void rec_log_count_lost(void)
{
	if (rec_process.header)
		__atomic_fetch_add(&rec_process.header->lost_log_full, 1, __ATOMIC_RELAXED);
}

int rec_log_append_locked(const struct rec_log_record *record)
{
	int r;

	if (!rec_process.header)
		return -ENXIO;
	r = rec_process_grow_log(used + record->size);
	if (r < 0) {
		rec_log_count_lost();
		rec_debug_lost("names of events", r);
		return r;
	}
	memcpy(rec_process.log + used, record, record->size);
	used += record->size;
	/* Release: the record comes before it; pairs with the acquire of the log's readers (edge G1). */
	rec_store_release(&rec_process.header->log_used, used);
	return 0;
}
