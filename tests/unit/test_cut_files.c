/* SPDX-License-Identifier: MIT */
/*
 * recorder split, convert and merge on files that were cut off at any place. If events are left, the command writes
 * exactly these, in whole pages, prints a line that names the file and what is missing, and exits with 1. If nothing is
 * left, it prints such a line, exits with 1, and leaves no file; merge also does so if the name of the clock was cut
 * off. If nothing that matters was cut off, the command writes the same as for the whole file.
 */
#include "cli/cmd.h"
#include "format/dat/dat_compress.h"
#include "format/dat/dat_merge.h"
#include "kernel_fixture.h"
#include "tests/golden/dat_make.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEPS 32u /* cuts at equal distances, besides those at the ends of parts */

static char directory[] = "/tmp/test_cut.XXXXXX", output[64], piece[80];
static char input_path[80], other_path[32];
static int input_fd, other_fd, error_fd, null_fd;
static unsigned int rests; /* results with what is left of a cut file */

struct trial {
	const char *name;
	int (*command)(int argc, char **argv);
	const char *words[8]; /* the arguments before the names of files */
	bool has_other;	      /* the first input is another file, which is whole */
	const char *result;
	unsigned int most; /* events of each CPU; 0: all */
};

static const struct trial trials[] = {
	{ "convert", cmd_convert, { "convert", "-o", output, "-i", NULL }, false, output, 0 },
	{ "convert to 6",
	  cmd_convert,
	  { "convert", "--file-version", "6", "-o", output, "-i", NULL },
	  false,
	  output,
	  0 },
	{ "split", cmd_split, { "split", "-o", output, "-i", NULL }, false, piece, 0 },
	{ "split by CPU", cmd_split, { "split", "-e", "15", "-c", "-o", output, "-i", NULL }, false, piece, 15 },
	{ "merge", cmd_merge, { "merge", "-o", output, NULL }, true, output, 0 },
};

#define NR_TRIALS (sizeof(trials) / sizeof(trials[0]))

static int memory_file(char *path, size_t size)
{
	const int fd = memfd_create("input", MFD_CLOEXEC);

	cr_assert_geq(fd, 0);
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return fd;
}

static void set_up(void)
{
	cr_assert_not_null(mkdtemp(directory));
	snprintf(output, sizeof(output), "%s/out", directory);
	snprintf(piece, sizeof(piece), "%s.1", output);
	input_fd = memory_file(input_path, sizeof(input_path));
	other_fd = memory_file(other_path, sizeof(other_path));
	error_fd = memfd_create("stderr", MFD_CLOEXEC);
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	cr_assert(error_fd >= 0 && null_fd >= 0);
}

static void tear_down(void)
{
	close(input_fd);
	close(other_fd);
	close(error_fd);
	close(null_fd);
	rmdir(directory);
}

static void fill(int fd, const unsigned char *data, size_t size)
{
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(pwrite(fd, data, size, 0), (ssize_t)size);
}

/* The command's status; *ret_text is what it printed as errors. */
static int run(const struct trial *trial, char *ret_text, size_t room)
{
	char *argv[12] = { 0 };
	int argc = 0, saved_out, saved_err, status;
	ssize_t n;

	for (; trial->words[argc]; argc++)
		argv[argc] = (char *)(uintptr_t)trial->words[argc];
	if (trial->has_other)
		argv[argc++] = other_path;
	argv[argc++] = input_path;
	fflush(stdout);
	saved_out = dup(1);
	saved_err = dup(2);
	cr_assert_eq(ftruncate(error_fd, 0), 0);
	lseek(error_fd, 0, SEEK_SET);
	dup2(null_fd, 1);
	dup2(error_fd, 2);
	status = trial->command(argc, argv);
	fflush(stdout);
	dup2(saved_out, 1);
	dup2(saved_err, 2);
	close(saved_out);
	close(saved_err);
	n = pread(error_fd, ret_text, room - 1, 0);
	ret_text[n > 0 ? n : 0] = '\0';
	return status;
}

/* The contents of a file, which the caller frees. NULL: the file does not exist. */
static unsigned char *read_file(const char *path, size_t *ret_size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char *data;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	data = malloc((size_t)st.st_size + 1);
	cr_assert_not_null(data);
	cr_assert_eq(pread(fd, data, (size_t)st.st_size, 0), st.st_size);
	close(fd);
	*ret_size = (size_t)st.st_size;
	return data;
}

static unsigned int count_files(void)
{
	DIR *dir = opendir(directory);
	unsigned int nr = 0;

	cr_assert_not_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		nr += entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}

struct whole {
	unsigned char *data; /* what the command writes for the whole file */
	size_t size;
};

/* The events of a file that is open, at most `most` of each CPU if that is not 0. */
static unsigned int count_events(const struct dat_file *file, unsigned int most)
{
	const struct dat_time time = { .raw = true };
	unsigned int counts[4][64] = { 0 }, nr = 0;
	struct dat_merge *merge;
	struct dat_event event;

	cr_assert_eq(dat_merge_open(file, &time, NULL, NULL, &merge), 0);
	while (dat_merge_next(merge, &event)) {
		unsigned int *count = &counts[(event.buffer - file->buffers) & 3][event.cpu & 63];

		nr += !most || *count < most;
		++*count;
	}
	dat_merge_close(merge);
	return nr;
}

/* Both have the same events, byte for byte. */
static void expect_same_events(const struct dat_file *one, const struct dat_file *other, const char *name, size_t cut)
{
	const struct dat_time time = { .raw = true };
	struct dat_merge *merges[2];
	struct dat_event a, b;

	cr_assert_eq(dat_merge_open(one, &time, NULL, NULL, &merges[0]), 0);
	cr_assert_eq(dat_merge_open(other, &time, NULL, NULL, &merges[1]), 0);
	while (dat_merge_next(merges[0], &a)) {
		cr_assert(dat_merge_next(merges[1], &b), "%s, cut at %zu: events are missing", name, cut);
		cr_assert(a.raw == b.raw && a.cpu == b.cpu && a.lost == b.lost && a.size == b.size &&
				  !memcmp(a.data, b.data, a.size),
			  "%s, cut at %zu: other events", name, cut);
	}
	cr_assert_not(dat_merge_next(merges[1], &b), "%s, cut at %zu: more events", name, cut);
	dat_merge_close(merges[0]);
	dat_merge_close(merges[1]);
}

/* The result is whole, and has the events that are left of the input; that of merge has the other file's, too. */
static void expect_rest(const struct trial *trial, const char *name, size_t cut)
{
	struct dat_file *left, *result, *other;
	struct dat_error error;
	unsigned int wanted;

	cr_assert_eq(dat_open_rest(input_path, dat_compress_zstd(), &left, &error), 0, "%s", error.text);
	cr_assert_eq(dat_open(trial->result, dat_compress_zstd(), &result, &error), 0, "%s of %s, cut at %zu: %s",
		     trial->name, name, cut, error.text);
	wanted = count_events(left, trial->most);
	if (trial->has_other) {
		cr_assert_eq(dat_open(other_path, NULL, &other, &error), 0);
		wanted += count_events(other, 0);
		dat_close(other);
	} else if (!trial->most) {
		expect_same_events(left, result, name, cut);
	}
	cr_assert_eq(count_events(result, 0), wanted, "%s of %s, cut at %zu", trial->name, name, cut);
	dat_close(left);
	dat_close(result);
	rests += wanted > 0;
}

/* Whether the command took the cut file for the whole one. */
static bool expect_error_or_whole(const struct trial *trial, const char *name, size_t cut, const struct whole *whole)
{
	char text[4096];
	const int status = run(trial, text, sizeof(text));
	const char *end = strchr(text, '\n');
	struct whole got = { 0 };

	got.data = read_file(trial->result, &got.size);
	if (!status) {
		cr_assert_eq(text[0], '\0', "%s of %s, cut at %zu: %s", trial->name, name, cut, text);
		cr_assert(got.data && got.size == whole->size && !memcmp(got.data, whole->data, got.size),
			  "%s of %s, cut at %zu: a file that is not that of the whole", trial->name, name, cut);
		unlink(trial->result);
	} else {
		cr_assert_eq(status, 1, "%s of %s, cut at %zu: status %d", trial->name, name, cut, status);
		/* split also reports that the rest has no event for its only piece. */
		if (end && end[1] && !got.data && !strcmp(strrchr(text, ':'), ": no event is selected\n"))
			end = strchr(end + 1, '\n');
		cr_assert(end && !end[1] && strstr(text, input_path), "%s of %s, cut at %zu: \"%s\"", trial->name,
			  name, cut, text);
		cr_assert(strstr(text, "truncated: ") || strstr(text, "damaged: ") || strstr(text, "unfinished: ") ||
				  strstr(text, "not a trace.dat") ||
				  (trial->has_other && strstr(text, "its clock is not that of the first file")),
			  "%s of %s, cut at %zu: \"%s\"", trial->name, name, cut, text);
		if (got.data) {
			cr_assert(strstr(text, "; the rest of the file was read") || strstr(text, " missing"),
				  "%s of %s, cut at %zu: a file, and \"%s\"", trial->name, name, cut, text);
			expect_rest(trial, name, cut);
			unlink(trial->result);
		}
	}
	free(got.data);
	cr_assert_eq(count_files(), 0, "%s of %s, cut at %zu: files are left", trial->name, name, cut);
	return !status;
}

static int by_number(const void *a, const void *b)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x > y ? 1 : x < y ? -1 : 0;
}

/* Where to cut, in ascending order: one byte before each mark, at it or one after it, and STEPS others. */
static size_t choose_cuts(size_t size, const size_t *marks, size_t *cuts)
{
	size_t nr = 0, kept = 0;

	for (size_t i = 0; marks && i < DAT_MAKE_MARKS && marks[i] && marks[i] < size; i++) {
		cuts[nr++] = marks[i] - 1;
		cuts[nr++] = marks[i] + i % 2;
	}
	for (size_t i = 0; i < STEPS; i++)
		cuts[nr++] = size * i / STEPS + i;
	cuts[nr++] = size - 1;
	qsort(cuts, nr, sizeof(*cuts), by_number);
	for (size_t i = 0; i < nr; i++) {
		if (cuts[i] < size && (!kept || cuts[i] != cuts[kept - 1]))
			cuts[kept++] = cuts[i];
	}
	return kept;
}

/* Run all commands on the file with each cut. Returns how often the cut made no difference. */
static unsigned int cut(const char *name, const unsigned char *data, size_t size, const size_t *marks)
{
	size_t cuts[2 * DAT_MAKE_MARKS + STEPS + 1];
	const size_t nr = choose_cuts(size, marks, cuts);
	struct whole wholes[NR_TRIALS] = { 0 };
	unsigned int taken = 0;

	for (size_t t = 0; t < NR_TRIALS; t++) {
		char text[4096];

		fill(input_fd, data, size);
		cr_assert_eq(run(&trials[t], text, sizeof(text)), 0, "%s of %s: %s", trials[t].name,
			     name, text);
		wholes[t].data = read_file(trials[t].result, &wholes[t].size);
		unlink(trials[t].result);
	}
	for (size_t i = 0; i < nr; i++) {
		fill(input_fd, data, cuts[i]);
		for (size_t t = 0; t < NR_TRIALS; t++)
			taken += expect_error_or_whole(&trials[t], name, cuts[i], &wholes[t]);
	}
	for (size_t t = 0; t < NR_TRIALS; t++)
		free(wholes[t].data);
	cr_expect_gt(rests, NR_TRIALS * STEPS / 4, "%s: too few cuts left something", name);
	rests = 0;
	return taken;
}

/* Make a small file that has every part, with these features in addition. */
static unsigned char *make_with(const char *name, unsigned int flags, size_t *ret_size, size_t *ret_marks)
{
	const struct dat_make *found = dat_make_find(name);
	struct dat_make what;

	cr_assert_not_null(found, "%s", name);
	what = *found;
	what.flags |= flags;
	if (what.events > 40)
		what.events = what.flags & MAKE_LOST ? 150 : 40;
	return dat_make(&what, ret_size, ret_marks);
}

static unsigned char *make(const char *name, size_t *ret_size, size_t *ret_marks)
{
	return make_with(name, 0, ret_size, ret_marks);
}

static void set_other(void)
{
	size_t size;
	unsigned char *data = make("v6-plain", &size, NULL);

	fill(other_fd, data, size);
	free(data);
}

static unsigned int cut_made_with(const char *name, unsigned int flags)
{
	size_t size, marks[DAT_MAKE_MARKS] = { 0 };
	unsigned char *data = make_with(name, flags, &size, marks);
	unsigned int taken;

	set_other();
	taken = cut(name, data, size, marks);
	free(data);
	return taken;
}

static unsigned int cut_made(const char *name)
{
	return cut_made_with(name, 0);
}

TestSuite(cut_files, .init = set_up, .fini = tear_down);

Test(cut_files, version_6)
{
	cr_expect_eq(cut_made("v6-instances"), 0);
	cr_expect_eq(cut_made("v6-short"), 0);
}

Test(cut_files, version_7)
{
	cr_expect_eq(cut_made("v7-instances"), 0);
	cr_expect_eq(cut_made("v7-options"), 0);
	cr_expect_eq(cut_made("v7-lost"), 0);
}

Test(cut_files, compressed)
{
	cr_expect_eq(cut_made("v7-zstd"), 0);
	cr_expect_eq(cut_made_with("v7-zstd", MAKE_TIGHT), 0);
}

/* convert writes the options before the data. */
Test(cut_files, that_convert_wrote)
{
	size_t size;
	unsigned char *data = make("v7-instances", &size, NULL);
	char text[4096];

	set_other();
	fill(input_fd, data, size);
	free(data);
	cr_assert_eq(run(&trials[0], text, sizeof(text)), 0, "%s", text);
	data = read_file(output, &size);
	unlink(output);
	cr_assert_not_null(data);
	cr_expect_eq(cut("convert's", data, size, NULL), 0);
	free(data);
}

/* If the output is the input, and the file is cut, it is not replaced: another program may read more of it. */
Test(cut_files, not_in_place)
{
	const struct trial trial = { "convert", cmd_convert, { "convert", "-o", piece, "-i", NULL }, false, piece, 0 };
	size_t size, left;
	unsigned char *data = make("v6-plain", &size, NULL), *after;
	char text[4096];
	int fd = open(piece, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	cr_assert_geq(fd, 0);
	fill(fd, data, size - 100);
	close(fd);
	snprintf(input_path, sizeof(input_path), "%s", piece);
	cr_assert_eq(run(&trial, text, sizeof(text)), 1);
	cr_expect(strstr(text, "truncated: ") && strstr(text, "it is not replaced: name another output"), "%s", text);
	after = read_file(piece, &left);
	cr_expect(after && left == size - 100 && !memcmp(after, data, left), "the file has changed");
	unlink(piece);
	free(after);
	free(data);
}

/* ------------------------------------------------------------------------------------------------- whole files */

/* An event that the test leaves out, after a loss. */
static void put_left_out(struct both *b, unsigned int stream, uint64_t time, uint64_t lost)
{
	fake_lose(b->w.fake, stream, lost);
	if (stream)
		fake_put(b->w.fake, stream, 0, time, ID_SWITCH, 77, 0, sizeof(struct switch_event));
	else
		fake_put(b->w.fake, stream, 0, time, ID_B, PID, 0, FAKE_SIZE);
}

/* What programs lost is never shown as a loss of the kernel's events, nor the other way round. */
Test(cut_files, split_keeps_losses_of_programs_and_of_the_kernel_apart)
{
	const struct trial trial = {
		"split", cmd_split, { "split", "-o", output, "--event", "sched:tick,t:a", "-i" }, false, piece, 0,
	};
	static const int64_t lost[] = { 0, 5, 7, -1, 0, 0 };
	struct both b;
	struct seen *seen;
	char text[4096];

	both_begin(&b, 1, 1);
	put_left_out(&b, 0, 100, 5);
	both_put(&b, 0, 110, 0);
	put_left_out(&b, 1, 120, 7);
	both_put_user(&b, 0, 0, 130, 1);
	both_put(&b, 0, 140, 2);
	put_left_out(&b, 1, 150, REC_LOST_UNKNOWN);
	both_put_user(&b, 0, 0, 160, 3);
	both_put(&b, 0, 170, 4);
	put_left_out(&b, 0, 180, 3);
	both_put(&b, 0, 190, 5);
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 10);
	weaving_end(&b.w, seen);
	snprintf(input_path, sizeof(input_path), "%s", b.w.params.output);
	cr_assert_eq(run(&trial, text, sizeof(text)), 0, "%s", text);
	seen = seen_read(piece);
	unlink(piece);
	cr_assert_eq(seen->nr, 6);
	for (unsigned int i = 0; i < 6; i++) {
		cr_expect_eq(seen->events[i].number, i);
		cr_expect_eq(seen->events[i].lost, lost[i], "event %u: %d", i, (int)seen->events[i].lost);
	}
	seen_free(seen);
}
