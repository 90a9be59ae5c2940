/* SPDX-License-Identifier: MIT */
/*
 * A parallel compressor that records what it does.
 *
 *	packer [-j THREADS] [-l LEVEL] [-n MAXFILES] [-o FILE] [DIR]
 *
 * One thread walks DIR and reads its files, THREADS threads compress them with zstd. The result is thrown away, or
 * appended to FILE frame by frame (`zstd -dc FILE` gives all contents back, in the order in which they were finished).
 * If a file cannot be read, packer records an event, counts the file and continues.
 *
 * Three things make it recordable: the events in packer_events.h, one line where each of them happens, and -lrecorder.
 *
 *	recorder record ./packer
 *	recorder report
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "packer_events.h"
#include "packer_queue.h"

#define MAX_THREADS 256
#define MAX_SIZE    (64u << 20) /* the largest file that is read; a file is read as a whole */
#define QUEUE_LIMIT 32

struct options {
	unsigned int threads;
	int level;
	uint32_t max_files;
	const char *output;
	const char *dir;
};

struct packer {
	struct options options;
	struct queue queue;
	pthread_mutex_t output_lock;
	int output; /* -1: none */
	uint64_t output_offset;
	atomic_bool failed;
	atomic_uint_fast64_t files;
	atomic_uint_fast64_t bytes_in;
	atomic_uint_fast64_t bytes_out;
};

struct worker {
	struct packer *packer;
	pthread_t thread;
	unsigned int number;
};

static atomic_uint_fast64_t tallies[NR_TALLIES];

void tally(enum tally event)
{
	atomic_fetch_add_explicit(&tallies[event], 1, memory_order_relaxed);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void report_error(enum step step, int err, const char *path)
{
	REC(packer, error, step, err, path);
	tally(TALLY_ERROR);
}

/* ------------------------------------------------------------------------------------------- walking and reading */

static ssize_t read_all(int fd, char *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, buffer + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break; /* it has become shorter */
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static void read_file(struct packer *packer, const char *path, uint32_t file)
{
	struct job *job = NULL;
	struct stat st;
	uint64_t begin;
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0) {
		report_error(STEP_OPEN, errno, path);
		goto out;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > MAX_SIZE) {
		report_error(STEP_OPEN, S_ISREG(st.st_mode) ? EFBIG : EINVAL, path);
		goto out;
	}
	REC(packer, open, file, (uint64_t)st.st_size, path);
	tally(TALLY_OPEN);

	job = malloc(sizeof(*job) + (size_t)st.st_size);
	if (!job) {
		report_error(STEP_READ, ENOMEM, path);
		goto out;
	}
	begin = now_ns();
	n = read_all(fd, job->content, (size_t)st.st_size);
	if (n < 0) {
		report_error(STEP_READ, (int)-n, path);
		goto out;
	}
	REC(packer, read, file, (uint64_t)n, now_ns() - begin);
	tally(TALLY_READ);

	job->file = file;
	job->size = (size_t)n;
	queue_put(&packer->queue, job);
	job = NULL;
out:
	free(job);
	if (fd >= 0)
		close(fd);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Walk in the order of names, so that -n takes the same files each time. */
static int walk(struct packer *packer)
{
	char *roots[] = { (char *)packer->options.dir, NULL };
	uint32_t files = 0;
	FTSENT *entry;
	FTS *tree;

	tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	if (!tree)
		return -errno;
	while (files < packer->options.max_files && (entry = fts_read(tree))) {
		switch (entry->fts_info) {
		case FTS_F:
			read_file(packer, entry->fts_path, files++);
			break;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			report_error(STEP_WALK, entry->fts_errno, entry->fts_path);
			break;
		default:
			break;
		}
	}
	fts_close(tree);
	return 0;
}

/* --------------------------------------------------------------------------------------------------- compressing */

static void write_frame(struct packer *packer, uint32_t file, const char *frame, size_t size)
{
	size_t done = 0;

	pthread_mutex_lock(&packer->output_lock);
	while (done < size && !packer->failed) {
		ssize_t n = write(packer->output, frame + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			report_error(STEP_WRITE, errno, packer->options.output);
			fprintf(stderr, "packer: %s: %s\n", packer->options.output, strerror(errno));
			packer->failed = true;
			break;
		}
		done += (size_t)n;
	}
	if (done == size) {
		REC(packer, write, file, size, packer->output_offset);
		tally(TALLY_WRITE);
		packer->output_offset += size;
	}
	pthread_mutex_unlock(&packer->output_lock);
}

static void compress_job(struct packer *packer, ZSTD_CCtx *zstd, const struct job *job)
{
	size_t bound = ZSTD_compressBound(job->size);
	char *frame = malloc(bound);
	size_t size;

	if (!frame) {
		report_error(STEP_COMPRESS, ENOMEM, "");
		return;
	}
	REC(packer, compress_begin, job->file, job->size, packer->options.level);
	tally(TALLY_COMPRESS_BEGIN);
	size = ZSTD_compressCCtx(zstd, frame, bound, job->content, job->size, packer->options.level);
	if (ZSTD_isError(size)) {
		report_error(STEP_COMPRESS, EIO, ZSTD_getErrorName(size));
		goto out;
	}
	REC(packer, compress_end, job->file, job->size, size, (double)job->size / (double)size);
	tally(TALLY_COMPRESS_END);

	packer->files++;
	packer->bytes_in += job->size;
	packer->bytes_out += size;
	if (packer->output >= 0)
		write_frame(packer, job->file, frame, size);
out:
	free(frame);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	struct job *job;
	char name[16];

	snprintf(name, sizeof(name), "packer/zstd-%u", worker->number);
	pthread_setname_np(pthread_self(), name);

	while ((job = queue_take(&worker->packer->queue))) {
		if (zstd)
			compress_job(worker->packer, zstd, job);
		else
			report_error(STEP_COMPRESS, ENOMEM, "");
		free(job);
	}
	ZSTD_freeCCtx(zstd);
	return NULL;
}

static int run(struct packer *packer)
{
	struct worker *workers = calloc(packer->options.threads, sizeof(*workers));
	unsigned int started;
	int err = 0;

	if (!workers)
		return -ENOMEM;
	for (started = 0; started < packer->options.threads && !err; started++) {
		workers[started].packer = packer;
		workers[started].number = started;
		err = -pthread_create(&workers[started].thread, NULL, work, &workers[started]);
		if (err)
			break;
	}
	if (!err)
		err = walk(packer);
	queue_close(&packer->queue);
	while (started-- > 0)
		pthread_join(workers[started].thread, NULL);
	free(workers);
	return err;
}

/* ------------------------------------------------------------------------------------------------------ the rest */

static void print_totals(struct packer *packer)
{
	static const char *const names[NR_TALLIES] = {
		[TALLY_OPEN] = "open",
		[TALLY_READ] = "read",
		[TALLY_QUEUE] = "queue",
		[TALLY_COMPRESS_BEGIN] = "compress_begin",
		[TALLY_COMPRESS_END] = "compress_end",
		[TALLY_WRITE] = "write",
		[TALLY_ERROR] = "error",
		[TALLY_DONE] = "done",
	};
	double in = (double)packer->bytes_in, out = (double)packer->bytes_out;
	uint64_t total = 0;

	printf("packer: %" PRIuFAST64 " files, %.1f MB -> %.1f MB (%.1f %%), events:", packer->files, in / 1e6,
	       out / 1e6, in > 0 ? 100 * out / in : 0);
	for (int i = 0; i < NR_TALLIES; i++) {
		printf(" %s=%" PRIuFAST64, names[i], tallies[i]);
		total += tallies[i];
	}
	printf(" total=%" PRIu64 "\n", total);
}

static int parse_number(const char *what, const char *text, long min, long max, long *ret_number)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || end == text || *end || number < min || number > max) {
		fprintf(stderr, "packer: %s: '%s' is not a number from %ld to %ld\n", what, text, min, max);
		return -EINVAL;
	}
	*ret_number = number;
	return 0;
}

static int parse_options(int argc, char **argv, struct options *options)
{
	long threads = sysconf(_SC_NPROCESSORS_ONLN), level = 3, max_files = UINT32_MAX;
	int option, err = 0;

	if (threads < 2)
		threads = 2;
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	while (!err && (option = getopt(argc, argv, "j:l:n:o:")) != -1) {
		switch (option) {
		case 'j':
			err = parse_number("-j", optarg, 1, MAX_THREADS, &threads);
			break;
		case 'l':
			err = parse_number("-l", optarg, 1, ZSTD_maxCLevel(), &level);
			break;
		case 'n':
			err = parse_number("-n", optarg, 1, UINT32_MAX, &max_files);
			break;
		case 'o':
			options->output = optarg;
			break;
		default:
			err = -EINVAL;
		}
	}
	if (err || optind + 1 < argc) {
		fprintf(stderr, "usage: packer [-j THREADS] [-l LEVEL] [-n MAXFILES] [-o FILE] [DIR]\n");
		return -EINVAL;
	}
	options->threads = (unsigned int)threads;
	options->level = (int)level;
	options->max_files = (uint32_t)max_files;
	options->dir = optind < argc ? argv[optind] : "/usr/share/doc";
	return 0;
}

int main(int argc, char **argv)
{
	static struct packer packer = { .output_lock = PTHREAD_MUTEX_INITIALIZER, .output = -1 };
	int err;

	if (parse_options(argc, argv, &packer.options))
		return 2;
	if (access(packer.options.dir, R_OK) < 0) {
		fprintf(stderr, "packer: %s: %s\n", packer.options.dir, strerror(errno));
		return 1;
	}
	if (packer.options.output) {
		packer.output = open(packer.options.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (packer.output < 0) {
			fprintf(stderr, "packer: %s: %s\n", packer.options.output, strerror(errno));
			return 1;
		}
	}
	pthread_setname_np(pthread_self(), "packer/walk");

	queue_init(&packer.queue, QUEUE_LIMIT);
	err = run(&packer);
	queue_destroy(&packer.queue);
	if (err) {
		fprintf(stderr, "packer: %s: %s\n", packer.options.dir, strerror(-err));
		return 1;
	}
	REC(packer, done, packer.files, packer.bytes_in, packer.bytes_out);
	tally(TALLY_DONE);
	print_totals(&packer);
	if (packer.output >= 0 && close(packer.output) < 0)
		packer.failed = true;
	return packer.failed || fflush(stdout) ? 1 : 0;
}
