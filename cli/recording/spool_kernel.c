/* SPDX-License-Identifier: MIT */
/*
 * The kernel's part of the spool: its texts, and the side files with its pages. The spool names a side file before the
 * file exists, and outlives it, so every side file is named by a spool.
 */
#include "librecorder/core/stats_text.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/open_regular.h"
#include "cli/recording/spool.h"
#include "cli/recording/spool_private.h"
#include "format/io/read_at.h"

/* Pieces of texts are this long, so that a chunk fits into a block of the stage. */
#define PIECE (128u * 1024u)

const char *spool_buffer(const struct spool_entry *entry)
{
	return entry->buffer ? entry->process.info.exe : NULL;
}

bool spool_has_kernel(const struct spool *spool)
{
	for (unsigned int i = 0; i < spool->nr_entries; i++)
		if (spool_is_kernel(&spool->entries[i]))
			return true;
	return false;
}

/* --------------------------------------------------------------------------------------------------------- texts */

/* The texts are in a tree, because a kernel has thousands of formats, and a file may contain any names. */
struct text_place {
	enum spool_text_kind kind;
	const char *name; /* the name, owned by the text */
	unsigned int at;  /* index among the process's texts */
};

static int by_kind_and_name(const void *a, const void *b)
{
	const struct text_place *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	return strcmp(left->name, right->name);
}

static struct spool_text *find_text(const struct spool_entry *entry, enum spool_text_kind kind, const char *name)
{
	const struct text_place key = { .kind = kind, .name = name };
	void *const found = tfind(&key, &entry->text_places, by_kind_and_name);

	return found ? &entry->texts[(*(struct text_place **)found)->at] : NULL;
}

const struct spool_text *spool_text(const struct spool_entry *entry, enum spool_text_kind kind, const char *name)
{
	return find_text(entry, kind, name);
}

static struct spool_text *add_text(struct spool_entry *entry, enum spool_text_kind kind, const char *name)
{
	struct text_place *place = malloc(sizeof(*place));
	struct spool_text text = { .kind = kind, .name = strdup(name), .text = calloc(1, 1), .room = 1 };
	struct spool_text *texts = spool_grow(entry->texts, &entry->text_room, (entry->nr_texts + 1) * sizeof(text));

	if (texts)
		entry->texts = texts;
	if (!place || !text.name || !text.text || !texts)
		goto free_text;
	*place = (struct text_place){ kind, text.name, entry->nr_texts };
	if (!tsearch(place, &entry->text_places, by_kind_and_name))
		goto free_text;
	entry->texts[entry->nr_texts] = text;
	return &entry->texts[entry->nr_texts++];

free_text:
	free(place);
	free(text.name);
	free(text.text);
	return NULL;
}

/*
 * A piece at position 0 begins the text anew. If a piece does not continue the previous one, a piece between them is
 * missing.
 */
int spool_note_text(struct spool_entry *entry, const struct spool_chunk *chunk, const char *payload)
{
	const enum spool_text_kind kind = (enum spool_text_kind)chunk->lane;
	const char *name_end = memchr(payload, '\0', chunk->size);
	struct spool_text *text;
	size_t size;
	char *bytes;

	if (!name_end)
		return -EBADMSG;
	size = chunk->size - (size_t)(name_end + 1 - payload);
	text = find_text(entry, kind, payload);
	if (!text)
		text = add_text(entry, kind, payload);
	if (!text)
		return -ENOMEM;
	if (chunk->from && chunk->from != text->size)
		return 0;
	bytes = spool_grow(text->text, &text->room, chunk->from + size + 1);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes + chunk->from, name_end + 1, size);
	text->text = bytes;
	text->size = chunk->from + size;
	bytes[text->size] = '\0';
	return 0;
}

void spool_free_texts(struct spool_entry *entry)
{
	for (unsigned int i = 0; i < entry->nr_texts; i++) {
		free(entry->texts[i].name);
		free(entry->texts[i].text);
	}
	tdestroy(entry->text_places, free);
	free(entry->texts);
}

int spool_keep_text(struct spool *spool, unsigned int process, enum spool_text_kind kind, const char *name, char *bytes,
		    size_t size)
{
	struct spool_entry *entry = &spool->entries[process];
	struct spool_text *text = find_text(entry, kind, name);

	if (!text)
		text = add_text(entry, kind, name);
	if (!text) {
		free(bytes);
		return -ENOMEM;
	}
	free(text->text);
	text->text = bytes;
	text->size = size;
	text->room = size + 1;
	return 0;
}

int spool_add_text(struct spool *spool, unsigned int process, enum spool_text_kind kind, const char *name,
		   const char *text, size_t size)
{
	const size_t name_size = strlen(name) + 1;
	size_t at = 0, piece;
	char *payload;
	int err;

	if (name_size > PIECE || size > UINT32_MAX)
		return -EINVAL;
	payload = malloc(name_size + PIECE);
	if (!payload)
		return -ENOMEM;
	memcpy(payload, name, name_size);
	do {
		struct spool_chunk chunk = {
			.kind = SPOOL_TEXT, .process = process, .lane = kind, .from = (uint32_t)at
		};

		piece = size - at < PIECE ? size - at : PIECE;
		memcpy(payload + name_size, text + at, piece);
		chunk.size = (uint32_t)(name_size + piece);
		err = spool_append_chunk(spool, &chunk, payload);
		at += piece;
	} while (!err && at < size);
	free(payload);
	return err;
}

/* ------------------------------------------------------------------------------------------------------- losses */

void spool_losses_parse(const char *stats, struct spool_losses *ret_losses)
{
	ret_losses->overrun = rec_stats_figure(stats, "overrun");
	ret_losses->commit_overrun = rec_stats_figure(stats, "commit overrun");
	ret_losses->dropped = rec_stats_figure(stats, "dropped events");
	ret_losses->left = rec_stats_figure(stats, "entries");
}

uint64_t spool_losses_sum(const struct spool_losses *losses)
{
	return losses->overrun + losses->commit_overrun + losses->dropped + losses->left;
}

bool spool_kernel_losses(const struct spool_entry *entry, unsigned int cpu, struct spool_losses *ret_losses)
{
	const struct spool_text *stats;
	char name[16];

	snprintf(name, sizeof(name), "%u", cpu);
	stats = spool_text(entry, SPOOL_TEXT_STATS, name);
	if (stats)
		spool_losses_parse(stats->text, ret_losses);
	return stats;
}

/* ---------------------------------------------------------------------------------------------------- side files */

int spool_side_path(const struct spool *spool, unsigned int process, unsigned int cpu, char *path, size_t size)
{
	/* A buffer's name may be longer than a file's, so the file has its number. */
	const unsigned int number = process < spool->nr_entries ? spool->entries[process].buffer : 0;
	const int length = number ? snprintf(path, size, "%s.buffer%u.cpu%u", spool->path, number, cpu)
			: snprintf(path, size, "%s.cpu%u", spool->path, cpu);
	return length < (int)size ? 0 : -ENAMETOOLONG;
}

int spool_side_create(struct spool *spool, unsigned int process, unsigned int cpu)
{
	struct spool_chunk chunk = { .kind = SPOOL_SIDE, .process = process, .lane = cpu };
	char path[PATH_MAX];
	int fd, err;

	err = spool_side_path(spool, process, cpu, path, sizeof(path));
	if (!err && !faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW))
		err = -EEXIST;
	if (!err)
		err = spool_append_chunk(spool, &chunk, NULL);
	if (err)
		return err;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

/*
 * Count the pages from the first one on, if the recorder was killed: their times rise. `before` is the time of the last
 * page that counts as overwritten. 0 or -errno.
 */
static int count_pages(int fd, const struct spool_side *side, uint32_t page_size, uint64_t most, uint64_t before,
		       uint64_t *ret_pages)
{
	uint64_t offset = side->offset, time = 0, next, pages = 0;
	int err = 0;

	while (pages < most && !err) {
		err = read_exactly(fd, (unsigned char *)&next, sizeof(next), offset);
		if (err || next < time || (before && next <= before))
			break;
		time = next;
		pages++;
		offset = offset + page_size == side->end ? side->begin : offset + page_size;
	}
	*ret_pages = pages;
	return err;
}

/*
 * Reads the head of a file with a limit; `in_file` is the number of whole pages in the file, head included. 0, -EBADMSG
 * or the errno of read.
 */
static int read_side_head(int fd, uint32_t page_size, uint64_t in_file, struct spool_side *ret_side)
{
	struct spool_side side = { .begin = page_size };
	struct spool_side_head head;
	uint64_t most;
	int err;

	/* The recorder was killed before it wrote the head. */
	if (!in_file)
		return 0;
	err = read_exactly(fd, (unsigned char *)&head, sizeof(head), 0);
	if (err)
		return err;
	if (head.magic != SPOOL_SIDE_MAGIC || !head.places || (head.end && head.end < head.first))
		return -EBADMSG;
	most = in_file - 1 < head.places ? in_file - 1 : head.places;
	/* After the first round all places are in use. */
	if (head.first && in_file - 1 < head.places)
		return -EBADMSG;
	side.offset = (1 + head.first % head.places) * page_size;
	side.end = (1 + most) * page_size;
	side.events = head.events;
	side.lost = head.lost;
	if (head.end)
		side.pages = head.end - head.first < most ? head.end - head.first : most;
	else
		err = count_pages(fd, &side, page_size, most, head.time, &side.pages);
	*ret_side = side;
	return err;
}

int spool_side_open(const struct spool *spool, unsigned int process, unsigned int cpu, struct spool_side *ret_side)
{
	const uint32_t page_size = spool->entries[process].subbuf_size;
	char path[PATH_MAX];
	struct stat st;
	int fd, err;

	*ret_side = (struct spool_side){ .pages = 0 };
	err = spool_side_path(spool, process, cpu, path, sizeof(path));
	if (err)
		return err;
	fd = open_regular(AT_FDCWD, path, O_RDONLY);
	if (fd < 0)
		return fd;
	err = fstat(fd, &st) < 0 ? -errno : 0;
	if (!err && spool->head.incompatible & SPOOL_FEATURE_LIMIT)
		err = read_side_head(fd, page_size, (uint64_t)st.st_size / page_size, ret_side);
	else if (!err)
		ret_side->pages = (uint64_t)st.st_size / page_size;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* Call `each` for every side file; 0 or the first error. */
static int each_side(const struct spool *spool, int (*each)(const char *path, void *arg), void *arg)
{
	char path[PATH_MAX];
	int err = 0;

	for (unsigned int i = 0; i < spool->nr_entries; i++)
		for (unsigned int lane = 0; lane < spool->entries[i].nr_lanes; lane++) {
			int one = 0;

			if (spool->entries[i].lanes[lane].side)
				one = spool_side_path(spool, i, lane, path, sizeof(path));
			if (spool->entries[i].lanes[lane].side && !one)
				one = each(path, arg);
			err = err ? err : one;
		}
	return err;
}

static int add_size(const char *path, void *arg)
{
	struct stat st;

	if (!lstat(path, &st))
		*(uint64_t *)arg += (uint64_t)st.st_size;
	return 0;
}

uint64_t spool_side_bytes(const struct spool *spool)
{
	uint64_t bytes = 0;

	each_side(spool, add_size, &bytes);
	return bytes;
}

static int remove_file(const char *path, void *arg)
{
	(void)arg;
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

/*
 * Mark the spool as finished first: if its side files are gone, it must not be taken for a recording without side
 * files.
 */
int spool_remove(struct spool *spool)
{
	struct iovec iov = { &spool->head.done, sizeof(spool->head.done) };
	int err, one;

	/* The stage is not needed any more: the trace.dat is complete, or the spool holds nothing. */
	err = spool_drop_stage(spool);
	if (err)
		return err;
	spool->head.done = SPOOL_DONE;
	if (spool_has_kernel(spool) && spool_write_at(spool->fd, &iov, 1, offsetof(struct spool_head, done))) {
		/*
		 * The disk has no room even for the mark. If the process is killed in between, side files remain
		 * without a spool.
		 */
		err = remove_file(spool->path, NULL);
		one = each_side(spool, remove_file, NULL);
		return err ? err : one;
	}
	err = each_side(spool, remove_file, NULL);
	return err ? err : remove_file(spool->path, NULL);
}
