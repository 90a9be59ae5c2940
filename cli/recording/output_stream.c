/* SPDX-License-Identifier: MIT */
#include "cli/recording/output_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recording/output.h"

#define FILE_NAME  "/trace.dat"
#define BLOCK_SIZE (256u * 1024u)

bool output_stream_open(struct output *output)
{
	const char *tmp = getenv("TMPDIR");
	char name[PATH_MAX / 2];

	if (isatty(output->stream)) {
		message(output->sink, "standard output is a terminal%s: redirect it",
			message_remark(output->sink, WORD_STDOUT).text);
		return false;
	}
	output->name = "standard output";
	if (!tmp || *tmp != '/')
		tmp = "/var/tmp";
	/* mkdtemp() sets errno itself. */
	errno = ENAMETOOLONG;
	if (snprintf(name, sizeof(name), "%s/recorder-XXXXXX", tmp) >= (int)sizeof(name) || !mkdtemp(name)) {
		message(output->sink, "cannot make a directory in '%s': %m", tmp);
		return false;
	}
	snprintf(output->path, sizeof(output->path), "%s" FILE_NAME, name);
	snprintf(output->spool, sizeof(output->spool), "%s" FILE_NAME ".spool", name);
	return true;
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		const ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		bytes += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int copy(int from, int to)
{
	char *block = malloc(BLOCK_SIZE);
	ssize_t n = 1;
	int err = block ? 0 : -ENOMEM;

	while (!err && n) {
		n = read(from, block, BLOCK_SIZE);
		if (n < 0 && errno != EINTR)
			err = -errno;
		else if (n > 0)
			err = write_all(to, block, (size_t)n);
	}
	free(block);
	return err;
}

bool output_stream_send(const struct output *output)
{
	const int from = open(output->path, O_RDONLY | O_CLOEXEC);
	const int err = from < 0 ? -errno : copy(from, output->stream);

	if (from >= 0)
		close(from);
	if (err) {
		message(output->sink, "cannot write to standard output: %s; the file is '%s'", strerror(-err),
			output->path);
		return false;
	}
	unlink(output->path);
	return true;
}

void output_stream_close(const struct output *output)
{
	char dir[PATH_MAX];

	strcpy(dir, output->path);
	dir[strlen(dir) - strlen(FILE_NAME)] = '\0';
	rmdir(dir);
}
