/* SPDX-License-Identifier: MIT */
/*
 * One queue of full chunks, which threads compress. A chunk gets its number in its track when it is queued, so their
 * order in the file is that of their pages, whichever thread is first.
 */
#include "format/dat/dat_pack.h"
#include "format/io/blob.h"
#include "format/io/out_file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/*
 * The chunks of all CPUs together have at most this size, unless there are very many CPUs. So a reader can hold a whole
 * chunk of each (dat_chunks.c). trace-cmd report takes a fifth longer for 64 CPUs with these smaller chunks
 * (bench/README.md).
 */
#define BUFFER_TOTAL (UINT32_C(8) << 20)
#define CHUNK_MIN    (UINT32_C(64) << 10)
#define THREADS_MAX  8u
#define QUEUE	     (2u * THREADS_MAX)
#define CHUNK_HEAD   8u /* u32 compressed size, u32 plain size */

struct chunk {
	uint64_t offset; /* offset of the chunk's head in the scratch file */
	uint32_t size;	 /* including its head */
};

struct track {
	unsigned char *pages; /* pages of the chunk that is being filled; NULL: none */
	uint32_t used;
	uint64_t plain;
	struct chunk *chunks;
	size_t nr_chunks;
	size_t max_chunks;
};

struct job {
	unsigned int track;
	size_t chunk;
	unsigned char *pages;
	uint32_t size;
};

struct pack {
	struct dat_packer packer;
	int fd;
	int level;
	uint32_t chunk_size;
	bool swapped;
	unsigned int nr_tracks;
	unsigned int max_tracks;
	struct track *tracks;

	pthread_t threads[THREADS_MAX];
	unsigned int nr_threads;
	pthread_mutex_t lock; /* for everything below, and for the tracks' chunks */
	pthread_cond_t work;  /* a job was queued, or the end has come */
	pthread_cond_t done;  /* a job was taken or is finished */
	struct job jobs[QUEUE];
	unsigned int first_job;
	unsigned int nr_jobs;
	unsigned int busy; /* number of jobs that were taken and are not finished */
	bool stop;
	int error;
	uint64_t end; /* end of the scratch file */
};

static struct pack *pack_of(struct dat_packer *packer)
{
	return (struct pack *)packer;
}

static void put32(const struct pack *pack, unsigned char *at, uint32_t value)
{
	if (pack->swapped)
		value = __builtin_bswap32(value);
	memcpy(at, &value, sizeof(value));
}

/* ------------------------------------------------------------------------------------------------------ threads */

/* Compress a job's pages and write them to the scratch file. 0, -errno. */
static int do_job(struct pack *pack, ZSTD_CCtx *context, const struct job *job)
{
	const size_t room = ZSTD_compressBound(job->size);
	unsigned char *out = context ? malloc(CHUNK_HEAD + room) : NULL;
	struct chunk chunk;
	size_t size;
	int err;

	if (!out)
		return -ENOMEM;
	size = ZSTD_compressCCtx(context, out + CHUNK_HEAD, room, job->pages, job->size, pack->level);
	if (ZSTD_isError(size)) {
		free(out);
		return -ENOMEM; /* the buffer is large enough, so the only possible reason */
	}
	put32(pack, out, (uint32_t)size);
	put32(pack, out + 4, job->size);
	chunk.size = CHUNK_HEAD + (uint32_t)size;
	pthread_mutex_lock(&pack->lock);
	chunk.offset = pack->end;
	pack->end += chunk.size;
	pack->tracks[job->track].chunks[job->chunk] = chunk;
	pthread_mutex_unlock(&pack->lock);
	err = out_write_at(pack->fd, out, chunk.size, chunk.offset);
	free(out);
	return err;
}

static void *work(void *arg)
{
	struct pack *pack = arg;
	ZSTD_CCtx *context = ZSTD_createCCtx();
	struct job job;
	int err;

	pthread_mutex_lock(&pack->lock);
	for (;;) {
		while (!pack->nr_jobs && !pack->stop)
			pthread_cond_wait(&pack->work, &pack->lock);
		if (!pack->nr_jobs)
			break;
		job = pack->jobs[pack->first_job];
		pack->first_job = (pack->first_job + 1) % QUEUE;
		pack->nr_jobs--;
		pack->busy++;
		pthread_mutex_unlock(&pack->lock);
		err = do_job(pack, context, &job);
		free(job.pages);
		pthread_mutex_lock(&pack->lock);
		if (!pack->error)
			pack->error = err;
		pack->busy--;
		pthread_cond_broadcast(&pack->done);
	}
	pthread_mutex_unlock(&pack->lock);
	ZSTD_freeCCtx(context);
	return NULL;
}

/* Start as many threads as possible. If no thread can be started, the caller compresses. */
static void start_threads(struct pack *pack, unsigned int nr)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (pack->nr_threads < nr && pack->nr_threads < THREADS_MAX &&
	       !pthread_create(&pack->threads[pack->nr_threads], NULL, work, pack))
		pack->nr_threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Queue a job. Its pages belong to the queue from now on. 0, or the packer's error. */
static int queue(struct pack *pack, const struct job *job)
{
	ZSTD_CCtx *context;
	int err;

	if (!pack->nr_threads) {
		context = ZSTD_createCCtx();
		err = do_job(pack, context, job);
		ZSTD_freeCCtx(context);
		free(job->pages);
		if (!pack->error)
			pack->error = err;
		return pack->error;
	}
	pthread_mutex_lock(&pack->lock);
	while (pack->nr_jobs + pack->busy >= 2 * pack->nr_threads)
		pthread_cond_wait(&pack->done, &pack->lock);
	pack->jobs[(pack->first_job + pack->nr_jobs) % QUEUE] = *job;
	pack->nr_jobs++;
	err = pack->error;
	pthread_cond_signal(&pack->work);
	pthread_mutex_unlock(&pack->lock);
	return err;
}

/* ------------------------------------------------------------------------------------------------------- tracks */

static int pack_add(struct dat_packer *packer, unsigned int *ret_track)
{
	struct pack *pack = pack_of(packer);
	int err = 0;

	pthread_mutex_lock(&pack->lock);
	if (pack->nr_tracks == pack->max_tracks) {
		const unsigned int max = pack->max_tracks ? pack->max_tracks * 2 : 16;
		struct track *tracks = realloc(pack->tracks, max * sizeof(*tracks));

		if (tracks) {
			pack->tracks = tracks;
			pack->max_tracks = max;
		} else {
			err = -ENOMEM;
		}
	}
	if (!err) {
		memset(&pack->tracks[pack->nr_tracks], 0, sizeof(*pack->tracks));
		*ret_track = pack->nr_tracks++;
	}
	pthread_mutex_unlock(&pack->lock);
	return err;
}

/* Give the next chunk of a track its number. */
static int add_chunk(struct pack *pack, struct track *track, size_t *ret_chunk)
{
	struct chunk *chunks;
	int err = 0;

	pthread_mutex_lock(&pack->lock);
	if (track->nr_chunks == track->max_chunks) {
		const size_t max = track->max_chunks ? track->max_chunks * 2 : 16;

		chunks = realloc(track->chunks, max * sizeof(*chunks));
		if (chunks) {
			track->chunks = chunks;
			track->max_chunks = max;
		} else {
			err = -ENOMEM;
		}
	}
	if (!err)
		*ret_chunk = track->nr_chunks++;
	pthread_mutex_unlock(&pack->lock);
	return err;
}

static int queue_track(struct pack *pack, unsigned int number)
{
	struct track *track = &pack->tracks[number];
	struct job job = { .track = number, .pages = track->pages, .size = track->used };
	int err;

	if (!track->used)
		return 0;
	err = add_chunk(pack, track, &job.chunk);
	if (err)
		return err;
	track->pages = NULL;
	track->used = 0;
	return queue(pack, &job);
}

static int pack_put(struct dat_packer *packer, unsigned int number, const void *pages, uint32_t size)
{
	struct pack *pack = pack_of(packer);
	struct track *track = &pack->tracks[number];
	int err;

	if (track->used && track->used + size > pack->chunk_size) {
		err = queue_track(pack, number);
		if (err)
			return err;
	}
	if (!track->pages) {
		track->pages = malloc(size > pack->chunk_size ? size : pack->chunk_size);
		if (!track->pages)
			return -ENOMEM;
	}
	memcpy(track->pages + track->used, pages, size);
	track->used += size;
	track->plain += size;
	return 0;
}

static int pack_complete(struct dat_packer *packer)
{
	struct pack *pack = pack_of(packer);
	unsigned int i;
	int err = 0;

	for (i = 0; i < pack->nr_tracks && !err; i++)
		err = queue_track(pack, i);
	pthread_mutex_lock(&pack->lock);
	while (pack->nr_jobs + pack->busy > 0)
		pthread_cond_wait(&pack->done, &pack->lock);
	if (!err)
		err = pack->error;
	pthread_mutex_unlock(&pack->lock);
	return err;
}

static uint64_t pack_plain(struct dat_packer *packer, unsigned int number)
{
	return pack_of(packer)->tracks[number].plain;
}

static uint64_t pack_packed(struct dat_packer *packer, unsigned int number)
{
	const struct track *track = &pack_of(packer)->tracks[number];
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < track->nr_chunks; i++)
		size += track->chunks[i].size;
	return size ? sizeof(uint32_t) + size : 0;
}

static int pack_copy(struct dat_packer *packer, unsigned int number, int fd, uint64_t offset)
{
	struct pack *pack = pack_of(packer);
	const struct track *track = &pack->tracks[number];
	unsigned char count[sizeof(uint32_t)];
	size_t i, j;
	int err;

	if (!track->nr_chunks)
		return 0;
	put32(pack, count, (uint32_t)track->nr_chunks);
	err = out_write_at(fd, count, sizeof(count), offset);
	offset += sizeof(count);
	/* Chunks that follow one another in the scratch file are copied at once. */
	for (i = 0; i < track->nr_chunks && !err; i = j) {
		uint64_t size = track->chunks[i].size;

		for (j = i + 1; j < track->nr_chunks && track->chunks[j].offset == track->chunks[i].offset + size; j++)
			size += track->chunks[j].size;
		err = out_copy(pack->fd, track->chunks[i].offset, fd, offset, size);
		offset += size;
	}
	return err;
}

static int pack_frame(struct dat_packer *packer, const void *plain, uint32_t size, struct blob *out)
{
	const size_t room = ZSTD_compressBound(size);
	void *to = blob_room(out, room);
	size_t packed;

	if (!to)
		return out->error;
	packed = ZSTD_compress(to, room, plain, size, pack_of(packer)->level);
	if (ZSTD_isError(packed))
		return -ENOMEM;
	out->size -= room - packed;
	return 0;
}

/* --------------------------------------------------------------------------------------------- opening and closing */

static void pack_close(struct dat_packer *packer)
{
	struct pack *pack = pack_of(packer);
	unsigned int i;

	pthread_mutex_lock(&pack->lock);
	pack->stop = true;
	pthread_cond_broadcast(&pack->work);
	pthread_mutex_unlock(&pack->lock);
	for (i = 0; i < pack->nr_threads; i++)
		pthread_join(pack->threads[i], NULL);
	for (i = 0; i < pack->nr_tracks; i++) {
		free(pack->tracks[i].pages);
		free(pack->tracks[i].chunks);
	}
	free(pack->tracks);
	pthread_mutex_destroy(&pack->lock);
	pthread_cond_destroy(&pack->work);
	pthread_cond_destroy(&pack->done);
	close(pack->fd);
	free(pack);
}

int dat_pack_open(const struct dat_packing *packing, const char *near, unsigned int tracks, bool swapped,
		  struct dat_packer **ret_packer)
{
	static const struct dat_packer_ops ops = {
		.add = pack_add,
		.put = pack_put,
		.complete = pack_complete,
		.plain = pack_plain,
		.packed = pack_packed,
		.copy = pack_copy,
		.frame = pack_frame,
		.close = pack_close,
	};
	struct pack *pack = calloc(1, sizeof(*pack));

	if (!pack)
		return -ENOMEM;
	pack->packer = (struct dat_packer){ &ops, "zstd", ZSTD_versionString() };
	pack->level = packing->level;
	pack->swapped = swapped;
	pack->chunk_size = packing->chunk_size;
	while (pack->chunk_size > CHUNK_MIN && (uint64_t)pack->chunk_size * tracks > BUFFER_TOTAL)
		pack->chunk_size /= 2;
	pack->fd = out_file_scratch(near);
	if (pack->fd < 0) {
		const int err = pack->fd;

		free(pack);
		return err;
	}
	pthread_mutex_init(&pack->lock, NULL);
	pthread_cond_init(&pack->work, NULL);
	pthread_cond_init(&pack->done, NULL);
	start_threads(pack, packing->threads);
	*ret_packer = &pack->packer;
	return 0;
}

struct dat_packing dat_pack_zstd(int level)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return (struct dat_packing){
		.open = dat_pack_open,
		.level = level,
		.chunk_size = DAT_PACK_CHUNK,
		.threads = cpus < 1 ? 1 : cpus > (long)THREADS_MAX ? THREADS_MAX : (unsigned int)cpus,
	};
}
