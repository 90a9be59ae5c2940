/* SPDX-License-Identifier: MIT */
/*
 * A trace.dat that its writer is still appending to. It is opened when everything is there that stands before the CPU
 * data; cursors wait for the data, page by page, and hand out whole pages only. Their order is that of the complete
 * file: a merge waits for the next page of each of its streams. If the writer ends early, the file is read as one that
 * was cut off.
 */
#ifndef FORMAT_DAT_GROWTH_H
#define FORMAT_DAT_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "format/dat/dat_read.h"

struct dat_growth {
	/*
	 * Waits. 1: the file may be longer than at the call; 0: it gets no longer, the writer has finished; or -errno:
	 * no more is wanted.
	 */
	int (*wait)(void *arg);
	void *arg;

	/* private */
	struct dat_file *file;
	bool finished; /* the file gets no longer */
	bool given_up; /* wait() failed */
};

/*
 * As dat_open_rest(), but waits until the data of the CPUs begin; *growth, with wait() and arg set, must outlive the
 * file. Also the error of wait().
 */
int dat_open_growing(const char *path, const struct dat_codec *codec, struct dat_growth *growth,
		     struct dat_file **ret_file, struct dat_error *ret_error);

/*
 * Wait until the file has `end` bytes, or gets no longer. False: no more is wanted. After this, sizes of the file and
 * its streams may have changed. At once true for a file that was opened otherwise.
 */
bool dat_growth_reach(const struct dat_file *file, uint64_t end);

#endif
