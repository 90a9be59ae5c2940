/* SPDX-License-Identifier: MIT */
/*
 * recorder recover on a spool in which any byte may have any value: a program's lanes and a kernel's texts and side
 * files. It exits normally and soon, its messages are lines without control characters, and report can read the file
 * that it wrote.
 */
#include "hostile.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <librecorder/clock.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/common/sigbus.h"
#include "cli/recording/drain.h"
#include "cli/recording/spool.h"

#define PAGE  4096u
#define CPUS  3u
#define PAGES 40u
#define ID    300u

static char dir[64], path[128], out[128];
static struct hostile_random random_turns;
static unsigned char *whole; /* the spool as its recorder left it */
static size_t whole_size;
static unsigned char side[PAGES * PAGE];
static size_t *chunks; /* where they begin */
static size_t nr_chunks;
static int said = -1; /* standard output and error */

/* ------------------------------------------------------------------------------------------------------ a good one */

static void fill_side(void)
{
	uint64_t commit, time = 1000;

	for (size_t i = 0; i < PAGES; i++) {
		unsigned char *page = side + i * PAGE;
		size_t at = REC_SUBBUF_HEADER_SIZE;

		memcpy(page, &time, sizeof(time));
		for (; at + 16 <= PAGE - 100 * (i % 3); at += 16) {
			const uint32_t words[] = { 3 | 10 << 5, ID, 1234, (uint32_t)at };

			memcpy(page + at, words, sizeof(words));
			time += 10;
		}
		commit = at - REC_SUBBUF_HEADER_SIZE;
		memcpy(page + 8, &commit, sizeof(commit));
	}
}

static void write_side(const struct spool *spool, unsigned int cpu, bool is_there)
{
	char name[PATH_MAX];
	int fd;

	if (spool_side_path(spool, 0, cpu, name, sizeof(name)))
		abort();
	unlink(name);
	fd = is_there ? open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (is_there && (fd < 0 || write(fd, side, sizeof(side)) != (ssize_t)sizeof(side)))
		abort();
	close(fd);
}

static void add_kernel(struct spool *spool)
{
	static const char *const texts[SPOOL_TEXTS] = {
		[SPOOL_TEXT_HEADER_PAGE] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
					   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
					   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n",
		[SPOOL_TEXT_HEADER_EVENT] = "type_len: 5 bits\n",
		[SPOOL_TEXT_KALLSYMS] = "ffffffff81000000 T start\nffffffff81000100 t next\t[mod]\n",
		[SPOOL_TEXT_PRINTK] = "0xffffffff82000000 : \"text\\n\"\n",
		[SPOOL_TEXT_CMDLINES] = "1234 name\n1235 other name\n",
		[SPOOL_TEXT_UNAME] = "Linux host 6.1 x86_64",
		[SPOOL_TEXT_CLOCK] = "mono",
		[SPOOL_TEXT_BOOT] = "0-1-2",
		[SPOOL_TEXT_OFFSETS] = "kernel - programs: CPU 0 -120 to 95 ns in 400 rounds",
		[SPOOL_TEXT_HIDDEN] = "17\n18\n",
		[SPOOL_TEXT_MAP] = "11 1 /bin/name\n1000 2000 /lib/other\n",
	};
	static const char format[] = "name: made\nID: 300\nformat:\n"
				     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				     "\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->n\n";
	static const char stats[] = "entries: 0\noverrun: 30\ncommit overrun: 1\ndropped events: 2\nread events: 100\n";
	const struct spool_process kernel = {
		.info = { .clock = REC_CLOCK_MONO, .subbuf_size = PAGE, .comm = "kernel" }
	};
	const int process = spool_add_process(spool, &kernel);
	char name[16];

	cr_assert_geq(process, 0);
	for (unsigned int kind = 1; kind < SPOOL_TEXTS; kind++)
		if (texts[kind])
			cr_assert_eq(spool_add_text(spool, (unsigned int)process, kind, "", texts[kind],
						    strlen(texts[kind])),
				     0);
	cr_assert_eq(
		spool_add_text(spool, (unsigned int)process, SPOOL_TEXT_FORMAT, "sys/made", format, strlen(format)), 0);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		const int fd = spool_side_create(spool, (unsigned int)process, cpu);

		cr_assert_geq(fd, 0);
		close(fd);
		snprintf(name, sizeof(name), "%u", cpu);
		cr_assert_eq(spool_add_text(spool, (unsigned int)process, SPOOL_TEXT_STATS, name, stats, strlen(stats)),
			     0);
	}
}

static void add_programs(struct spool *spool)
{
	const int from = open(hostile_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct rec_anchor anchor;
	struct drain *drain;

	for (unsigned int i = 0; i < 3; i++) {
		cr_assert_eq(rec_clock_anchor(REC_CLOCK_MONO, &anchor), 0);
		cr_assert_eq(spool_add_anchor(spool, REC_CLOCK_MONO, &anchor), 0);
	}
	cr_assert_eq(drain_open(spool, from, DRAIN_OWNED, NULL, &drain), 0);
	cr_assert_geq(drain_finish(drain), 0);
	drain_close(drain);
	close(from);
}

static void keep_whole(const struct spool *spool)
{
	struct spool_chunk chunk;

	whole_size = spool->end;
	whole = malloc(whole_size);
	chunks = calloc(whole_size / sizeof(chunk), sizeof(*chunks));
	cr_assert(whole && chunks);
	cr_assert_eq(pread(spool->fd, whole, whole_size, 0), (ssize_t)whole_size);
	for (size_t at = sizeof(struct spool_head); at < whole_size; nr_chunks++) {
		chunks[nr_chunks] = at;
		memcpy(&chunk, whole + at, sizeof(chunk));
		at += sizeof(chunk) + (chunk.size + 7) / 8 * 8;
	}
}

static void begin(void)
{
	struct spool_head head = { .file_version = 6, .session = "/dev/null/none" };
	struct spool *spool;

	hostile_make();
	hostile_restore(false);
	sigbus_handle();
	said = memfd_create("said", MFD_CLOEXEC);
	cr_assert(said >= 0);
	strcpy(dir, "/tmp/recorder-fuzz-XXXXXX");
	cr_assert(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.spool", dir);
	snprintf(out, sizeof(out), "%s/t.dat", dir);
	/*
	 * There is no such directory: if the spool names no session, no buffers are found, and children that read
	 * formats make none.
	 */
	setenv("RECORDER_DIR", "/dev/null/none", 1);
	fill_side();
	cr_assert_eq(spool_create(path, &head, &spool), 0);
	add_kernel(spool);
	add_programs(spool);
	keep_whole(spool);
	cr_assert_eq(spool_remove(spool), 0);
	spool_close(spool);
}

static void end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_assert_eq(system(command), 0);
	free(whole);
	free(chunks);
	hostile_remove();
}

/* ----------------------------------------------------------------------------------------------------- a bad one */

static void strike_chunk(unsigned char *bytes)
{
	struct spool_chunk chunk;
	unsigned char *at = bytes + chunks[hostile_below(&random_turns, nr_chunks)];

	memcpy(&chunk, at, sizeof(chunk));
	switch (hostile_below(&random_turns, 8)) {
	case 0:
		chunk.kind = (uint16_t)hostile_below(&random_turns, 11);
		break;
	case 1:
		chunk.process = (uint32_t)hostile_number(&random_turns);
		break;
	case 2:
		chunk.lane = (uint32_t)hostile_number(&random_turns);
		break;
	case 3:
		chunk.size = (uint32_t)hostile_number(&random_turns);
		break;
	case 4:
		chunk.from = (uint32_t)hostile_number(&random_turns);
		break;
	case 5:
		chunk.entries = (uint32_t)hostile_number(&random_turns);
		break;
	case 6:
		chunk.next = chunks[hostile_below(&random_turns, nr_chunks)];
		break;
	default:
		chunk.lost = hostile_number(&random_turns);
	}
	memcpy(at, &chunk, sizeof(chunk));
}

static void strike(unsigned char *bytes, size_t size)
{
	for (size_t times = 1 + hostile_below(&random_turns, 4); times; times--) {
		const uint64_t number = hostile_number(&random_turns);
		const size_t most = 1 + hostile_below(&random_turns, sizeof(number));

		if (hostile_below(&random_turns, 2))
			strike_chunk(bytes);
		else
			memcpy(bytes + hostile_below(&random_turns, size - sizeof(number)), &number, most);
	}
}

/* Put the damaged spool in place. One of its side files may be missing, and one damaged. */
static void write_spoilt(void)
{
	const struct spool named = { .path = path };
	unsigned char *bytes = malloc(whole_size);
	const size_t at = hostile_below(&random_turns, sizeof(side) - 8);
	size_t size = whole_size;
	unsigned char was[8];
	uint64_t number = hostile_number(&random_turns);
	int fd;

	if (!bytes)
		abort();
	memcpy(bytes, whole, whole_size);
	strike(bytes, whole_size);
	if (!hostile_below(&random_turns, 8))
		size = hostile_below(&random_turns, whole_size);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
	free(bytes);
	memcpy(was, side + at, sizeof(was));
	memcpy(side + at, &number, sizeof(was));
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		write_side(&named, cpu, hostile_below(&random_turns, 10));
	memcpy(side + at, was, sizeof(was));
}

static void give_up(const char *what)
{
	char text[8192];
	const ssize_t size = pread(said, text, sizeof(text), 0);

	fprintf(stderr, "%s; its messages: %.*s\n", what, size > 0 ? (int)size : 0, text);
	abort();
}

static void expect_plain_text(void)
{
	char text[65536];
	const ssize_t size = pread(said, text, sizeof(text), 0);

	for (ssize_t i = 0; i < size; i++)
		if ((text[i] >= 0 && text[i] < ' ' && text[i] != '\n') || text[i] == 127)
			give_up("a control character");
}

static int run(int (*command)(int argc, char **argv), int argc, const char *const *words)
{
	int saved[2] = { dup(1), dup(2) };
	char *argv[6] = { NULL };
	int status;

	for (int i = 0; i < argc; i++)
		argv[i] = (char *)(uintptr_t)words[i];
	fflush(stdout);
	if (ftruncate(said, 0) < 0 || lseek(said, 0, SEEK_SET) < 0 || dup2(said, 1) < 0 || dup2(said, 2) < 0)
		abort();
	status = command(argc, argv);
	fflush(stdout);
	for (int fd = 1; fd <= 2; fd++) {
		if (dup2(saved[fd - 1], fd) < 0)
			abort();
		close(saved[fd - 1]);
	}
	if (status != 0 && status != 1)
		give_up("a strange status");
	return status;
}

static void recover(uint64_t number)
{
	const char *const words[] = { "recover", "-o", out, path }, *const report[] = { "report", "-N", out };

	random_turns.state = number * UINT64_C(0xd1342543de82ef95);
	write_spoilt();
	unlink(out);
	if (run(cmd_recover, 4, words) == 0 && access(path, F_OK) == 0)
		give_up("the spool is still there");
	expect_plain_text();
	if (access(out, F_OK) == 0)
		run(cmd_report, 3, report);
}

Test(fuzz_spool, spoilt, .init = begin, .fini = end, .timeout = 100000)
{
	hostile_rounds("fuzz_spool/spoilt", recover);
}
