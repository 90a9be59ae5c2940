/* SPDX-License-Identifier: MIT */
/*
 * Programs killed at each test point of a resize, and of growing and giving up lanes: every event that was committed is
 * read exactly once, in order within its lane, and no other event is read.
 */
#include "tests/unit/tell.h"
#include "tracer.h"

#include <criterion/criterion.h>

#if defined(__x86_64__)

#include <dirent.h>
#include <fcntl.h>
#include <librecorder/page.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENTS_MAX 1000u

static struct tracer_points points;
static char program[512], where[512], notes[600];
/* The number of committed events; for victim_grows also the number of these that were read. */
static uint64_t *committed;

static void set_up(void)
{
	const char *top = getenv("top_builddir");
	int fd;

	cr_assert_not_null(top);
	snprintf(where, sizeof(where), "%s/tests/points-XXXXXX", top);
	cr_assert_not_null(mkdtemp(where));
	snprintf(notes, sizeof(notes), "%s/notes", where);
	fd = open(notes, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, 2 * sizeof(*committed)), 0);
	committed = mmap(NULL, 2 * sizeof(*committed), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(committed, MAP_FAILED);
	close(fd);
}

static void read_points(const char *victim)
{
	snprintf(program, sizeof(program), "%s/tests/crash/%s", getenv("top_builddir"), victim);
	cr_assert_eq(tracer_read_points(program, &points), 0);
}

static void tear_down(void)
{
	unlink(notes);
	rmdir(where);
}

TestSuite(resizes, .init = set_up, .fini = tear_down, .timeout = 3600);

struct life {
	struct tracer_run run;
	unsigned int left; /* the process is killed when it has reached the point this many more times */
};

static enum tracer_order at_point(struct tracer_run *run, unsigned int point)
{
	struct life *life = run->arg;

	(void)point;
	return --life->left ? TRACER_GO : TRACER_KILL;
}

static enum tracer_end live(unsigned int point, unsigned int hit)
{
	char dir[600];
	const char *const argv[] = { program, notes, NULL };
	const char *const envp[] = { dir, "RECORDER_BUFFER_KB=80", "RECORDER_KEEP=1", NULL };
	struct life life = { .run = { .points = &points, .memory = -1, .at_point = at_point }, .left = hit };

	snprintf(dir, sizeof(dir), "RECORDER_DIR=%s", where);
	committed[0] = committed[1] = 0;
	life.run.arg = &life;
	life.run.armed[point] = true;
	cr_assert_eq(tracer_start(&life.run, argv, envp), 0);
	return tracer_run(&life.run);
}

static uint64_t number_of(const struct rec_record *record)
{
	uint64_t number;

	memcpy(&number, (const unsigned char *)record->payload + 8, sizeof(number));
	return number;
}

/* Returns the number of lost events. */
static uint64_t read_lane(struct rec_view *view, unsigned int lane, bool *seen)
{
	struct rec_view_event event;
	uint64_t next = 0, number, lost = 0;
	int r;

	while ((r = rec_view_consume(view, lane, &event)) > 0) {
		number = number_of(&event.record);
		cr_assert(number < EVENTS_MAX && !seen[number], "event %d came twice", (int)number);
		cr_assert_geq(number, next);
		lost += event.lost;
		seen[number] = true;
		next = number + 1;
	}
	cr_assert_eq(r, 0, "lane %u: %d", lane, r);
	return lost + event.lost;
}

/* Read what the process left, and remove it. Events may be lost only if `may_lose`; lost events are counted. */
static void check(bool may_lose)
{
	bool seen[EVENTS_MAX] = { false };
	uint64_t i, lost = 0, came = 0;
	struct rec_view *view = NULL;
	struct dirent *entry;
	unsigned int lane;
	DIR *dir = opendir(where);
	char path[900];

	cr_assert_not_null(dir);
	while ((entry = readdir(dir)) && !strstr(entry->d_name, ".rec"))
		continue;
	cr_assert_not_null(entry);
	snprintf(path, sizeof(path), "%s/%s", where, entry->d_name);
	closedir(dir);
	cr_assert_eq(rec_view_open(path, &view), 0);
	for (lane = 0; lane < rec_view_lanes(view); lane++)
		lost += read_lane(view, lane, seen);
	for (i = 0; i < EVENTS_MAX; i++) {
		const bool due = i >= committed[1] && i < committed[0];

		cr_assert(seen[i] == due || i == committed[0] || (due && may_lose), "event %d of %d", (int)i,
			  (int)committed[0]);
		came += seen[i];
	}
	/* The process may have been killed after it committed one event, and before it noted that. */
	i = came + lost - (committed[0] - committed[1]);
	cr_assert_leq(i, 1, "%d came, %d lost, of %d", (int)came, (int)lost, (int)(committed[0] - committed[1]));
	cr_assert(may_lose || !lost);
	rec_view_close(view);
	unlink(path);
}

static bool is_among(unsigned int point, const char *const *names)
{
	for (; *names; names++)
		if (!strncmp(points.names[point], *names, strlen(*names)))
			return true;
	return false;
}

/* Kill at each of these points, each time that the program reaches it; there must be at least `least` points. */
static void kill_at_each(const char *const *names, unsigned int least, bool may_lose)
{
	unsigned int point, hit, kills = 0, met = 0;
	enum tracer_end end;

	for (point = 0; point < points.count; point++) {
		if (!is_among(point, names))
			continue;
		for (hit = 1, end = TRACER_KILLED; end == TRACER_KILLED; hit++) {
			end = live(point, hit);
			cr_assert(end == TRACER_KILLED || end == TRACER_ENDED, "%s, time %u", points.names[point], hit);
			check(may_lose);
			kills += end == TRACER_KILLED;
		}
		cr_assert_gt(hit, 2, "%s was never reached", points.names[point]);
		met++;
	}
	tell("%u kills at %u test points", kills, met);
	cr_assert_geq(met, least);
}

Test(resizes, killed_at_each_point)
{
	static const char *const names[] = { "resize_", "move_", "anew_", "restart_", NULL };

	read_points("victim_resizes");
	kill_at_each(names, 11, false);
}

Test(resizes, killed_while_growing)
{
	static const char *const names[] = { "grow_", "unmake_", "remake_", "anew_hidden", "restart_", NULL };

	read_points("victim_grows");
	kill_at_each(names, 10, true);
}

#else

Test(resizes, need_ptrace_on_x86)
{
	cr_skip_test("breakpoints are set on x86-64 only");
}

#endif
