/* SPDX-License-Identifier: MIT */
#include "points_life.h"
#include "tests/unit/tell.h"

#if defined(__x86_64__)

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct tracer_points points;
char program[512], where[512];
struct figures figures;

/* The points that were reached last, by any process. */
#define TRAIL 64u

static struct {
	unsigned int count;
	struct {
		pid_t pid;
		unsigned int point;
	} step[TRAIL];
} trail;

static void leave_trail(const struct tracer_run *run, unsigned int point)
{
	trail.step[trail.count % TRAIL].pid = run->pid;
	trail.step[trail.count++ % TRAIL].point = point;
}

bool is_named(unsigned int point, const char *beginning)
{
	return !strncmp(points.names[point], beginning, strlen(beginning));
}

bool is_readers(unsigned int point)
{
	return is_named(point, "swap_") || is_named(point, "done_") || is_named(point, "take_") ||
	       is_named(point, "leave_");
}

unsigned int ring_pages(const struct plan *plan)
{
	const unsigned int capacity = REC_SUBBUF_MIN - REC_SUBBUF_HEADER_SIZE;

	return (plan->kb * 1024u + capacity - 1) / capacity;
}

/* The lane's words and links, as they are in the file. */
static void describe_lane(FILE *to, const char *path)
{
	struct rec_buffer_header h;
	struct rec_lane lane;
	struct rec_lane_reader words;
	struct rec_link link;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint32_t id;

	if (fd < 0 || pread(fd, &h, sizeof(h), 0) < 0 || pread(fd, &lane, sizeof(lane), (off_t)h.lanes) < 0 ||
	    pread(fd, &words, sizeof(words), (off_t)(h.lanes + h.lane_reader)) < 0)
		return;
	fprintf(to, "tail %#llx commit %#llx; read %#llx hint %u;", (unsigned long long)lane.tail,
		(unsigned long long)lane.commit, (unsigned long long)words.read, words.hint);
	for (id = 0; id < lane.nr_subbufs; id++)
		if (pread(fd, &link, sizeof(link),
			  (off_t)(h.lanes + h.lane_reader + sizeof(words) + id * sizeof(link))) > 0)
			fprintf(to, " %u:%s%u<%u", id, &"-\0H\0U\0?"[2 * REC_LINK_FLAG(link.next)],
				REC_LINK_ID(link.next), link.prev);
	fprintf(to, "\n");
	close(fd);
}

static void describe(FILE *to, const struct life *life)
{
	const struct plan *plan = life->plan;
	unsigned int i;

	fprintf(to, "plan: seed %llu, %s, %u KiB, %u events, longest %u%s%s%s%s\n", (unsigned long long)plan->seed,
		plan->overwrite ? "overwrite" : "discard", plan->kb, plan->events, plan->longest,
		plan->plain ? ", plain" : "", plan->filter ? ", filter" : "", plan->leave ? ", threads leave" : "",
		plan->control ? ", control" : "");
	for (i = 0; i < plan->injections; i++)
		fprintf(to, "  %s: %d at every %u\n", points.names[plan->injection[i].point],
			(int)plan->injection[i].what, plan->injection[i].every);
	for (i = trail.count > TRAIL ? trail.count - TRAIL : 0; i < trail.count; i++)
		fprintf(to, "%d:%s ", (int)(trail.step[i % TRAIL].pid - life->run.pid),
			points.names[trail.step[i % TRAIL].point]);
	fprintf(to, "\n");
	describe_lane(to, life->notes->buffer);
	if (life->kill_point < TRACER_POINTS)
		fprintf(to, "writer killed at %s, time %u, level %u\n", points.names[life->kill_point], life->kill_hit,
			life->notes->level);
}

void describe_life(const struct life *life)
{
	char *text = NULL, *line, *rest;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	cr_assert_not_null(to);
	describe(to, life);
	fclose(to);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		tell("%s", line);
	free(text);
}

void find_buffer(struct life *life)
{
	char name[32];
	struct dirent *entry;
	DIR *dir = opendir(where);

	snprintf(name, sizeof(name), "%d-", (int)life->run.pid);
	cr_assert_not_null(dir);
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, name, strlen(name)))
			snprintf(life->notes->buffer, sizeof(life->notes->buffer), "%s/%s", where, entry->d_name);
	closedir(dir);
	cr_assert(life->notes->buffer[0]);
}

int read_one(struct life *life, unsigned int flags)
{
	struct rec_page page;
	int r;

	if (!life->view) {
		if (!life->notes->buffer[0])
			find_buffer(life);
		cr_assert_eq(rec_view_open(life->notes->buffer, &life->view), 0);
		life->notes->taking_over = 1;
	}
	r = rec_view_read(life->view, 0, flags, &page);
	if (r > 0)
		note_page(life->notes, &page);
	return r;
}

static enum tracer_order inject(struct life *life, const struct injection *injection)
{
	const unsigned int level = life->notes->level;

	switch (injection->what) {
	case GIVE_SIGNAL:
		return level && tracer_depth(&life->run) < (life->plan->plain ? 1 : 3) ? TRACER_SIGNAL : TRACER_GO;
	case END_THREAD:
		/* Choose a thread that has nothing reserved, because then it is known what it leaves. */
		if (tracer_depth(&life->run) || level != is_named(injection->point, "head_"))
			return TRACER_GO;
		life->run.jump = life->notes->way_out;
		return TRACER_JUMP;
	default:
		cr_assert_geq(read_one(life, injection->what == READ_WHOLE ? REC_READ_WHOLE : 0), -EAGAIN);
		return TRACER_GO;
	}
}

static enum tracer_order at_writers_point(struct tracer_run *run, unsigned int point)
{
	struct life *life = run->arg;
	enum tracer_order order = TRACER_GO;
	unsigned int i;

	leave_trail(run, point);
	life->hits[point]++;
	for (i = 0; i < life->plan->injections; i++)
		if (life->plan->injection[i].point == point && --life->left[i] == 0) {
			const enum tracer_order one = inject(life, &life->plan->injection[i]);

			order = one > order ? one : order;
			/* An order that cannot be carried out here is carried out at the next opportunity. */
			life->left[i] = one == TRACER_GO && life->plan->injection[i].what == END_THREAD
						? 1
						: life->plan->injection[i].every;
		}
	if (life->stop_after && --life->stop_after == 0)
		order = TRACER_STOP;
	if (life->kill_points && life->kill_points[point]) {
		life->kill_point = point;
		order = TRACER_KILL;
	}
	if (point == life->kill_point && life->hits[point] == life->kill_hit)
		order = TRACER_KILL;
	return order;
}

/* The program with these arguments; `mode` is "write" or "read". */
static void start(struct life *life, struct tracer_run *run, const char *mode)
{
	char notes[600], dir[600], size[64];
	const char *const argv[] = { program, mode, notes, NULL };
	const char *const envp[] = { dir, size,
				     life->plan->overwrite ? "RECORDER_MODE=overwrite" : "RECORDER_MODE=discard",
				     "RECORDER_KEEP=1", NULL };

	snprintf(notes, sizeof(notes), "%s/notes", where);
	snprintf(dir, sizeof(dir), "RECORDER_DIR=%s", where);
	snprintf(size, sizeof(size), "RECORDER_BUFFER_KB=%u", life->plan->kb);
	run->points = &points;
	run->memory = -1;
	cr_assert_eq(tracer_start(run, argv, envp), 0);
}

void begin_life(struct life *life, const struct plan *plan)
{
	char path[600];
	unsigned int i;
	int fd;

	memset(life, 0, sizeof(*life));
	life->plan = plan;
	life->kill_point = TRACER_POINTS;
	snprintf(path, sizeof(path), "%s/notes", where);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, sizeof(*life->notes)), 0);
	life->notes = mmap(NULL, sizeof(*life->notes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(life->notes, MAP_FAILED);
	close(fd);
	life->notes->seed = plan->seed;
	life->notes->events = plan->events;
	life->notes->longest = plan->longest;
	life->notes->plain = plan->plain;
	life->notes->filter = plan->filter;
	life->notes->leave = plan->leave;
	life->notes->control = plan->control;
	life->run.at_point = at_writers_point;
	life->run.arg = life;
	for (i = 0; i < plan->injections; i++) {
		life->left[i] = plan->injection[i].every;
		life->run.armed[plan->injection[i].point] = true;
	}
	figures.lives++;
}

void let_writer_go(struct life *life)
{
	life->end = tracer_run(&life->run);
	CHECK(life, life->end != TRACER_FAILED, "the writer came to another end");
	figures.kills += life->end == TRACER_KILLED;
}

/* Buffers of killed readers are removed, too, because process ids are reused. */
static void remove_buffers(void)
{
	char path[800];
	struct dirent *entry;
	DIR *dir = opendir(where);

	cr_assert_not_null(dir);
	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, ".rec")) {
			snprintf(path, sizeof(path), "%s/%s", where, entry->d_name);
			unlink(path);
		}
	closedir(dir);
}

void end_life(struct life *life)
{
	if (life->end == TRACER_STOPPED)
		tracer_kill(&life->run);
	rec_view_close(life->view);
	remove_buffers();
	figures.again += life->notes->again;
	munmap(life->notes, sizeof(*life->notes));
}

void arm_writer(struct life *life, unsigned int point)
{
	cr_assert_eq(tracer_arm(&life->run, point), 0);
}

void start_writer(struct life *life)
{
	start(life, &life->run, "write");
}

/* ------------------------------------------------------------------------------------------------------- readers */

/* Let the writer continue for a moment, if it still lives. */
static void let_writer_go_on(struct life *life)
{
	if (life->end != TRACER_STOPPED)
		return;
	life->stop_after = 1 + draw(draw(4) ? 20 : 150);
	let_writer_go(life);
}

/* A reader is stopped at a point: now and then the writer continues meanwhile. */
static enum tracer_order at_readers_point(struct tracer_run *run, unsigned int point)
{
	struct life *life = run->arg;

	leave_trail(run, point);
	life->reader_hits[point]++;
	if (is_named(point, "own_") || draw(3) == 0)
		let_writer_go_on(life);
	if (life->end == TRACER_KILLED && life->kill_points) {
		life->died_together = true;
		return TRACER_KILL;
	}
	if (point != life->reader_kill_point || life->reader_hits[point] != life->reader_kill_hit)
		return TRACER_GO;
	if (!life->freeze)
		return TRACER_KILL;
	life->frozen = life->end == TRACER_STOPPED;
	life->stop_after = 0;
	while (life->end == TRACER_STOPPED)
		let_writer_go(life);
	return TRACER_GO;
}

enum tracer_end read_and_die(struct life *life, unsigned int point, unsigned int hit)
{
	const uint32_t kind = life->by_pages ? 2 : draw(3);
	enum tracer_end how;
	unsigned int i;

	memset(&life->reader, 0, sizeof(life->reader));
	memset(life->reader_hits, 0, sizeof(life->reader_hits));
	life->reader.at_point = at_readers_point;
	life->reader.arg = life;
	for (i = 0; i < points.count; i++)
		life->reader.armed[i] = is_readers(i) || is_named(i, "own_");
	life->reader_kill_point = point;
	life->reader_kill_hit = hit;
	life->notes->by_event = kind == 0;
	life->notes->by_map = kind == 1;
	start(life, &life->reader, "read");
	how = tracer_run(&life->reader);
	CHECK(life, how != TRACER_FAILED, "a reader: line %u, %d", life->notes->complaint, life->notes->said);
	figures.kills += how == TRACER_KILLED;
	return how;
}

#endif
