/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of the spool: spool.c (open and close), spool_model.c (its contents), spool_write.c,
 * spool_format.c (payloads), spool_kernel.c (texts and side files), spool_stage.c (blocks of the stage), spool_source.c
 * (reading back).
 */
#ifndef CLI_SPOOL_PRIVATE_H
#define CLI_SPOOL_PRIVATE_H

#include <sys/types.h>
#include <sys/uio.h>

#include "cli/recording/spool.h"

/* No chunk is larger than the largest page. */
#define SPOOL_PAYLOAD_MAX (REC_SUBBUF_MAX + REC_SUBBUF_HEADER_SIZE)

static inline uint64_t spool_rounded(uint64_t size)
{
	return (size + 7) & ~UINT64_C(7);
}

/*
 * Whether this version reads chunks of this kind; others are skipped. The second function returns the smallest size of
 * the payload.
 */
bool spool_is_known(const struct spool_chunk *chunk);
uint32_t spool_least_payload(const struct spool_chunk *chunk);

/*
 * Convert a payload to its struct, and back. The payload has at least the smallest size of its kind (spool_format.c).
 */
void spool_put_process(const struct spool_process *process, struct spool_disk_process *ret_disk);
void spool_get_process(const void *payload, size_t size, struct spool_process *ret_process);
void spool_put_lane_end(const struct rec_lane_stats *stats, struct spool_disk_lane_end *ret_disk);
void spool_get_lane_end(const void *payload, size_t size, struct rec_lane_stats *ret_stats);
void spool_put_process_end(const struct rec_view_losses *losses, struct spool_disk_process_end *ret_disk);
void spool_get_process_end(const void *payload, size_t size, struct rec_view_losses *ret_losses);
void spool_put_rate(const struct rec_view_rate *rate, struct spool_disk_rate *ret_disk);
void spool_get_rate(const void *payload, size_t size, struct rec_view_rate *ret_rate);
void spool_put_anchor(const struct rec_anchor *anchor, struct spool_disk_anchor *ret_disk);
void spool_get_anchor(const void *payload, size_t size, struct rec_anchor *ret_anchor);
void spool_put_clocks(const struct clock_reading *reading, struct spool_disk_clocks *ret_disk);
void spool_get_clocks(const void *payload, size_t size, struct clock_reading *ret_reading);

/* Whether a chunk is plausible; `left` bytes of payload are in the file. */
bool spool_chunk_valid(const struct spool *spool, const struct spool_chunk *chunk, uint64_t left);

/*
 * Add a valid chunk, which is at `offset`, to the model. A page's payload is not looked at and may be NULL. 0, -ENOMEM,
 * -EBADMSG.
 */
int spool_note_chunk(struct spool *spool, const struct spool_chunk *chunk, const void *payload, uint64_t offset);
void spool_free_model(struct spool *spool);

/*
 * Make a block of memory at least `size` bytes large; if it must grow, its size is doubled. Returns its address, which
 * may change. NULL: no memory for that.
 */
void *spool_grow(void *bytes, size_t *room, size_t size);

/*
 * Write the chunk after all others and add it to the model; magic and next are filled in. 0; -EINVAL: spool_open()
 * would not accept it; or as spool_add_page().
 */
int spool_append_chunk(struct spool *spool, struct spool_chunk *chunk, const void *payload);

/*
 * Read from the file, and from the chunks of a stage that the file does not have. spool_read_at() returns fewer bytes
 * at the end; spool_read() reads all bytes, or returns an error as read_exactly().
 */
ssize_t spool_read_at(const struct spool *spool, void *bytes, size_t size, uint64_t offset);
int spool_read(const struct spool *spool, void *bytes, size_t size, uint64_t offset);

/* Chunks of a spool with a stage (spool_stage.c): as spool_append_chunk() and spool_add_page(). */
int spool_stage_chunk(struct spool *spool, struct spool_chunk *chunk, const void *payload, bool (*stands)(void *arg),
		      void *arg);

/*
 * Read the chunks of a spool whose head was read: first those in the file, then those in its stage. `scan` reads those
 * from spool->end on. The chunks of the stage are appended to the file or, if it has no room, to spool->rest. 0 or
 * -errno.
 */
int spool_take_stage(struct spool *spool, int (*scan)(struct spool *spool));

/* The id of this boot; "": not known. */
void spool_boot(char *text, size_t size);

/* Remove the file of the stage, and its name from the spool's head. */
int spool_drop_stage(struct spool *spool);

/* Write to the chunks that are only in memory. False: the file has this part. */
bool spool_set_rest(struct spool *spool, const void *bytes, size_t size, uint64_t offset);

/* The chunk of a page. */
static inline struct spool_chunk spool_page_chunk(unsigned int process, unsigned int lane, const struct rec_page *page)
{
	return (struct spool_chunk){
		.magic = SPOOL_CHUNK_MAGIC,
		.kind = SPOOL_PAGE,
		.process = process,
		.lane = lane,
		.size = page->size + REC_SUBBUF_HEADER_SIZE,
		.from = page->from,
		.entries = page->entries,
		.first = page->first,
		.lost = page->lost,
	};
}

/* Writes all bytes, or fails: after a failed write, bytes past the spool's end are ignored. */
int spool_write_at(int fd, struct iovec *iov, int nr, uint64_t offset);

/* Write the link from the lane's page at `from` to the page at `to`, which is in the file. */
int spool_write_link(struct spool *spool, uint64_t from, uint64_t to);

/* Add a SPOOL_TEXT chunk to the model. 0, -ENOMEM, -EBADMSG. */
int spool_note_text(struct spool_entry *entry, const struct spool_chunk *chunk, const char *payload);
void spool_free_texts(struct spool_entry *entry);

#endif
