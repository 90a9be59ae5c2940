/* SPDX-License-Identifier: MIT */
/*
 * Our page reader reads the kernel's pages: of an instance with real events, with every clock and in sub-buffers of
 * several sizes, with gaps longer than a time delta holds, with pages that were overwritten, read whole and in pieces.
 * libtraceevent's kbuffer also reads each page, event by event. The totals of events and of lost events must be those
 * that the kernel counted. Prints TAP.
 */
#include "kernel_tracefs.h"
#include "page_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPUS_MAX	 256
#define IOCTL_GET_READER _IO('R', 0x20)

#define PAGES_KEPT 24 /* of each ring */

/* Systems that every kernel with tracing has, then those that make many or long events. */
static const char *const systems[] = { "sched",	   "irq",	   "timer",	  "signal", "task",
				       "syscalls", "raw_syscalls", "irq_vectors", "kmem" };

struct totals {
	uint64_t events, lost;
	uint32_t from; /* events before it on the page were counted */
	bool lost_unknown;
};

struct pages {
	struct tracefs fs;
	int cpus;
	struct page_walk walk;
	struct totals cpu[CPUS_MAX];
	unsigned char *page;
	uint32_t subbuf_size;
	unsigned int checks, seed;
	bool is_bad;
};

static void say(struct pages *p, bool good, const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++p->checks, name);
}

static void skip(struct pages *p, const char *name, const char *reason)
{
	printf("ok %u - %s # SKIP %s\n", ++p->checks, name, reason);
}

static void set(struct pages *p, const char *file, const char *value)
{
	const int r = tracefs_set(&p->fs, file, value);

	if (r == 0)
		return;
	printf("Bail out! %s: %s\n", file, strerror(-r));
	exit(1);
}

/* ------------------------------------------------------------------------------------------------------- making */

static void write_to(int fd, const void *bytes, size_t size)
{
	/* A marker that does not fit is refused, or cut. */
	if (write(fd, bytes, size) < 0)
		return;
}

/* Do things that are events of the kernel, and write texts and blobs of all lengths. */
static void make_events(struct pages *p, unsigned int rounds)
{
	const struct timespec moment = { 0, 20000 };
	const int text = tracefs_fd(&p->fs, O_WRONLY, "trace_marker");
	const int blob = tracefs_fd(&p->fs, O_WRONLY, "trace_marker_raw");
	char bytes[4200];
	unsigned int i;

	memset(bytes, 'x', sizeof(bytes));
	while (rounds--) {
		for (i = 0; i < 10; i++)
			syscall(SYS_getppid);
		/* The length of the sleep does not matter: it causes a switch of tasks, which is an event. */
		if (rounds % 8 == 0)
			nanosleep(&moment, NULL);
		write_to(text, bytes, 1 + (unsigned int)rand_r(&p->seed) % (rounds % 5 ? 100 : 4090));
		write_to(blob, bytes, 4 + (unsigned int)rand_r(&p->seed) % (rounds % 7 ? 130 : 4000));
	}
	close(text);
	close(blob);
}

/*
 * Make a pause of more than 2^27 units of a clock that counts nanoseconds or faster, with only a marker before it and
 * one after it. The clock is the kernel's own, so the test has to wait.
 */
static void make_gap(struct pages *p)
{
	const struct timespec gap = { 0, 150000000 };
	const int blob = tracefs_fd(&p->fs, O_WRONLY, "trace_marker_raw");

	write_to(blob, "before", 6);
	nanosleep(&gap, NULL);
	write_to(blob, "behind", 6);
	close(blob);
}

/* ------------------------------------------------------------------------------------------------------- reading */

static bool see_event(void *data, struct page_walk *walk, const struct rec_record *record)
{
	struct totals *totals = data;
	struct rec_event_common common;

	totals->events += record->offset >= totals->from;
	if (record->size >= sizeof(common)) {
		memcpy(&common, record->payload, sizeof(common));
		if (common.type)
			return true;
	}
	snprintf(walk->why, sizeof(walk->why), "at %u: no event of the kernel's", record->offset);
	return false;
}

static void see_page(struct pages *p, int cpu, bool is_new)
{
	struct totals *totals = &p->cpu[cpu];
	const uint64_t lost = rec_page_lost(p->page, p->subbuf_size - REC_SUBBUF_HEADER_SIZE);

	if (is_new && lost == UINT64_MAX)
		totals->lost_unknown = true;
	else if (is_new)
		totals->lost += lost;
	if (page_walk_compare(&p->walk, p->page, p->subbuf_size, see_event, totals))
		return;
	printf("# cpu %d: %s\n", cpu, p->walk.why);
	p->is_bad = true;
}

/* Read all that a CPU's ring holds; `piece` bytes at a time, if it is not 0. */
static void read_ring(struct pages *p, int cpu, uint32_t piece, unsigned int pages_max)
{
	const int fd = tracefs_cpu_fd(&p->fs, cpu, O_RDONLY | O_NONBLOCK, "trace_pipe_raw");
	uint32_t count = piece ? piece : p->subbuf_size;

	while (pages_max && !p->is_bad) {
		ssize_t n = read(fd, p->page, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		/* No event fits into the piece: read a whole page. */
		if (n == 0) {
			count = p->subbuf_size;
			continue;
		}
		if ((uint32_t)n < p->subbuf_size && read(fd, p->page + n, p->subbuf_size - (uint32_t)n) < 0)
			break;
		see_page(p, cpu, true);
		count = piece ? piece : p->subbuf_size;
		pages_max--;
	}
	close(fd);
}

static void read_rings(struct pages *p, uint32_t piece, unsigned int pages_max)
{
	int cpu;

	for (cpu = 0; cpu < p->cpus; cpu++)
		read_ring(p, cpu, piece, pages_max);
}

/* The reader page of a mapped ring, in place. */
struct mapped {
	int fd;
	void *map;
	size_t size;
	const struct rec_meta *meta;
	uint32_t id, read; /* of the reader page, as last seen */
};

static bool map_ring(struct pages *p, int cpu, struct mapped *ret_ring)
{
	struct mapped ring = { .fd = tracefs_cpu_fd(&p->fs, cpu, O_RDONLY | O_NONBLOCK, "trace_pipe_raw") };
	void *first = mmap(NULL, REC_MAP_PAGE, PROT_READ, MAP_SHARED, ring.fd, 0);

	if (first == MAP_FAILED) {
		close(ring.fd);
		return false;
	}
	ring.meta = first;
	ring.size = ring.meta->meta_page_size + (size_t)ring.meta->nr_subbufs * ring.meta->subbuf_size;
	munmap(first, REC_MAP_PAGE);
	ring.map = mmap(NULL, ring.size, PROT_READ, MAP_SHARED, ring.fd, 0);
	ring.meta = ring.map;
	*ret_ring = ring;
	return ring.map != MAP_FAILED;
}

/* Read all that the ring holds, while nothing writes. If a page comes again, what is before `read` was seen already. */
static void read_mapped(struct pages *p, int cpu, struct mapped *ring)
{
	struct totals *totals = &p->cpu[cpu];

	while (!p->is_bad && ioctl(ring->fd, IOCTL_GET_READER) == 0) {
		const uint32_t id = ring->meta->reader_id, read = ring->meta->reader_read;

		if (id == ring->id && read == ring->read)
			return;
		memcpy(p->page, (char *)ring->map + ring->meta->meta_page_size + (size_t)id * p->subbuf_size,
		       p->subbuf_size);
		totals->from = id == ring->id ? ring->read : 0;
		/* The loss stays on the page, but it is new only the first time. */
		see_page(p, cpu, totals->from == 0);
		totals->from = 0;
		ring->id = id;
		ring->read = read;
	}
}

static bool is_accounted(struct pages *p, int cpu)
{
	const struct totals *totals = &p->cpu[cpu];
	unsigned long long entries, overrun, read_events;
	char file[64], text[512], *at;

	snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
	if (tracefs_get(&p->fs, file, text, sizeof(text)) <= 0)
		return false;
	at = strstr(text, "read events: ");
	if (!at || sscanf(text, "entries: %llu\noverrun: %llu", &entries, &overrun) != 2 ||
	    sscanf(at, "read events: %llu", &read_events) != 1)
		return false;
	if (entries == 0 && read_events == totals->events &&
	    (totals->lost_unknown ? totals->lost <= overrun : totals->lost == overrun))
		return true;
	printf("# cpu %d: we saw %" PRIu64 " events and %" PRIu64
	       " lost; the kernel has %llu read, %llu lost, %llu left\n",
	       cpu, totals->events, totals->lost, read_events, overrun, entries);
	return false;
}

static bool are_accounted(struct pages *p)
{
	uint64_t events = 0;
	int cpu;
	bool good = true;

	for (cpu = 0; cpu < p->cpus; cpu++) {
		good = is_accounted(p, cpu) && good;
		events += p->cpu[cpu].events;
	}
	return good && events;
}

/* ------------------------------------------------------------------------------------------------------- running */

static void switch_events(struct pages *p, const char *value)
{
	char file[64];
	size_t i;

	for (i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		snprintf(file, sizeof(file), "events/%s/enable", systems[i]);
		tracefs_set(&p->fs, file, value); /* where there is such a system */
	}
}

/* Begin with an empty ring, and with tracing off. */
static void begin(struct pages *p, const char *clock, uint32_t subbuf_size)
{
	char value[32];

	set(p, "tracing_on", "0");
	snprintf(value, sizeof(value), "%u", subbuf_size / 1024);
	set(p, "buffer_subbuf_size_kb", value);
	snprintf(value, sizeof(value), "%u", PAGES_KEPT * subbuf_size / 1024);
	set(p, "buffer_size_kb", value);
	set(p, "trace_clock", clock);
	set(p, "trace", "");
	memset(p->cpu, 0, sizeof(p->cpu));
	p->subbuf_size = subbuf_size;
	p->is_bad = false;
}

static void run(struct pages *p, const char *clock, uint32_t subbuf_size)
{
	char name[128];
	const bool has_gap = subbuf_size == 4096 && strcmp(clock, "counter") != 0 && strcmp(clock, "uptime") != 0;

	begin(p, clock, subbuf_size);
	set(p, "tracing_on", "1");
	if (has_gap) {
		make_gap(p);
		read_rings(p, 0, 1);
	}
	switch_events(p, "1");
	make_events(p, 40);
	read_rings(p, 0, PAGES_KEPT);
	make_events(p, subbuf_size / 40);
	read_rings(p, subbuf_size / 3, 6);
	set(p, "options/stacktrace", "1");
	make_events(p, 40);
	set(p, "options/stacktrace", "0");
	switch_events(p, "0");
	set(p, "tracing_on", "0");
	read_rings(p, subbuf_size / 2, 6);
	read_rings(p, 0, UINT32_MAX);

	snprintf(name, sizeof(name), "clock %s, sub-buffers of %u bytes: kbuffer and we read the same", clock,
		 subbuf_size);
	say(p, !p->is_bad, name);
	snprintf(name, sizeof(name),
		 "clock %s, sub-buffers of %u bytes: what was read and lost is what the kernel counted", clock,
		 subbuf_size);
	say(p, are_accounted(p), name);
}

/* A few events, then many, both seen through a mapping of the ring. */
static void run_mapped(struct pages *p)
{
	static const char *const names[] = { "mapped: kbuffer and we read the same",
					     "mapped: what was read and lost is what the kernel counted" };
	struct mapped ring;
	const int cpu = tracefs_pin();

	begin(p, "local", 4096);
	if (!map_ring(p, cpu, &ring)) {
		skip(p, names[0], "this kernel maps no rings");
		skip(p, names[1], "this kernel maps no rings");
		return;
	}
	set(p, "tracing_on", "1");
	make_events(p, 3);
	set(p, "tracing_on", "0");
	read_mapped(p, cpu, &ring);
	set(p, "tracing_on", "1");
	make_events(p, 2);
	switch_events(p, "1");
	make_events(p, 100);
	switch_events(p, "0");
	set(p, "tracing_on", "0");
	read_mapped(p, cpu, &ring);
	say(p, !p->is_bad, names[0]);
	say(p, p->cpu[cpu].events && is_accounted(p, cpu), names[1]);
	munmap(ring.map, ring.size);
	close(ring.fd);
}

static void run_clocks(struct pages *p)
{
	static const uint32_t sizes[] = { 4096, 8192, 65536 };
	char text[256], *clock, *rest = text;
	size_t i;

	if (tracefs_get(&p->fs, "trace_clock", text, sizeof(text)) <= 0)
		return;
	while ((clock = strsep(&rest, "[] \n")) != NULL)
		for (i = 0; *clock && i < sizeof(sizes) / sizeof(sizes[0]); i++)
			run(p, clock, sizes[i]);
}

static void check_variety(struct pages *p)
{
	const struct page_walk *walk = &p->walk;

	printf("# %" PRIu64 " pages, %" PRIu64 " events, %" PRIu64 " of them long, %" PRIu64 " time extends, %" PRIu64
	       " absolute stamps, %" PRIu64 " paddings, %" PRIu64 " and %" PRIu64
	       " losses with and without number, %" PRIu64 " that kbuffer hides\n",
	       walk->pages, walk->events, walk->long_events, walk->extends, walk->stamps, walk->paddings,
	       walk->counted_losses, walk->uncounted_losses, walk->hidden_losses);
	say(p, walk->events > 10000, "events");
	say(p, walk->long_events > 100, "long events");
	say(p, walk->extends > 0, "time extends");
	say(p, walk->paddings > 0, "padding");
	say(p, walk->counted_losses > 0, "losses with their number");
}

/* A test process that has an instance with an event on and an open ring sends the path of tracefs, and is killed. */
static void be_killed(const char *name, int to)
{
	struct tracefs fs;

	if (tracefs_open(&fs, name) || tracefs_set(&fs, "events/sched/enable", "1") < 0 ||
	    tracefs_cpu_fd(&fs, 0, O_RDONLY | O_NONBLOCK, "trace_pipe_raw") < 0)
		_exit(1);
	write_to(to, fs.root, strlen(fs.root) + 1);
	raise(SIGKILL);
}

/* Check that neither the instance nor the mount of the killed test is left. */
static bool is_cleaned_up(struct pages *p)
{
	const struct timespec moment = { 0, 10000000 };
	char name[64], root[64] = "";
	unsigned int tries = 6000;
	bool was_there;
	int ends[2], status = 0;
	pid_t child;

	snprintf(name, sizeof(name), "recorder-test-killed-%d", getpid());
	if (pipe(ends) < 0)
		return false;
	child = fork();
	if (child == 0)
		be_killed(name, ends[1]);
	close(ends[1]);
	was_there = read(ends[0], root, sizeof(root)) > 1;
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFSIGNALED(status))
		return false;
	/* A guard that is not our child removes the instance, so we can only poll, for a minute at the most. */
	while ((tracefs_exists(&p->fs, name) || access(root, F_OK) == 0) && --tries)
		nanosleep(&moment, NULL);
	return was_there && tries;
}

int main(void)
{
	static struct pages p;
	char name[64];
	const char *reason;

	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(name, sizeof(name), "recorder-test-pages-%d", getpid());
	reason = tracefs_open(&p.fs, name);
	if (reason) {
		printf("1..0 # SKIP %s\n", reason);
		return 0;
	}
	p.seed = 1;
	p.page = malloc(65536);
	p.cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	if (p.cpus > CPUS_MAX)
		p.cpus = CPUS_MAX;
	page_walk_init(&p.walk);
	say(&p, is_cleaned_up(&p), "the instance of a killed test is removed");
	run_clocks(&p);
	run_mapped(&p);
	check_variety(&p);
	say(&p, tracefs_close(&p.fs), "instance and mount are gone");
	printf("1..%u\n", p.checks);
	page_walk_free(&p.walk);
	free(p.page);
	return 0;
}
