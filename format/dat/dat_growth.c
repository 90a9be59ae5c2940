/* SPDX-License-Identifier: MIT */
/*
 * See dat_growth.h. The file is opened again after each wait until that succeeds, because only the parsers know which
 * parts are still missing. From then on only its size changes, and at the end the sizes of streams that remained
 * incomplete.
 */
#include "format/dat/dat_growth.h"
#include "format/dat/dat_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int dat_open_growing(const char *path, const struct dat_codec *codec, struct dat_growth *growth,
		     struct dat_file **ret_file, struct dat_error *ret_error)
{
	int more = 1, err = -EBADMSG;

	growth->file = NULL;
	growth->finished = growth->given_up = false;
	while (err == -EBADMSG && more > 0) {
		err = dat_open_file(path, codec, growth, ret_file, ret_error);
		if (err == -EBADMSG)
			more = growth->wait(growth->arg);
	}
	if (!err)
		growth->file = *ret_file;
	if (more > 0)
		return err;
	growth->finished = true;
	if (more < 0)
		return dat_fail(ret_error, more, 0, "cannot wait for the file: %s", strerror(-more));
	return dat_open_rest(path, codec, ret_file, ret_error);
}

static void take_size(struct dat_file *file)
{
	struct stat st;

	if (!fstat(file->fd, &st) && st.st_size > 0)
		file->size = (uint64_t)st.st_size;
}

/* Called when the file no longer grows: its streams end at its end. */
static void finish(struct dat_growth *growth)
{
	struct dat_error error;

	growth->finished = true;
	growth->file->rest = true;
	take_size(growth->file);
	dat_check_buffers(growth->file, &error);
}

bool dat_is_growing(const struct dat_file *file)
{
	return file->growth && !file->growth->finished;
}

bool dat_growth_reach(const struct dat_file *file, uint64_t end)
{
	struct dat_growth *growth = file->growth;

	while (growth && !growth->finished && file->size < end) {
		int more;

		take_size(growth->file);
		if (file->size >= end)
			break;
		more = growth->wait(growth->arg);
		if (!more)
			finish(growth);
		growth->given_up = more < 0;
		growth->finished = growth->finished || more < 0;
	}
	return !growth || !growth->given_up;
}
