/* SPDX-License-Identifier: MIT */
#include "cli/base/file_limit.h"

#include <sys/resource.h>

void file_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t file_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0 : limit.rlim_max;
}
