/* SPDX-License-Identifier: MIT */
/* A spool with one process, and a directory of its own for it and its stage. For inclusion in one source file. */
#ifndef STAGE_FIXTURE_H
#define STAGE_FIXTURE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recording/spool.h"

#define PAGE 4096u

static char dir[64], path[128];
static struct spool *spool;

static void stage_begin(void)
{
	const struct spool_head head = { .file_version = 6 };
	const struct spool_process process = { .info = { .clock = REC_CLOCK_MONO, .subbuf_size = PAGE, .pid = 7 } };

	strcpy(dir, "/tmp/recorder-stage-XXXXXX");
	cr_assert(mkdtemp(dir));
	setenv("RECORDER_DIR", dir, 1);
	snprintf(path, sizeof(path), "%s/t.spool", dir);
	cr_assert_eq(spool_create(path, &head, &spool), 0);
	cr_assert_eq(spool_add_process(spool, &process), 0);
}

/* Only the spool exists, and it is removed. */
static void stage_end(void)
{
	cr_assert_eq(spool_remove(spool), 0);
	spool = spool_close(spool);
	cr_assert_eq(rmdir(dir), 0, "something is left in %s", dir);
}

#endif
