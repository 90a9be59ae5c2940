/* SPDX-License-Identifier: MIT */
#include "cli/base/file_limit.h"

#include <sys/resource.h>

/* Reserved for other open files: the output, buffers, tracefs, standard streams. */
#define OTHERS 256u

void file_limit_raise(unsigned int files)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= (rlim_t)files + OTHERS)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t file_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0 : limit.rlim_max;
}
