/* SPDX-License-Identifier: MIT */
/*
 * Feeds damaged trace.dat files to the commands that read them. Whatever the bytes are: no crash, no hang, no access
 * outside of what was read (the sanitizers check that), an exit status of 0 or 1, and lines on stderr exactly when the
 * status is 1; without sanitizers, no more than MEMORY_MAX: no command may report that there is not enough memory.
 *
 * By itself a test of FUZZ_INPUTS inputs (150): input N depends on the seed and N alone, "fuzz_dat N" runs that one,
 * and FUZZ_FIRST=N begins there. After FUZZ_LIMIT seconds (60) it ends, and reports how many inputs it tried.
 */
#include "cli/cmd.h"
#include "tests/golden/dat_make.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SEED	   UINT64_C(0x7265636f72646572)
#define TAP_FD	   9
#define MEMORY_MAX (UINT64_C(1) << 30) /* with the stacks of threads */
#define HANG_AFTER 600u /* seconds for one input; a valid one takes milliseconds */

/* The outputs of convert and split. */
static char directory[] = "/tmp/fuzz_dat.XXXXXX", output[64], part[80];
static int input_fd = -1, error_fd = -1, real_stderr = -1;

static void give_up(const char *what, const char *command)
{
	char text[4096] = "";
	ssize_t n = pread(error_fd, text, sizeof(text) - 1, 0);

	dprintf(real_stderr, "%s of recorder %s; stderr was: %.*s\n", what, command, n > 0 ? (int)n : 0, text);
	abort();
}

static void open_files(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	input_fd = memfd_create("input", MFD_CLOEXEC);
	error_fd = memfd_create("stderr", MFD_CLOEXEC);
	real_stderr = fcntl(2, F_DUPFD_CLOEXEC, 10);
	if (null < 0 || input_fd < 0 || error_fd < 0 || real_stderr < 0 || !mkdtemp(directory))
		abort();
	snprintf(output, sizeof(output), "%s/out", directory);
	snprintf(part, sizeof(part), "%s.1", output);
	if (!freopen("/dev/null", "w", stdout))
		abort();
	close(null);
}

/*
 * How many lines a failure may print. ONE_OR_TWO: two if a file is damaged and cut off. ONE_EACH: it is read twice.
 * WITH_NOTES: any number, because the command also reports events that are missing from the file, even if it succeeds.
 */
enum lines { ONE_OR_TWO, ONE_EACH, WITH_NOTES };

static bool fits(enum lines allowed, int lines, bool failed)
{
	switch (allowed) {
	case ONE_OR_TWO:
		return failed ? lines == 1 || lines == 2 : !lines;
	case ONE_EACH:
		return failed ? lines >= 1 && lines <= 4 : !lines;
	case WITH_NOTES:
		break;
	}
	return lines || !failed;
}

/* Lines of a command's messages, without the notes of formats that are left out: one for each file that it reads. */
static int count_lines(const char *text, size_t size)
{
	static const char note[] = "left out, because libtraceevent";
	const char *const end = text + size;
	int lines = 0;

	for (const char *at = text; at < end; at++)
		lines += *at == '\n';
	for (const char *at = text; (at = memmem(at, (size_t)(end - at), note, strlen(note))) != NULL; at++)
		lines--;
	return lines;
}

static void run_with(int (*command)(int argc, char **argv), const char *const *words, const char *after,
		     enum lines allowed)
{
	char path[32], *argv[12] = { 0 }, text[4096];
	int argc = 0, status, lines;
	ssize_t n;

	while (words[argc]) {
		argv[argc] = (char *)(uintptr_t)words[argc];
		argc++;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", input_fd);
	argv[argc++] = path;
	if (after)
		argv[argc++] = (char *)(uintptr_t)after;
	if (ftruncate(error_fd, 0) || lseek(error_fd, 0, SEEK_SET) || dup2(error_fd, 2) < 0)
		abort();
	status = command(argc, argv);
	fflush(stdout);
	fflush(stderr);
	dup2(real_stderr, 2);
	n = pread(error_fd, text, sizeof(text), 0);
	lines = n > 0 ? count_lines(text, (size_t)n) : 0;
	if (n > 0 && memmem(text, (size_t)n, "memory", strlen("memory")))
		give_up("too much memory for a small file", words[0]);
	if (status != 0 && status != 1)
		give_up("a strange status", words[0]);
	if (!fits(allowed, lines, status == 1))
		give_up("not one line for a failure, or a line without a failure,", words[0]);
	if (n > 0 && text[n - 1] != '\n')
		give_up("half a line", words[0]);
}

static void run(int (*command)(int argc, char **argv), const char *const *words)
{
	run_with(command, words, NULL, ONE_OR_TWO);
}

/*
 * Queries that scan tables, compute tables, read them again in joins, and use events in the order of time and of names.
 */
static void run_queries(size_t which)
{
	static const char *const sql[] = { "sql", "--list", NULL };
	static const char *const why[] = { "why", "--slowest", "5", "--json", "--span", "irq_handler", NULL };
	static const char *const queries[] = {
		"SELECT count(*), sum(dur), max(args) FROM spans",
		"SELECT name, count(*), max(id) FROM events GROUP BY name",
		"SELECT * FROM sched",
		"SELECT rowid, * FROM events WHERE ts > 5 ORDER BY ts",
		"SELECT count(*), max(b.text) FROM (VALUES (1), (2)) a CROSS JOIN events b WHERE b.tid IN (1, 2, 3, "
		"'x')",
		"SELECT (SELECT count(*) FROM counters) + (SELECT count(*) FROM flows) + (SELECT count(*) FROM irqs)",
		"SELECT (SELECT count(*) FROM syscalls) + (SELECT count(*) FROM losses) + (SELECT count(*) FROM "
		"stacks)",
		"SELECT * FROM threads JOIN processes USING (pid)",
		"SELECT *, _text FROM sched_switch ORDER BY ts",
		"SELECT * FROM submit",
		"SELECT * FROM kinds",
		"SELECT * FROM bytes",
		"SELECT * FROM print",
		"SELECT * FROM bprint",
		"SELECT * FROM kernel_stack",
	};

	run_with(cmd_sql, sql, queries[which % (sizeof(queries) / sizeof(queries[0]))], WITH_NOTES);
	run_with(cmd_why, why, NULL, WITH_NOTES);
}

/* Compares the file with itself. Status 1 means that something changed, 2 is a failure. */
static int diff_itself(int argc, char **argv)
{
	char *twice[] = { argv[0], argv[1], argv[argc - 1], argv[argc - 1], NULL };

	return cmd_diff(4, twice) == 2 ? 1 : 0;
}

/* Merges the file with itself, as a file of the same machine. */
static int merge_itself(int argc, char **argv)
{
	char *file = argv[argc - 1], *twice[] = { argv[0], argv[1], argv[2], argv[3], argv[4], file, file, NULL };

	return cmd_merge(7, twice);
}

/* The other commands that answer questions. */
static void run_questions(size_t which)
{
	static const struct {
		int (*command)(int argc, char **argv);
		const char *words[6];
		const char *after;
	} questions[] = {
		{ cmd_top, { "top", "--json", NULL }, NULL },
		{ cmd_profile, { "profile", "-N", NULL }, NULL },
		{ cmd_hist, { "hist", "-e", "*", "-k", "common_pid", NULL }, NULL },
		{ cmd_latency, { "latency", "--json", NULL }, "irq_handler" },
		{ cmd_assert, { "assert", NULL }, "lost >= 0" },
		{ diff_itself, { "diff", "--all", NULL }, NULL },
	};
	const size_t i = which % (sizeof(questions) / sizeof(questions[0]));

	run_with(questions[i].command, questions[i].words, questions[i].after, WITH_NOTES);
}

static void run_exports(void)
{
	static const char *const perfetto[] = { "export", "--perfetto", NULL };
	static const char *const chrome[] = { "export", "--chrome", NULL };
	static const char *const folded[] = { "export", "--folded", NULL };

	run(cmd_export, perfetto);
	run(cmd_export, chrome);
	run(cmd_export, folded);
}

static void run_readers(size_t size)
{
	static const char *const report[] = { "report", "-N", NULL };
	static const char *const dump[] = { "dump", "--all", "--records", NULL };
	static const char *const validate[] = { "dump", "--validate", NULL };
	static const char *const sections[] = { "dump", "--sections", "--strings", NULL };
	static const char *const forms[][6] = {
		{ "report", "-N", "--json", NULL },
		{ "report", "-N", "--csv", NULL },
		{ "report", "-N", "--summary", "--tail", "10", NULL },
		{ "report", "-N", "-w", "--boundary", "--align-ts", NULL },
		{ "report", "-N", "--first-event", "--last-event", NULL },
		{ "report", "-N", "--stat", NULL },
	};

	run(cmd_report, report);
	run(cmd_dump, dump);
	run(cmd_dump, validate);
	run(cmd_dump, sections);
	run(cmd_report, forms[size % (sizeof(forms) / sizeof(forms[0]))]);
}

/* One of the commands that take longer. */
static void run_one_of_many(size_t size)
{
	static const char *const raw[] = { "report", "-N", "-R", "-l", NULL };
	static const char *const plugins[] = { "report", "-t", "--ts-diff", NULL };
	static const char *const verify[] = { "verify", "--limit", "1000000", NULL };
	static const char *const check[] = { "check", "--limit", "1000000", "-i", NULL };
	static const char *const packed[] = { "convert", "-o", output, "-i", NULL };
	static const char *const plain[] = { "convert", "--file-version", "6", "-o", output, "-i", NULL };
	static const char *const woven[] = { "convert", "--woven", "-o", output, "-i", NULL };
	const char *const merged[] = { "merge", "--buffers", size % 32 < 16 ? "woven" : "split", "-o", output, NULL };
	static const char *const parts[] = { "split", "-e", "20", "-c", "-o", output, "-i", NULL };

	/* Loading plugins takes longer than everything else together. */
	if (size % 8 == 0)
		run(cmd_report, plugins);
	else if (size % 8 == 1)
		run(cmd_verify, verify);
	else if (size % 8 == 2)
		run(cmd_check, check);
	else if (size % 8 == 3)
		run(cmd_convert, packed);
	else if (size % 8 == 4)
		run(cmd_convert, plain);
	else if (size % 8 == 5)
		run(cmd_split, parts);
	else if (size % 8 == 6)
		run(cmd_convert, woven);
	else if (size % 16 == 7)
		run_with(merge_itself, merged, NULL, ONE_EACH);
	else
		run(cmd_report, raw);
}

static void run_commands(const unsigned char *data, size_t size)
{
	static const char *const spans[] = { "report", "-N", "--spans", NULL };

	if (input_fd < 0)
		open_files();
	if (ftruncate(input_fd, 0) || pwrite(input_fd, data, size, 0) != (ssize_t)size)
		abort();
	run_readers(size);
	run_one_of_many(size);
	run_queries(size / 16);
	run_questions(size / 16);
	if (size % 16 < 8)
		run(cmd_report, spans);
	else
		run_exports();
	unlink(output);
	unlink(part);
}

/* ---------------------------------------------------------------------------------------------------- mutations */

static uint64_t rng;

/* splitmix64: any state is valid, so an input's number can be its seed. */
static uint64_t next_random(void)
{
	uint64_t z = rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static size_t below(size_t limit)
{
	return limit ? (size_t)(next_random() % limit) : 0;
}

static uint64_t nasty_number(size_t size)
{
	static const uint64_t numbers[] = { 0, 1, 2, 3, 4, 7, 8, 16, 255, 256, 4080, 4095, 4096, 65535, 65536,
					    0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x100000000,
					    INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX - 1, UINT64_MAX };
	uint64_t pick = next_random();

	switch (pick % 4) {
	case 0:
		return size - pick % 32;
	case 1:
		return pick >> (pick % 64);
	default:
		return numbers[below(sizeof(numbers) / sizeof(numbers[0]))];
	}
}

/* Where to change bytes: headers, tables and the beginnings of pages are small, so half of the changes go there. */
static size_t pick_place(size_t size, const size_t *marks, size_t nr_marks)
{
	size_t at;

	if (next_random() % 2)
		return below(size);
	at = marks[below(nr_marks)] + below(128);
	at -= at < 32 ? 0 : below(32);
	return at < size ? at : size - 1;
}

static void strike_text(unsigned char *data, size_t at, size_t size)
{
	static const char *const words[] = { "offset:",	   "size:",	  "4294967295", "-1", "__data_loc",	"(((((",
					     "REC->",	   "[",		  "%*p",	"%s", "__print_array(", "/ 0",
					     "0x7fffffff", "print fmt: ", "\n\n",	"\"", "field:" };
	const char *word = words[below(sizeof(words) / sizeof(words[0]))];
	size_t len = strlen(word);

	if (len < size - at)
		memcpy(data + at, word, len);
}

static size_t mutate(unsigned char *data, size_t size, const size_t *marks, size_t nr_marks)
{
	size_t strikes = 1 + below(6);

	for (size_t i = 0; i < strikes && size > 16; i++) {
		size_t at = pick_place(size, marks, nr_marks), width = (size_t)1 << below(4);
		uint64_t number = nasty_number(size);

		switch (below(8)) {
		case 0:
		case 1:
			data[at] ^= (unsigned char)(1u << below(8));
			break;
		case 2:
		case 3:
		case 4:
			if (width > size - at)
				width = size - at;
			memcpy(data + at, &number, width);
			break;
		case 5:
			strike_text(data, at, size);
			break;
		case 6: {
			size_t from = below(size), len = 1 + below(256);

			if (len <= size - from && len <= size - at)
				memmove(data + at, data + from, len);
			break;
		}
		default:
			if (!below(4))
				size = at;
			break;
		}
	}
	return size;
}

static unsigned int count_makes(void)
{
	unsigned int count = 0;

	while (dat_makes[count].name)
		count++;
	return count;
}

/* Small variants of files, because many attempts per second are more effective than large files. */
static void run_input(uint64_t number)
{
	size_t size, marks[DAT_MAKE_MARKS] = { 0 }, nr_marks = 0;
	struct dat_make what;
	unsigned char *data;

	rng = SEED ^ (number * UINT64_C(0xd1342543de82ef95));
	what = dat_makes[below(count_makes())];
	if (what.events > 40)
		what.events = what.flags & MAKE_LOST ? 150 : 40;
	data = dat_make(&what, &size, marks);
	while (nr_marks < DAT_MAKE_MARKS - 1 && marks[nr_marks] < size)
		nr_marks++;
	size = mutate(data, size, marks, nr_marks);
	run_commands(data, size);
	free(data);
}

static uint64_t current;
static pid_t test_pid;
static bool is_over;

/* The sanitizers' reports exist if they end the process themselves; the text went to the command's stderr. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/* Built by gcc, only the address sanitizer has the callback: the other sanitizer raises a signal instead. */
const char *__ubsan_default_options(void) __attribute__((visibility("default")));

const char *__ubsan_default_options(void)
{
	return "abort_on_error=1";
}

static void say_end(const char *how)
{
	char text[16384];
	ssize_t n = error_fd < 0 ? 0 : pread(error_fd, text, sizeof(text), 0);

	dprintf(TAP_FD, "not ok 1 - input %llu: %s\n# repeat: tests/fuzz/fuzz_dat %llu\n", (unsigned long long)current,
		how, (unsigned long long)current);
	for (ssize_t i = 0, start = 0; i < n; i++) {
		if (text[i] != '\n')
			continue;
		dprintf(TAP_FD, "# %.*s\n", (int)(i - start), text + start);
		start = i + 1;
	}
}

static void on_death(void)
{
	/* The children that try formats out may die. */
	if (getpid() == test_pid)
		say_end("a sanitizer's report");
}

/* No command ends the process, nor does a library that it calls. */
static void on_exit_called(void)
{
	if (getpid() == test_pid && !is_over)
		say_end("something called exit()");
}

static void on_crash(int sig)
{
	say_end(sig == SIGALRM ? "it hangs" : strsignal(sig));
	_exit(1);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	return getenv(name) ? strtoull(getenv(name), NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
	const struct rlimit memory = { .rlim_cur = MEMORY_MAX, .rlim_max = MEMORY_MAX };
	/* 150 inputs take 4 s of processor time, measured on 2026-11-27 on a virtual machine. */
	const uint64_t nr = argc > 1 ? 1 : number("FUZZ_INPUTS", 150);
	const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : number("FUZZ_FIRST", 0);
	const time_t end = time(NULL) + (time_t)number("FUZZ_LIMIT", 60);

	/* Standard output is the commands'; the test prints to a copy of it. */
	if (dup2(1, TAP_FD) < 0)
		return 1;
	test_pid = getpid();
	atexit(on_exit_called);
	signal(SIGALRM, on_crash);
	signal(SIGABRT, on_crash);
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(on_death);
	} else {
		signal(SIGSEGV, on_crash);
		signal(SIGBUS, on_crash);
		signal(SIGFPE, on_crash);
		if (setrlimit(RLIMIT_DATA, &memory))
			return 1;
	}
	dprintf(TAP_FD, "1..1\n");
	for (current = first; current - first < nr && time(NULL) < end; current++) {
		alarm(HANG_AFTER);
		run_input(current);
	}
	rmdir(directory);
	is_over = true;
	dprintf(TAP_FD, "ok 1 - the commands survive damaged files\n# %llu of %llu inputs%s\n",
		(unsigned long long)(current - first), (unsigned long long)nr,
		current - first < nr ? ": FUZZ_LIMIT seconds were over" : "");
	return 0;
}
