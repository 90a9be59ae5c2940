/* SPDX-License-Identifier: MIT */
/*
 * A target of libfuzzer.sh: a buffer file of any bytes, and calls of the functions that read it.
 *
 * A buffer file is mostly holes. So an input has only its other bytes: struct head, then any number of pieces, each a
 * struct piece and its bytes, the last one perhaps cut short. If FUZZ_SEED names a directory, inputs with valid buffers
 * are written there, and the process ends.
 */
#include "small_buffer.h"
#include "view_calls.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "librecorder/os/identity.h"

#define FILE_MAX (8u << 20)

struct head {
	uint64_t random; /* chooses the calls */
	uint32_t size;	 /* of the file */
	uint8_t alive;	 /* odd: the file's program is this process */
	uint8_t unused[3];
};

struct piece {
	uint32_t at;
	uint32_t size;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char dir[] = "/dev/shm/fuzz_view.XXXXXX", path[64];

static void check(bool fine)
{
	if (!fine)
		abort();
}

/* -------------------------------------------------------------------------------------------------------- the seeds */

static void write_seed(const unsigned char *bytes, size_t size, void *name)
{
	const struct head head = { .random = size, .size = (uint32_t)size };
	FILE *seed = fopen(name, "we");
	struct piece piece;

	check(seed && size <= FILE_MAX && fwrite(&head, sizeof(head), 1, seed) == 1);
	for (size_t at = 0; (piece.size = (uint32_t)small_buffer_part(bytes, size, &at)); at += piece.size) {
		piece.at = (uint32_t)at;
		check(fwrite(&piece, sizeof(piece), 1, seed) == 1);
		check(fwrite(bytes + at, piece.size, 1, seed) == 1);
	}
	check(fclose(seed) == 0);
}

static void write_seeds(const char *to)
{
	char name[4096];

	for (unsigned int i = 0; i < SMALL_BUFFERS; i++) {
		snprintf(name, sizeof(name), "%s/%u", to, i);
		small_buffer(i, write_seed, name);
	}
}

/* ------------------------------------------------------------------------------------------------------- an input */

static void remove_all(void)
{
	unlink(path);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *seed = getenv("FUZZ_SEED");

	(void)argc;
	(void)argv;
	check(mkdtemp(dir) != NULL);
	setenv("RECORDER_DIR", dir, 1);
	snprintf(path, sizeof(path), "%s/1-1.rec", dir);
	if (seed) {
		write_seeds(seed);
		remove_all();
		exit(0);
	}
	atexit(remove_all);
	return 0;
}

static void write_at(int file, const void *bytes, size_t size, off_t at)
{
	check(pwrite(file, bytes, size, at) == (ssize_t)size);
}

static void write_input(int file, uint32_t limit, const uint8_t *data, size_t size)
{
	struct piece piece;

	while (size > sizeof(piece)) {
		memcpy(&piece, data, sizeof(piece));
		data += sizeof(piece);
		size -= sizeof(piece);
		if (piece.size > size)
			piece.size = (uint32_t)size;
		/* Pieces beyond the end of the file would only make it longer. */
		if (piece.at < limit && piece.size <= limit - piece.at)
			write_at(file, data, piece.size, piece.at);
		data += piece.size;
		size -= piece.size;
	}
}

static void write_alive(int file)
{
	const uint32_t pid = (uint32_t)getpid();
	uint64_t start_time = 0;

	rec_process_start_time((pid_t)pid, &start_time);
	write_at(file, &pid, sizeof(pid), offsetof(struct rec_buffer_header, pid));
	write_at(file, &start_time, sizeof(start_time), offsetof(struct rec_buffer_header, start_time));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hostile_random random;
	struct head head;
	int file;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	head.size %= FILE_MAX + 1;
	random.state = head.random;
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	check(file >= 0 && ftruncate(file, head.size) == 0);
	write_input(file, head.size, data + sizeof(head), size - sizeof(head));
	if (head.alive % 2 && head.size >= sizeof(struct rec_buffer_header))
		write_alive(file);
	close(file);
	view_calls(path, &random, true);
	return 0;
}
