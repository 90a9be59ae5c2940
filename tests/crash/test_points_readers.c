/* SPDX-License-Identifier: MIT */
/*
 * The tests of test_points.c in which readers are killed or stopped at their test points, alone or with the writer, and
 * in which a writer is stopped while another process reads.
 */
#include "points_matrix.h"
#include "points_plan.h"

#include <criterion/criterion.h>

#if defined(__x86_64__)

#include <errno.h>
#include <string.h>

/* The number of further lives that are drawn if no life has reached a point. */
#define RARE_TRIES 2000u

/* A writer with something in its lane, stopped at a test point. */
static void begin_writing(struct life *life, struct plan *plan, unsigned int kind)
{
	unsigned int i;

	*plan = draw_plan(kind);
	plan->events = 200 + draw(500);
	/* Other processes read while the writer is stopped at this point. */
	for (i = 0; i < plan->injections; i++)
		if (plan->injection[i].what == READ_SOME || plan->injection[i].what == READ_WHOLE)
			plan->injection[i].what = GIVE_SIGNAL;
	begin_life(life, plan);
	life->run.armed[tracer_point(&points, "slow_tail")] = true;
	life->run.armed[tracer_point(&points, "commit")] = true;
	life->run.armed[tracer_point(&points, "head_set")] = true;
	life->run.armed[tracer_point(&points, "publish_touched")] = true;
	start_writer(life);
	life->stop_after = 1 + draw(60);
	let_writer_go(life);
	find_buffer(life);
}

/* The readers before the one under test: each is killed somewhere. */
static void kill_some_readers(struct life *life, unsigned int point)
{
	/* The previous reader was killed in a swap, so the takeover has something to repair. */
	static const char *const before_takeover[] = { "swap_exchange", "swap_next_prev", "swap_hint",
						       "swap_pages_read" };
	unsigned int others = draw(3), before;

	while (others--) {
		do
			before = draw(points.count);
		while (!is_readers(before) && !is_named(before, "own_page") && !is_named(before, "own_event"));
		read_and_die(life, before, 1 + draw(4));
	}
	if (is_named(point, "take_"))
		read_and_die(life, tracer_point(&points, before_takeover[draw(4)]), 1 + draw(4));
}

/* The kind of a life: the first of the numbers in the line that repeats it. */
enum { READER, GROUP_AT_READERS, GROUP_AT_WRITERS };

/*
 * One reader after the other is killed, the last of them at `point`, in a plan of this kind. Returns whether it was.
 * The writer runs to its end, or dies with that reader, wherever it is. The next reader is this process.
 */
static bool kill_readers_at(unsigned int point, unsigned int kind, bool group)
{
	struct life life;
	struct plan plan;
	bool killed;

	note_life((const uint64_t[]){ group ? GROUP_AT_READERS : READER, point, kind }, 3);
	begin_writing(&life, &plan, kind);
	kill_some_readers(&life, point);
	killed = read_and_die(&life, point,
			      1 + draw(is_named(point, "take_") && !is_named(point, "take_prev") ? 1 : 8)) ==
		 TRACER_KILLED;
	life.stop_after = 0;
	if (group && life.end == TRACER_STOPPED) {
		tracer_kill(&life.run);
		life.end = TRACER_KILLED;
		life.kill_point = point;
		figures.kills++;
	} else if (group) {
		killed = false;
	} else if (life.end == TRACER_STOPPED) {
		let_writer_go(&life);
	}
	check_life(&life);
	end_life(&life);
	return killed;
}

/* The points of readers, in both modes. */
static void kill_all_readers(bool group)
{
	unsigned int point, mode, k, tries;

	for (point = 0; point < points.count; point++)
		for (mode = 0; mode < 2 && is_readers(point); mode++) {
			/* Plans of even kinds overwrite. */
			for (k = tries = 0; k < kills_wanted && tries < 10 * kills_wanted + 40; tries++)
				k += kill_readers_at(point, 2 * draw(12) + !mode, group);
			matrix.met[mode][point] += k;
		}
}

/* Points that were reached in neither mode: rare ones, for which lives are drawn until one reaches them. */
static bool is_missing(unsigned int point)
{
	return !matrix.met[0][point] && !matrix.met[1][point];
}

static void kill_missing_readers(bool group)
{
	unsigned int point, tries;

	for (point = 0; point < points.count; point++)
		for (tries = 0; is_readers(point) && is_missing(point) && tries < RARE_TRIES; tries++)
			matrix.met[tries % 2][point] += kill_readers_at(point, 2 * draw(12) + !(tries % 2), group);
}

static unsigned int kill_group_at(const bool *wanted, unsigned int kind);

/* The life that RECORDER_LIFE asks for, if it does. */
static bool repeat_readers_life(void)
{
	uint64_t again[LIFE_NUMBERS];
	bool wanted[TRACER_POINTS];
	unsigned int i;

	if (!is_repeated(again))
		return false;
	for (i = 0; i < TRACER_POINTS; i++)
		wanted[i] = again[2 + i / 64] >> i % 64 & 1;
	if (again[0] == GROUP_AT_WRITERS)
		kill_group_at(wanted, (unsigned int)again[1]);
	else
		kill_readers_at((unsigned int)again[1], (unsigned int)again[2], again[0] == GROUP_AT_READERS);
	draw_end();
	return true;
}

Test(points, readers_killed)
{
	if (repeat_readers_life())
		return;
	kill_all_readers(false);
	kill_missing_readers(false);
	check_matrix("reader", is_readers, 0);
}

/* If a reader is killed after it got a page and before it finished it, the next reader gets that page once more. */
Test(points, readers_killed_with_a_page_in_hand)
{
	uint64_t again[LIFE_NUMBERS];
	const bool once = is_repeated(again);
	unsigned int kind;

	/* Plans of both modes that do not disable the lane. */
	for (kind = once ? (unsigned int)again[0] : 0; kind < 10; kind += kind % 4 ? 3 : 1) {
		const unsigned int before = figures.again;
		struct life life;
		struct plan plan;

		note_life((const uint64_t[]){ kind }, 1);
		begin_writing(&life, &plan, kind);
		life.by_pages = true;
		CHECK(&life, read_and_die(&life, tracer_point(&points, "own_page"), 1) == TRACER_KILLED,
		      "the reader was not given a page");
		life.stop_after = 0;
		if (life.end == TRACER_STOPPED)
			let_writer_go(&life);
		check_life(&life);
		end_life(&life);
		cr_assert_eq(figures.again, before + 1, "the page did not come again");
		if (once)
			break;
	}
	draw_end();
}

/*
 * The writer reaches one of the points while a reader is stopped at a point of its own: both are killed. Returns the
 * writer's point; TRACER_POINTS: the writer reached none of them.
 */
static unsigned int kill_group_at(const bool *wanted, unsigned int kind)
{
	struct life life;
	struct plan plan;
	uint64_t numbers[LIFE_NUMBERS] = { GROUP_AT_WRITERS, kind };
	unsigned int point;

	for (point = 0; point < points.count; point++)
		numbers[2 + point / 64] |= (uint64_t)wanted[point] << point % 64;
	note_life(numbers, LIFE_NUMBERS);
	begin_writing(&life, &plan, kind);
	life.stop_after = 0;
	if (life.end == TRACER_STOPPED) {
		life.kill_points = wanted;
		for (point = 0; point < points.count; point++)
			if (wanted[point])
				arm_writer(&life, point);
		read_and_die(&life, TRACER_POINTS, 0);
	}
	while (life.end == TRACER_STOPPED)
		let_writer_go(&life);
	check_life(&life);
	end_life(&life);
	return life.died_together ? life.kill_point : TRACER_POINTS;
}

/*
 * Kill writer and reader together, at points of the writer. Each life tries the points that are still missing in this
 * mode.
 */
static void kill_groups_of(bool overwrite)
{
	bool wanted[TRACER_POINTS];
	unsigned int point, tries, missing = 0;

	for (point = 0; point < TRACER_POINTS; point++) {
		wanted[point] = point < points.count && is_writers(point) && can_be_met(point, overwrite);
		missing += wanted[point];
	}
	for (tries = 0; missing && tries < 80 * kills_wanted; tries++) {
		point = kill_group_at(wanted, 2 * draw(12) + !overwrite);
		if (point == TRACER_POINTS)
			continue;
		wanted[point] = ++matrix.met[overwrite][point] < kills_wanted;
		missing -= !wanted[point];
	}
}

static void kill_missing_groups(void)
{
	bool wanted[TRACER_POINTS];
	unsigned int point, tries, missing = 1;

	for (tries = 0; missing && tries < RARE_TRIES; tries++) {
		for (point = missing = 0; point < TRACER_POINTS; point++) {
			wanted[point] = point < points.count && is_writers(point) && is_missing(point);
			missing += wanted[point];
		}
		point = missing ? kill_group_at(wanted, 2 * draw(12) + !(tries % 2)) : TRACER_POINTS;
		if (point < TRACER_POINTS)
			matrix.met[tries % 2][point]++;
	}
}

Test(points, groups_killed)
{
	if (repeat_readers_life())
		return;
	kill_all_readers(true);
	kill_groups_of(false);
	kill_groups_of(true);
	kill_missing_readers(true);
	kill_missing_groups();
	/*
	 * A reader must be stopped just when the writer reaches a rare point: the points that are missing are printed.
	 */
	check_matrix("reader and writer", is_anybodys, 8);
}

static enum tracer_order stop_at_kill_point(struct tracer_run *run, unsigned int point)
{
	const struct life *life = run->arg;

	return point == life->kill_point ? TRACER_STOP : TRACER_GO;
}

/* A writer is stopped in the middle of moving the head: the reader gets -EAGAIN, and no other error. */
Test(points, writer_frozen_moving_the_head)
{
	static const char *const at[] = { "head_update", "head_lost", "head_set", "head_clear" };
	struct plan plan = {
		.seed = draw(1000000), .overwrite = true, .plain = true, .kb = 12, .events = 1500, .longest = 200
	};
	unsigned int i, k, stops;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct life life;

		begin_life(&life, &plan);
		life.kill_point = tracer_point(&points, at[i]);
		life.run.armed[life.kill_point] = true;
		life.run.at_point = stop_at_kill_point;
		start_writer(&life);
		for (stops = 0; stops < 5; stops++) {
			int r = 1;

			let_writer_go(&life);
			cr_assert_eq(life.end, TRACER_STOPPED);
			while (i < 3 && r > 0)
				r = read_one(&life, 0);
			for (k = 0; k < 100 && i < 3; k++)
				CHECK(&life, read_one(&life, k % 2 ? REC_READ_WHOLE : 0) == -EAGAIN,
				      "the head was taken away under its mover");
			/* The mark is gone: the former second page is now the first one. */
			CHECK(&life, i < 3 || read_one(&life, REC_READ_WHOLE) == 1,
			      "nothing to read though no writer moves the head");
		}
		memset(life.run.armed, 0, sizeof(life.run.armed));
		tracer_kill(&life.run);
		life.end = TRACER_KILLED;
		check_life(&life);
		end_life(&life);
	}
	draw_end();
}

/* A reader that is stopped at any point of its own: the writer runs to its end, and nothing is lost. */
static bool freeze_reader_at(unsigned int point)
{
	struct life life;
	struct plan plan;

	note_life((const uint64_t[]){ point }, 1);
	begin_writing(&life, &plan, draw(24));
	life.freeze = true;
	cr_assert_eq(read_and_die(&life, point, 1 + draw(5)), TRACER_ENDED);
	check_life(&life);
	end_life(&life);
	return life.frozen;
}

Test(points, reader_frozen)
{
	uint64_t again[LIFE_NUMBERS];
	unsigned int point, k, tries;

	if (is_repeated(again)) {
		freeze_reader_at((unsigned int)again[0]);
		draw_end();
		return;
	}
	for (point = 0; point < points.count; point++) {
		if (!is_readers(point) || is_named(point, "take_"))
			continue;
		for (k = tries = 0; k < 2 && tries < RARE_TRIES; tries++)
			k += freeze_reader_at(point);
		cr_assert_eq(k, 2, "%s was never reached", points.names[point]);
	}
	draw_end();
}

#endif
