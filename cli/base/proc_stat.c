/* SPDX-License-Identifier: MIT */
#include "cli/base/proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/base/read_text.h"

int proc_stat_read(int dir, const char *path, struct rec_proc_stat *ret_stat)
{
	char text[1024];
	const int err = read_text_at(dir, path, text, sizeof(text));

	if (err)
		return err;
	return rec_proc_stat_parse(text, ret_stat) ? 0 : -EPROTO;
}

int proc_stat_of(uint32_t pid, struct rec_proc_stat *ret_stat)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	return proc_stat_read(AT_FDCWD, path, ret_stat);
}

bool proc_stat_halted(uint32_t pid)
{
	struct rec_proc_stat stat;

	return !proc_stat_of(pid, &stat) && (stat.state == 'T' || stat.state == 't');
}
