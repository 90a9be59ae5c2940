/* SPDX-License-Identifier: MIT */
#include "hostile.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "librecorder/os/identity.h"
#include "librecorder/process/process.h"
#include "librecorder/ring/ring_private.h"
#include "tests/unit/repeat.h"
#include "tests/unit/tell.h"

#define LANES	   3u
#define LANE_PAGES HOSTILE_LANE_PAGES
#define HANG_AFTER 600u /* seconds; a round takes milliseconds, if others leave it a CPU */

REC_EVENT(fuzz, plain, u64(number), u32(size));
REC_EVENT(fuzz, every, string(text), bytes(data), array(u16, row, 3), real(ratio, 2), named(op, SIGHUP, SIGINT),
	  flag(on));

char hostile_path[PATH_MAX];
char hostile_dir[PATH_MAX];

/* The file as it was made. */
static unsigned char *good;
static size_t good_size;
static int file = -1;

/* ------------------------------------------------------------------------------------------------------- making */

static void trace(unsigned int events)
{
	static const unsigned char data[40] = "bytes";
	static const uint16_t row[3] = { 1, 2, 3 };
	struct rec_slot slot;
	void *payload;

	for (unsigned int i = 0; i < events; i++) {
		REC(fuzz, plain, i, i * 2);
		if (i % 5 == 0)
			REC(fuzz, every, "some text", data, i % sizeof(data), row, i / 3.0, (int)(i % 3), i % 2 == 0);
		if (i % 11 == 0)
			rec_printf("number %u of %s", i, "them");
		payload = i % 7 == 0 ? rec_reserve(rec_thread_handle, 100 + i % 50, &slot) : NULL;
		if (payload)
			rec_discard(&slot, payload);
	}
}

static void *trace_in_thread(void *arg)
{
	rec_thread_name("one of them");
	trace((unsigned int)(size_t)arg);
	/* The thread keeps its lane, so that there are several lanes. */
	for (;;)
		pause();
	return NULL;
}

/* Takes a page or two, as a reader that was killed would leave it. */
static void read_some(void)
{
	struct rec_view *view;
	struct rec_page page;

	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	for (unsigned int lane = 0; lane < rec_view_lanes(view); lane++)
		for (unsigned int i = 0; i <= lane; i++)
			rec_view_read(view, lane, 0, &page);
	rec_view_close(view);
}

/* The program. It ends with _exit(). */
static void run_program(void)
{
	struct rec_options options = REC_OPTIONS_INIT;
	pthread_t thread;

	options.lane_size = LANE_PAGES * 4080ul;
	options.memory_max = LANES * 80000ul;
	options.clock = REC_CLOCK_TSC;
#if !defined(__x86_64__)
	options.clock = REC_CLOCK_MONO;
#endif
	if (rec_configure(&options) < 0 || rec_enable("*") < 0)
		_exit(2);
	for (size_t i = 1; i < LANES; i++)
		if (pthread_create(&thread, NULL, trace_in_thread, (void *)(i * 700)))
			_exit(3);
	while (__atomic_load_n(&rec_process_header()->nr_lanes, __ATOMIC_ACQUIRE) < LANES - 1)
		sched_yield();
	trace(300);
	read_some();
	trace(40);
	_exit(0);
}

/* The one file in the directory. */
static void find_file(void)
{
	char command[PATH_MAX + 64];
	FILE *list;

	snprintf(command, sizeof(command), "echo '%s'/*.rec", hostile_dir);
	list = popen(command, "r");
	cr_assert_not_null(list);
	cr_assert_not_null(fgets(hostile_path, sizeof(hostile_path), list));
	pclose(list);
	hostile_path[strcspn(hostile_path, "\n")] = '\0';
}

void hostile_make(void)
{
	struct stat st;
	int status = -1;
	pid_t child;

	strcpy(hostile_dir, "/dev/shm/fuzz.XXXXXX");
	cr_assert_not_null(mkdtemp(hostile_dir));
	setenv("RECORDER_DIR", hostile_dir, 1);
	child = fork();
	if (child == 0) {
		setenv("RECORDER_KEEP", "1", 1);
		run_program();
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "the program ended with %x", (unsigned int)status);
	find_file();
	file = open(hostile_path, O_RDWR | O_CLOEXEC);
	cr_assert(file >= 0 && fstat(file, &st) == 0);
	good_size = (size_t)st.st_size;
	good = malloc(good_size);
	cr_assert_eq(pread(file, good, good_size, 0), st.st_size);
}

void hostile_remove(void)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", hostile_dir);
	cr_assert_eq(system(command), 0);
	free(good);
	close(file);
}

static const struct rec_buffer_header *header_of_good(void)
{
	return (const struct rec_buffer_header *)(const void *)good;
}

/* Write the good buffer. Pages of zeros stay holes in the file. */
static void write_good(void)
{
	static const unsigned char zeros[REC_MAP_PAGE];

	for (size_t at = 0; at < good_size; at += REC_MAP_PAGE)
		if (memcmp(good + at, zeros, REC_MAP_PAGE))
			cr_assert_eq(pwrite(file, good + at, REC_MAP_PAGE, (off_t)at), REC_MAP_PAGE);
}

static void strike_at(int fd, const void *bytes, size_t size, uint64_t at)
{
	/* No byte after the end is read: truncated files are tested separately. */
	if (size && pwrite(fd, bytes, size, (off_t)at) < 0)
		abort();
}

void hostile_restore(bool alive)
{
	const uint32_t pid = (uint32_t)getpid();
	uint64_t start_time = 0;

	/* If the file was recovered, it was removed. */
	if (access(hostile_path, F_OK) < 0) {
		close(file);
		file = open(hostile_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	}
	if (file < 0 || ftruncate(file, 0) < 0 || ftruncate(file, (off_t)good_size) < 0)
		abort();
	write_good();
	if (!alive)
		return;
	rec_process_start_time((pid_t)pid, &start_time);
	strike_at(file, &pid, sizeof(pid), offsetof(struct rec_buffer_header, pid));
	strike_at(file, &start_time, sizeof(start_time), offsetof(struct rec_buffer_header, start_time));
}

/* ------------------------------------------------------------------------------------------------------- striking */

struct place {
	uint64_t at;
	size_t size;
};

/* The words of a lane that readers write. */
static struct place shared_place(struct hostile_random *random, const struct rec_buffer_header *header, uint64_t lane)
{
	const uint64_t reader = lane + header->lane_reader;

	if (hostile_below(random, 2))
		return (struct place){ reader, sizeof(struct rec_lane_reader) };
	return (struct place){ reader + sizeof(struct rec_lane_reader), (LANE_PAGES + 2) * sizeof(struct rec_link) };
}

static struct place lane_place(struct hostile_random *random, const struct rec_buffer_header *header, uint64_t lane)
{
	const uint64_t subbufs = lane + header->lane_meta + header->subbuf_size;
	const uint64_t subbuf = subbufs + hostile_below(random, LANE_PAGES + 1) * header->subbuf_size;

	switch (hostile_below(random, 8)) {
	case 0:
	case 1:
		return (struct place){ lane, sizeof(struct rec_lane) };
	case 2:
		return (struct place){ lane + sizeof(struct rec_lane), (LANE_PAGES + 2) * sizeof(struct rec_subbuf) };
	case 3:
	case 4:
		return shared_place(random, header, lane);
	case 5:
		return (struct place){ lane + header->lane_meta, sizeof(struct rec_meta) };
	case 6:
		return (struct place){ subbuf, 64 };
	default:
		return (struct place){ subbuf, header->subbuf_size };
	}
}

static struct place pick_place(struct hostile_random *random, const struct rec_buffer_header *header)
{
	const uint64_t lane = header->lanes + hostile_below(random, LANES) * header->lane_stride;

	switch (hostile_below(random, 16)) {
	case 0:
		return (struct place){ 0, offsetof(struct rec_buffer_header, comm) };
	case 1:
		return (struct place){ offsetof(struct rec_buffer_header, comm), sizeof(*header) };
	case 2:
		return (struct place){ header->enable, 64 };
	case 3:
		return (struct place){ header->rules, sizeof(struct rec_rules) };
	case 4:
	case 5:
		return (struct place){ header->log, header->log_used };
	default:
		return lane_place(random, header, lane);
	}
}

/* A number, or a whole range filled with it. Words of the file are aligned, and numbers mostly are words. */
static void strike_place(struct hostile_random *random, int fd, const struct place *place)
{
	const size_t width = (size_t)1 << hostile_below(random, 4);
	unsigned char bytes[512];
	size_t size = width, at = hostile_below(random, place->size);
	uint64_t number = hostile_number(random);

	if (hostile_below(random, 8))
		at -= at % width;
	if (hostile_below(random, 16) == 0)
		size = hostile_below(random, sizeof(bytes)) + 1;
	for (size_t i = 0; i < size; i++) {
		if (size > width && i % width == 0 && hostile_below(random, 4) == 0)
			number = hostile_number(random);
		bytes[i] = (unsigned char)(number >> i % 8 * 8);
	}
	size = size < place->size - at ? size : place->size - at;
	strike_at(fd, bytes, size, place->at + at);
}

void hostile_strike(struct hostile_random *random)
{
	size_t strikes = 1 + hostile_below(random, 6);

	while (strikes--) {
		const struct place place = pick_place(random, header_of_good());

		strike_place(random, file, &place);
	}
	if (hostile_below(random, 64) == 0 && ftruncate(file, (off_t)hostile_below(random, good_size)) < 0)
		abort();
}

void hostile_strike_shared(struct hostile_random *random, int fd, const struct rec_buffer_header *header)
{
	const uint64_t lane = header->lanes + hostile_below(random, header->nr_lanes) * header->lane_stride;
	struct place place = shared_place(random, header, lane);

	if (hostile_below(random, 8) == 0)
		place = (struct place){ header->enable, 64 };
	else if (hostile_below(random, 8) == 0)
		place = (struct place){ header->rules, sizeof(struct rec_rules) };
	strike_place(random, fd, &place);
}

/* ------------------------------------------------------------------------------------------------------ scribbling */

static struct hostile_random scribble_random;
static pthread_t scribbler;
static bool scribbling;

static void *scribble(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&scribbling, __ATOMIC_RELAXED))
		hostile_strike(&scribble_random);
	return NULL;
}

void hostile_scribble(uint64_t seed)
{
	scribble_random.state = seed;
	scribbling = true;
	if (pthread_create(&scribbler, NULL, scribble, NULL))
		abort();
}

void hostile_scribble_end(void)
{
	__atomic_store_n(&scribbling, false, __ATOMIC_RELAXED);
	pthread_join(scribbler, NULL);
}

/* ---------------------------------------------------------------------------------------------------------- rounds */

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void run_rounds(void (*round)(uint64_t number), uint64_t *number)
{
	const time_t end = time(NULL) + (time_t)from_environment("FUZZ_SECONDS", 5);

	do {
		alarm(HANG_AFTER);
		round(*number);
		++*number;
	} while (time(NULL) < end);
	alarm(0);
}

void hostile_rounds(const char *name, void (*round)(uint64_t number))
{
	const uint64_t first = from_environment("FUZZ_FIRST", 0);
	uint64_t *number = mmap(NULL, sizeof(*number), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t child;

	cr_assert_neq(number, MAP_FAILED);
	*number = first;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_rounds(round, number);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	repeat_by("FUZZ_FIRST=%llu FUZZ_SECONDS=0", (unsigned long long)*number);
	tell("%s: rounds %llu to %llu", name, (unsigned long long)first, (unsigned long long)*number);
	cr_assert(!WIFSIGNALED(status), "round %llu: %s (FUZZ_FIRST=%llu begins there)", (unsigned long long)*number,
		  WTERMSIG(status) == SIGALRM ? "it hangs" : strsignal(WTERMSIG(status)), (unsigned long long)*number);
	cr_assert_eq(status, 0, "round %llu ended with status %d", (unsigned long long)*number, WEXITSTATUS(status));
	repeat_nothing();
}
