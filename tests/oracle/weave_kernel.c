/* SPDX-License-Identifier: MIT */
/*
 * Records the running kernel in an instance of its own, by read(2), and weaves that with events of a program:
 *
 *	weave_kernel FILE VERSION woven|split|raw|alone CLOCK PAGE-KB
 *
 * A thread and its child move from CPU to CPU; each round is a write to trace_marker, then an event user:round, so that
 * only one order is right: "round=N", "n=N". FILE.trace is what the kernel itself shows of the instance. Standard
 * output: one line, rounds, and the kernel's own count of what was read.
 */
#include "kernel_tracefs.h"
#include "tests/unit/weave_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <librecorder/clock.h>
#include <librecorder/page.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPUS_MAX    256
#define FORMATS_MAX 4096
#define ROUNDS	    2000u
#define ROUND_ID    (REC_EVENT_ID_FIRST + 1)

static const char *const events[] = { "sched", "task", "raw_syscalls", "timer" };

struct kernel_cpu {
	char *path; /* side file with the pages */
	struct weave_file file;
	unsigned int pages, next;
	unsigned char *page;
};

struct recording {
	struct rec_source source; /* the kernel's CPUs, then the program's one lane */
	struct tracefs fs;
	struct kernel_cpu cpus[CPUS_MAX];
	unsigned int nr_cpus;
	uint32_t subbuf_size;
	struct fake *fake;
	struct weave_stream streams[CPUS_MAX + 1];
	struct weave_format formats[FORMATS_MAX];
	struct weave_kernel kernel;
	struct weave_text stats[CPUS_MAX];
	uint64_t read_events, overrun; /* the kernel's own counts */
};

static void die(const char *what, int err)
{
	fprintf(stderr, "weave_kernel: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

static void set(struct recording *r, const char *file, const char *value)
{
	const int err = tracefs_set(&r->fs, file, value);

	if (err)
		die(file, err);
}

/* Reads a whole file. The text is never freed. */
static struct weave_text text_of(const char *path)
{
	struct weave_text text = { NULL, 0 };
	const int fd = open(path, O_RDONLY);
	char *data = NULL;
	ssize_t got;

	if (fd < 0)
		die(path, errno);
	do {
		data = realloc(data, text.size + 65536);
		got = read(fd, data + text.size, 65536);
		text.size += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	close(fd);
	text.data = data;
	return text;
}

static struct weave_text text_in(const struct recording *r, const char *file)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/%s", r->fs.root, file);
	return text_of(path);
}

/* ------------------------------------------------------------------------------------------------- what happens */

/* An event of the program, stamped as the program would stamp it itself. */
static void user_event(struct recording *r, uint32_t clock, uint64_t number)
{
	const uint32_t cpu = (uint32_t)sched_getcpu();
	struct rec_anchor now;

	rec_clock_anchor(clock, &now);
	fake_put(r->fake, 0, cpu, now.clock, ROUND_ID, getpid(), number, FAKE_SIZE);
}

static void move_to(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void run_rounds(struct recording *r, uint32_t clock, bool with_user)
{
	const int marker = tracefs_fd(&r->fs, O_WRONLY, "trace_marker");
	const pid_t child = fork();
	uint64_t number;
	char text[32];
	int status;

	if (child == 0) {
		prctl(PR_SET_NAME, "renamed child");
		for (number = 0; number < 20; number++) {
			move_to((unsigned int)number % r->nr_cpus);
			usleep(100);
		}
		_exit(0);
	}
	for (number = 0; number < ROUNDS; number++) {
		if (number % 100 == 0)
			move_to((unsigned int)number / 100 % r->nr_cpus);
		/* The pause is longer than a time delta holds. */
		if (number == ROUNDS / 2)
			usleep(300000);
		snprintf(text, sizeof(text), "round=%u", (unsigned int)number);
		if (write(marker, text, strlen(text)) < 0)
			die("trace_marker", errno);
		if (with_user)
			user_event(r, clock, number);
	}
	waitpid(child, &status, 0);
	close(marker);
}

/* ----------------------------------------------------------------------------------------------- what was reported */

static void save_trace(struct recording *r, const char *output)
{
	char path[512], name[512];
	struct weave_text text;
	FILE *file;

	snprintf(name, sizeof(name), "instances/%s/trace", r->fs.name);
	text = text_in(r, name);
	snprintf(path, sizeof(path), "%s.trace", output);
	file = fopen(path, "w");
	if (!file || fwrite(text.data, 1, text.size, file) != text.size || fclose(file))
		die(path, errno);
}

static void take_formats(struct recording *r)
{
	static const char *const systems[] = { "ftrace", "sched", "task", "raw_syscalls", "timer" };
	char pattern[256];
	unsigned int i;
	size_t j;

	for (i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		glob_t found;

		snprintf(pattern, sizeof(pattern), "%s/events/%s/*/format", r->fs.root, systems[i]);
		if (glob(pattern, 0, NULL, &found))
			die(pattern, ENOENT);
		for (j = 0; j < found.gl_pathc; j++)
			r->formats[r->kernel.nr_formats++] =
				(struct weave_format){ systems[i], text_of(found.gl_pathv[j]) };
		globfree(&found);
	}
	r->kernel.formats = r->formats;
	r->kernel.printk = text_in(r, "printk_formats");
	r->kernel.kallsyms = text_of("/proc/kallsyms");
	r->kernel.cmdlines = text_in(r, "saved_cmdlines");
}

/* Copy all pages that a CPU has into a file of its own. */
static void take_pages(struct recording *r, unsigned int number, const char *output)
{
	struct kernel_cpu *cpu = &r->cpus[number];
	const int from = tracefs_cpu_fd(&r->fs, (int)number, O_RDONLY | O_NONBLOCK, "trace_pipe_raw");
	char name[96];
	ssize_t got;

	if (from < 0)
		die("trace_pipe_raw", from);
	cpu->page = aligned_alloc(4096, r->subbuf_size);
	cpu->path = malloc(strlen(output) + 16);
	sprintf(cpu->path, "%s.cpu%u", output, number);
	cpu->file.fd = open(cpu->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	cpu->file.offset = 8192;
	while ((got = read(from, cpu->page, r->subbuf_size)) > 0) {
		if (pwrite(cpu->file.fd, cpu->page, r->subbuf_size,
			   (off_t)(cpu->file.offset + (uint64_t)cpu->pages++ * r->subbuf_size)) !=
		    (ssize_t)r->subbuf_size)
			die(cpu->path, errno);
	}
	close(from);
	snprintf(name, sizeof(name), "instances/%s/per_cpu/cpu%u/stats", r->fs.name, number);
	r->stats[number] = text_in(r, name);
	r->read_events += strtoull(strstr(r->stats[number].data, "read events: ") + 13, NULL, 10);
	r->overrun += strtoull(strstr(r->stats[number].data, "overrun: ") + 9, NULL, 10);
}

static int next_page(struct rec_source *source, unsigned int number, struct rec_page *ret_page)
{
	struct recording *r = (struct recording *)source;
	struct kernel_cpu *cpu = &r->cpus[number];

	if (number == r->nr_cpus)
		return r->fake->source.next(&r->fake->source, 0, ret_page);
	if (cpu->next == cpu->pages)
		return 0;
	if (pread(cpu->file.fd, cpu->page, r->subbuf_size,
		  (off_t)(cpu->file.offset + (uint64_t)cpu->next++ * r->subbuf_size)) != (ssize_t)r->subbuf_size)
		return -errno;
	*ret_page = (struct rec_page){
		.data = cpu->page,
		.size = rec_page_size(cpu->page),
		.lost = rec_page_lost(cpu->page, r->subbuf_size - REC_SUBBUF_HEADER_SIZE),
	};
	return 1;
}

/* ------------------------------------------------------------------------------------------------- the whole */

static void record(struct recording *r, uint32_t clock, char *const *argv, bool with_user)
{
	char name[96];
	unsigned int i;

	r->nr_cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	set(r, "tracing_on", "0");
	set(r, "trace_clock", argv[4]);
	set(r, "buffer_size_kb", "8192");
	set(r, "buffer_subbuf_size_kb", argv[5]);
	/* Only this process and its children are recorded. */
	snprintf(name, sizeof(name), "%d", (int)getpid());
	set(r, "set_event_pid", name);
	set(r, "options/event-fork", "1");
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		snprintf(name, sizeof(name), "events/%s/enable", events[i]);
		set(r, name, "1");
	}
	set(r, "tracing_on", "1");
	run_rounds(r, clock, with_user);
	set(r, "tracing_on", "0");
	save_trace(r, argv[1]);
	take_formats(r);
	for (i = 0; i < r->nr_cpus; i++)
		take_pages(r, i, argv[1]);
}

static struct weave_stats weave_all(struct recording *r, uint32_t clock, const struct rec_anchor *anchors,
				    char *const *argv)
{
	const bool alone = !strcmp(argv[3], "alone");
	struct blob log = BLOB_INIT;
	struct weave_process processes[2];
	struct weave_params params;
	struct weave_stats stats;
	unsigned int i;
	int err;

	fake_log_event(&log, ROUND_ID, "user", "round", "u64(n)", 16);
	r->kernel.clock = argv[4];
	r->kernel.cpu_stats = r->stats;
	r->kernel.nr_cpu_stats = r->nr_cpus;
	for (i = 0; i < r->nr_cpus; i++)
		r->streams[i] = (struct weave_stream){ .process = 0, .cpu = i, .file = &r->cpus[i].file };
	r->streams[i] = (struct weave_stream){ .process = 1 };
	processes[0] = (struct weave_process){
		.kernel = &r->kernel, .clock = clock, .subbuf_size = r->subbuf_size, .comm = "kernel" };
	processes[1] = (struct weave_process){
		.pid = (uint32_t)getpid(), .clock = clock, .subbuf_size = 4096, .comm = "rounds", .log = log.data,
		.log_size = log.size };
	r->source.next = next_page;
	r->source.nr_streams = r->nr_cpus + !alone;
	params = (struct weave_params){
		.source = &r->source,
		.streams = r->streams,
		.processes = processes,
		.nr_processes = 1 + !alone,
		.anchors = anchors,
		.nr_anchors = 2,
		.output = argv[1],
		.version = (unsigned int)atoi(argv[2]),
		.raw = !strcmp(argv[3], "raw"),
		.buffers = strcmp(argv[3], "split") ? WEAVE_WOVEN : WEAVE_SPLIT,
		.nr_cpus = r->nr_cpus,
	};
	err = weave_to_dat(&params, &stats);
	if (err)
		die(argv[1], err);
	return stats;
}

int main(int argc, char **argv)
{
	struct recording *r = calloc(1, sizeof(*r));
	struct rec_anchor anchors[2];
	struct weave_stats stats;
	const char *reason;
	char name[64];
	uint32_t clock;
	unsigned int i;

	if (argc < 6)
		return 2;
	snprintf(name, sizeof(name), "recorder-test-weave-%d", (int)getpid());
	reason = tracefs_open(&r->fs, name);
	if (reason) {
		printf("skip: %s\n", reason);
		return 77;
	}
	clock = strcmp(argv[4], "x86-tsc") ? REC_CLOCK_MONO : REC_CLOCK_TSC;
	r->subbuf_size = (uint32_t)atoi(argv[5]) * 1024;
	r->fake = fake_new(1, 4096);
	prctl(PR_SET_NAME, "rounds");
	rec_clock_anchor(REC_CLOCK_TSC, &anchors[0]);
	record(r, clock, argv, strcmp(argv[3], "alone"));
	rec_clock_anchor(REC_CLOCK_TSC, &anchors[1]);
	stats = weave_all(r, clock, anchors, argv);
	for (i = 0; i < r->nr_cpus; i++)
		unlink(r->cpus[i].path);
	printf("rounds=%u read=%" PRIu64 " kernel=%" PRIu64 " events=%" PRIu64 " lost=%" PRIu64 " damaged=%" PRIu64
	       " raised=%" PRIu64 "\n",
	       ROUNDS, r->read_events, stats.kernel_events, stats.events, stats.lost + r->overrun,
	       stats.damaged_pages + stats.damaged_streams + stats.unknown_events, stats.time_raised);
	return tracefs_close(&r->fs) ? 0 : 1;
}
