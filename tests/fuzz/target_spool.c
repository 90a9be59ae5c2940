/* SPDX-License-Identifier: MIT */
/*
 * A target of libfuzzer.sh: a spool and its stage, as a killed recorder may leave them, with chunks and slots of any
 * bytes. Their heads are valid up to the stage's slots: otherwise nothing after them would be read.
 *
 * An input: its first bytes are SLOTS slots of the stage (struct stage_slot), then the size of the spool's part (16
 * bits), then the spool's chunks, then the bytes of the stage's first block. A spool whose stage has no bytes names
 * none. If FUZZ_SEED names a file, an input with a valid spool is written there, and the process ends.
 */
#include "cli/recording/spool.h"

#include <fcntl.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOTS 3u
#define HEAD  (SLOTS * sizeof(struct stage_slot) + sizeof(uint16_t))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char dir[] = "/dev/shm/fuzz_spool.XXXXXX", spool_path[64], stage_path[64];
static struct spool_head spool_head;
static struct stage_head stage_head = { .magic = STAGE_MAGIC };
static volatile unsigned char sink;

static void check(bool fine)
{
	if (!fine)
		abort();
}

/* ------------------------------------------------------------------------------------------------------- a seed */

static void add_all(struct spool *spool)
{
	static const char format[] = "name: made\nID: 300\nformat:\n";
	const struct spool_process program = { .info = { .pid = 7, .subbuf_size = 4096, .comm = "program" },
					       .file = "7-1.rec" };
	const struct spool_process kernel = { .info = { .subbuf_size = 4096, .comm = "kernel" } };
	const struct rec_view_rate rate = { 0 };
	const struct rec_lane_stats stats = { 0 };
	const struct rec_view_losses losses = { 0 };
	const struct rec_anchor anchor = { 0 };
	unsigned char page[64] = { 0 };
	const uint32_t words[] = { 2 | 5 << 5, 300, 8 };
	const struct rec_page one = { .data = page, .size = sizeof(words), .entries = 1 };

	memcpy(page + REC_SUBBUF_HEADER_SIZE, words, sizeof(words));
	check(spool_add_process(spool, &program) == 0 && spool_add_process(spool, &kernel) == 1);
	check(spool_add_log(spool, 0, page, 32) == 0);
	for (unsigned int lane = 0; lane < 2; lane++)
		for (unsigned int i = 0; i < 2; i++)
			check(spool_add_page(spool, 0, lane, &one, NULL, NULL) == 0);
	check(spool_add_text(spool, 1, SPOOL_TEXT_FORMAT, "sys/made", format, strlen(format)) == 0);
	check(spool_add_anchor(spool, REC_CLOCK_MONO, &anchor) == 0 && spool_add_clocks(spool) == 0);
	check(spool_add_rate(spool, 0, 300, &rate) == 0 && spool_add_lane_end(spool, 0, 0, &stats) == 0);
	check(spool_add_process_end(spool, 0, &losses) == 0);
}

static void write_seed(const char *name)
{
	const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	const struct stage_slot slots[SLOTS] = { { .offset = 0, .filled = 8 } };
	unsigned char bytes[32768];
	struct spool_head head = { .file_version = 6 };
	struct spool *spool = NULL;
	uint16_t size;

	check(fd >= 0 && spool_create(spool_path, &head, &spool) == 0);
	add_all(spool);
	check(spool->end - sizeof(head) < sizeof(bytes));
	size = (uint16_t)(spool->end - sizeof(head));
	check(pread(spool->fd, bytes, size, sizeof(head)) == size);
	check(write(fd, slots, sizeof(slots)) == sizeof(slots) && write(fd, &size, sizeof(size)) == sizeof(size));
	check(write(fd, bytes, size) == size && write(fd, bytes, 64) == 64);
	close(fd);
	check(spool_remove(spool) == 0);
	spool_close(spool);
}

/* ------------------------------------------------------------------------------------------------------ an input */

static void remove_all(void)
{
	unlink(spool_path);
	unlink(stage_path);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *seed = getenv("FUZZ_SEED");

	(void)argc;
	(void)argv;
	check(mkdtemp(dir));
	atexit(remove_all);
	setenv("RECORDER_DIR", dir, 1);
	snprintf(spool_path, sizeof(spool_path), "%s/t.spool", dir);
	snprintf(stage_path, sizeof(stage_path), "%s/stage-000000", dir);
	if (seed) {
		write_seed(seed);
		exit(0);
	}
	return 0;
}

static void write_file(int fd, const void *bytes, size_t size, off_t at)
{
	check(pwrite(fd, bytes, size, at) == (ssize_t)size);
}

static void write_spool(const uint8_t *chunks, size_t size, bool staged)
{
	const int fd = open(spool_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stat st;

	check(fd >= 0 && fstat(fd, &st) == 0);
	spool_head.magic = SPOOL_MAGIC;
	spool_head.version = SPOOL_VERSION;
	snprintf(spool_head.stage, sizeof(spool_head.stage), "%s", staged ? stage_path : "");
	write_file(fd, &spool_head, sizeof(spool_head), 0);
	write_file(fd, chunks, size, sizeof(spool_head));
	close(fd);
	stage_head.dev = st.st_dev;
	stage_head.inode = st.st_ino;
}

static void write_stage(const uint8_t *slots, const uint8_t *block, size_t size)
{
	const int fd = open(stage_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	check(fd >= 0);
	memcpy(stage_head.slots, slots, SLOTS * sizeof(struct stage_slot));
	write_file(fd, &stage_head, sizeof(stage_head), 0);
	write_file(fd, block, size, STAGE_HEAD);
	close(fd);
}

/* Read all that is in the spool. The number of pages has a bound, because links never lead back. */
static void read_all(struct spool *spool)
{
	struct spool_stream *streams;
	struct rec_source *source;
	struct rec_page page;
	size_t pages = 0;

	if (spool_source_open(spool, &source, &streams) < 0)
		return;
	for (unsigned int i = 0; i < source->nr_streams; i++)
		while (source->next(source, i, &page) > 0) {
			check(++pages <= spool->end / sizeof(struct spool_chunk));
			for (size_t at = 0; at < REC_SUBBUF_HEADER_SIZE + page.size; at++)
				sink = ((const unsigned char *)page.data)[at];
		}
	spool_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spool *spool;
	uint16_t chunks;

	if (size < HEAD)
		return 0;
	memcpy(&chunks, data + HEAD - sizeof(chunks), sizeof(chunks));
	if (chunks > size - HEAD)
		chunks = (uint16_t)(size - HEAD);
	write_spool(data + HEAD, chunks, size > HEAD + chunks);
	write_stage(data, data + HEAD + chunks, size - HEAD - chunks);
	if (spool_open(spool_path, &spool) == 0) {
		read_all(spool);
		spool_close(spool);
	}
	return 0;
}
