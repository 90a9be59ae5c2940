/* SPDX-License-Identifier: MIT */
/* The spool's file: makes it, or reads one that was found, and repairs a torn end and a missing link. */
#include "cli/recording/spool.h"
#include "cli/base/open_regular.h"
#include "cli/recording/spool_private.h"
#include "cli/recording/stage.h"
#include "librecorder/os/boot_id.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static struct spool *new_spool(const char *path)
{
	struct spool *spool = calloc(1, sizeof(*spool));

	if (!spool)
		return NULL;
	spool->fd = -1;
	spool->path = strdup(path);
	if (!spool->path) {
		free(spool);
		return NULL;
	}
	return spool;
}

struct spool *spool_close(struct spool *spool)
{
	if (!spool)
		return NULL;
	stage_close(spool->stage, false);
	spool_free_model(spool);
	free(spool->rest);
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool->path);
	free(spool);
	return NULL;
}

void spool_boot(char *text, size_t size)
{
	if (boot_id_read(text, size))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

int spool_create(const char *path, const struct spool_head *head, struct spool **ret_spool)
{
	struct spool *spool = new_spool(path);
	struct iovec iov;
	int err;

	if (!spool)
		return -ENOMEM;
	spool->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (spool->fd < 0) {
		err = -errno;
		goto close_spool;
	}
	/*
	 * No other process has seen the file. On a file system without locks, only the message that another recorder
	 * is active is missing.
	 */
	flock(spool->fd, LOCK_EX | LOCK_NB);
	spool->head = *head;
	spool->head.magic = SPOOL_MAGIC;
	spool->head.compatible = SPOOL_FEATURES_COMPATIBLE;
	/* Set only the bits of features that this spool uses, so that an earlier version can read all other spools. */
	spool->head.incompatible = head->incompatible & SPOOL_FEATURES_INCOMPATIBLE;
	spool->head.version = spool->head.incompatible ? SPOOL_VERSION_FEATURES : SPOOL_VERSION;
	spool_boot(spool->head.boot, sizeof(spool->head.boot));
	spool->head.recorder = (uint32_t)getpid();
	iov = (struct iovec){ &spool->head, sizeof(spool->head) };
	err = spool_write_at(spool->fd, &iov, 1, 0);
	if (err) {
		unlink(path);
		goto close_spool;
	}
	spool->end = sizeof(spool->head);
	*ret_spool = spool;
	return 0;

close_spool:
	spool_close(spool);
	return err;
}

/* Add the chunk at spool->end to the model, and repair the link to it. 1; 0: there is no whole valid chunk; -errno. */
static int scan_chunk(struct spool *spool, uint64_t file_size, unsigned char *payload)
{
	const uint64_t offset = spool->end;
	struct spool_chunk chunk, before;
	const struct spool_entry *entry;
	uint64_t tail = 0;
	ssize_t got;
	int err;

	got = spool_read_at(spool, &chunk, sizeof(chunk), offset);
	if (got < 0)
		return (int)got;
	if ((size_t)got < sizeof(chunk) || !spool_chunk_valid(spool, &chunk, file_size - offset - sizeof(chunk)))
		return 0;
	if (chunk.kind == SPOOL_PAGE) {
		entry = &spool->entries[chunk.process];
		if (chunk.lane < entry->nr_lanes)
			tail = entry->lanes[chunk.lane].tail;
	} else {
		got = spool_read_at(spool, payload, chunk.size, offset + sizeof(chunk));
		if (got < 0)
			return (int)got;
		if ((size_t)got < chunk.size)
			return 0;
	}
	if (tail) {
		got = spool_read_at(spool, &before, sizeof(before), tail);
		if (got < 0)
			return (int)got;
		if ((size_t)got < sizeof(before))
			return -EBADMSG;
		if (before.next != offset) {
			err = spool_write_link(spool, tail, offset);
			if (err)
				return err;
		}
	}
	err = spool_note_chunk(spool, &chunk, payload, offset);
	if (err)
		return err;
	spool->end = offset + sizeof(chunk) + spool_rounded(chunk.size);
	return 1;
}

/*
 * Add all whole chunks from spool->end on to the model. A link that leads beyond the end is never followed: see
 * spool_source.c.
 */
static int scan(struct spool *spool)
{
	unsigned char *payload = malloc(SPOOL_PAYLOAD_MAX);
	uint64_t size;
	struct stat st;
	int err = payload ? 0 : -ENOMEM;

	if (!err && fstat(spool->fd, &st) < 0)
		err = -errno;
	if (err)
		goto free_payload;
	size = (uint64_t)st.st_size;
	if (spool->rest && spool->rest_at + spool->rest_size > size)
		size = spool->rest_at + spool->rest_size;
	do
		err = spool->end + sizeof(struct spool_chunk) <= size ? scan_chunk(spool, size, payload) : 0;
	while (err > 0);
	spool->cut = !err && size > spool->end ? size - spool->end : 0;

free_payload:
	free(payload);
	return err;
}

static int read_head(struct spool *spool)
{
	const int err = spool_head_read(spool->fd, &spool->head);

	if (err)
		return err;
	if (spool->head.version < SPOOL_VERSION_LEAST || spool->head.incompatible & ~SPOOL_FEATURES_INCOMPATIBLE)
		return -EPROTO;
	spool->end = sizeof(spool->head);
	return 0;
}

/* Open and lock the file, and read its head. */
static int open_left(const char *path, struct spool **ret_spool)
{
	struct spool *spool = new_spool(path);
	struct stat st;
	int err = 0;

	if (!spool)
		return -ENOMEM;
	spool->fd = open_regular(AT_FDCWD, path, O_RDWR);
	if (spool->fd < 0)
		err = spool->fd;
	else if (flock(spool->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		err = -EBUSY;
	/* The previous holder of the lock has removed the file; a file with this name would be another one. */
	else if (fstat(spool->fd, &st) == 0 && !st.st_nlink)
		err = -ENOENT;
	else
		err = read_head(spool);
	if (err)
		spool_close(spool);
	else
		*ret_spool = spool;
	return err;
}

int spool_look(const char *path, struct spool_head *ret_head)
{
	struct spool *spool;
	const int err = open_left(path, &spool);

	if (err)
		return err;
	*ret_head = spool->head;
	spool_close(spool);
	return 0;
}

int spool_open(const char *path, struct spool **ret_spool)
{
	struct spool *spool;
	int err = open_left(path, &spool);

	if (err)
		return err;
	err = spool_take_stage(spool, scan);
	spool->nr_found = spool->nr_entries;
	if (err)
		spool_close(spool);
	else
		*ret_spool = spool;
	return err;
}
