/* SPDX-License-Identifier: MIT */
/*
 * A trace.dat that its writer is still appending to. It is opened when all parts before the CPU data exist. Cursors
 * then wait for the data, page by page, and return only whole pages. The order of events is that of the complete file,
 * because a merge waits for the next page of each of its streams. If the writer ends early, the file is read like one
 * that was cut off.
 */
#ifndef FORMAT_DAT_GROWTH_H
#define FORMAT_DAT_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "format/dat/dat_read.h"

struct dat_growth {
	/*
	 * Waits. 1: the file may be longer than before; 0: the writer has finished, and the file no longer grows;
	 * -errno: the caller wants no more.
	 */
	int (*wait)(void *arg);
	void *arg;

	/* private */
	struct dat_file *file;
	bool finished; /* the file no longer grows */
	bool given_up; /* wait() failed */
};

/*
 * As dat_open_rest(), but waits until the data of the CPUs begin; *growth, with wait() and arg set, must outlive the
 * file. Also the error of wait().
 */
int dat_open_growing(const char *path, const struct dat_codec *codec, struct dat_growth *growth,
		     struct dat_file **ret_file, struct dat_error *ret_error);

/*
 * Wait until the file has `end` bytes or no longer grows. False: the caller wants no more. The sizes of the file and of
 * its streams may have changed afterwards. For a file that was opened in another way, returns true at once.
 */
bool dat_growth_reach(const struct dat_file *file, uint64_t end);

#endif
