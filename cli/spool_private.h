/* SPDX-License-Identifier: MIT */
/*
 * What the files of the spool have of each other: spool.c (open and close), spool_model.c (what is in it),
 * spool_write.c, spool_kernel.c (texts and side files).
 */
#ifndef CLI_SPOOL_PRIVATE_H
#define CLI_SPOOL_PRIVATE_H

#include <sys/uio.h>

#include "cli/spool.h"

/* No chunk is larger than the largest page. */
#define SPOOL_PAYLOAD_MAX (REC_SUBBUF_MAX + REC_SUBBUF_HEADER_SIZE)

static inline uint64_t spool_rounded(uint64_t size)
{
	return (size + 7) & ~UINT64_C(7);
}

/* Whether a chunk can be what it says; `left` bytes of payload are in the file. */
bool spool_chunk_valid(const struct spool *spool, const struct spool_chunk *chunk, uint64_t left);

/*
 * Take a valid chunk that stands at `offset` into the model. A page's payload is not looked at and may be NULL.
 * 0, -ENOMEM, -EBADMSG.
 */
int spool_note_chunk(struct spool *spool, const struct spool_chunk *chunk, const void *payload, uint64_t offset);
void spool_free_model(struct spool *spool);

/*
 * The block of memory, moved where it is at least `size` bytes: at twice as
 * many each time. NULL: no memory for that.
 */
void *spool_grow(void *bytes, size_t *room, size_t size);

/*
 * Write the chunk behind all others and take it into the model; magic and next are filled in. 0; -EINVAL: it would
 * not be read again; or as spool_add_page().
 */
int spool_append_chunk(struct spool *spool, struct spool_chunk *chunk, const void *payload);

/* All of it or an error; a piece that was written before the error lies behind `end` and is nobody's. */
int spool_write_at(int fd, struct iovec *iov, int nr, uint64_t offset);

/* The link from the lane's page at `from` to the one at `to`, which is in the file. */
int spool_write_link(struct spool *spool, uint64_t from, uint64_t to);

/* Take a SPOOL_TEXT chunk into the model. 0, -ENOMEM, -EBADMSG. */
int spool_note_text(struct spool_entry *entry, const struct spool_chunk *chunk, const char *payload);
void spool_free_texts(struct spool_entry *entry);

#endif
