/* SPDX-License-Identifier: MIT */
#include "cli/base/proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/read_at.h"

/* Numbers of the fields, from 1 on. */
#define FIELD_NAME  2u
#define FIELD_STATE 3u
#define FIELD_THREADS 20u
#define FIELD_START 22u

int proc_stat_read(int dir, const char *path, struct proc_stat *ret_stat)
{
	struct proc_stat stat = { .state = '\0' };
	char text[1024];
	const int err = read_text_at(dir, path, text, sizeof(text));
	const char *at;

	if (err)
		return err;
	/* The name may contain any character, brackets too. */
	at = strrchr(text, ')');
	for (unsigned int field = FIELD_NAME; at && field < FIELD_START; field++) {
		at = strchr(at + 1, ' ');
		if (at && field + 1 == FIELD_STATE)
			stat.state = at[1];
		if (at && field + 1 == FIELD_THREADS)
			stat.nr_threads = strtoull(at, NULL, 10);
	}
	if (!at)
		return -EPROTO;
	stat.start_time = strtoull(at, NULL, 10);
	*ret_stat = stat;
	return 0;
}

int proc_stat_of(uint32_t pid, struct proc_stat *ret_stat)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	return proc_stat_read(AT_FDCWD, path, ret_stat);
}
