/* SPDX-License-Identifier: MIT */
/*
 * Processes killed at each test point: a writer and its readers run under ptrace, are killed after every observable
 * side effect that they have (librecorder/detail/testpoint.h), and what they leave is read as a recorder would read it.
 *
 * The writer notes what it does in memory that it shares with the test, before and after each call (points_notes.h).
 * From that the test knows the list of events that were committed, in their order, and compares: each event read must
 * be the one at its number in the lane; each that was not read must be counted as lost, and may be lost only where the
 * ring was full; nothing else may be shown; a reservation that was open must be reported.
 *
 * A plan determines where signals interrupt the writer, where the reader reads, and where a thread ends. It is drawn
 * from a seed, and the writer's clock depends on the writer alone, so the run that counts how often each point is
 * reached (armed: all) and the run that kills at the k-th time (armed: what the plan needs) take the same course.
 *
 * RECORDER_SEED=N draws other plans, RECORDER_KILLS=N kills N times at each point in each mode instead of once. A
 * failure prints a line with RECORDER_LIFE, which repeats only the life that failed.
 */
#include "points_life.h"
#include "tests/unit/repeat.h"
#include "tests/unit/tell.h"

#include <criterion/criterion.h>

#if defined(__x86_64__)

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PLANS_MIN 16u
#define PLANS_MAX 40u

static unsigned int kills_wanted = 1; /* at each point in each mode */

/* tests/crash/test_resizes.c tests these. */
static bool is_resizes(unsigned int point)
{
	return is_named(point, "resize_") || is_named(point, "move_") || is_named(point, "anew_") ||
	       is_named(point, "restart_") || is_named(point, "grow_") || is_named(point, "unmake_") ||
	       is_named(point, "remake_");
}

static bool is_writers(unsigned int point)
{
	return !is_readers(point) && !is_named(point, "own_") && !is_resizes(point);
}

static bool is_anybodys(unsigned int point)
{
	return !is_named(point, "own_") && !is_resizes(point);
}

/* ---------------------------------------------------------------------------------------------------------- plans */

static struct plan draw_plan(unsigned int kind)
{
	const uint64_t from = drawn;
	struct plan plan = { .from = from,
			     .kind = kind,
			     .seed = draw(1000000),
			     .overwrite = kind % 2 == 0,
			     .control = kind % 4 == 3 || kind % 8 == 6,
			     .kb = kind % 3 == 0 && kind % 4 < 2 ? 4 : 8 + draw(16),
			     .events = 800,
			     .leave = kind % 4 == 3 || draw(4) > 0,
			     .longest = 40 + draw(600) };
	unsigned int i;

	for (i = 0; i < INJECTIONS; i++) {
		struct injection *injection = &plan.injection[i];

		do
			injection->point = draw(points.count);
		while (!is_writers(injection->point));
		injection->every = 2 + draw(20);
		injection->what = i < 4 ? GIVE_SIGNAL : draw(3) ? GIVE_SIGNAL : READ_SOME;
		if (kind % 5 == 1 && i > 4)
			injection->what = i % 2 ? READ_SOME : READ_WHOLE;
	}
	/* Points where signals matter most; and threads that end there. */
	plan.injection[0].point = tracer_point(&points, draw(2) ? "head_update" : "head_set");
	plan.injection[1].point = tracer_point(&points, draw(2) ? "slow_tail" : "reserve_tail");
	plan.injection[2] = (struct injection){ tracer_point(&points, draw(2) ? "head_update" : "head_set"),
						1 + draw(9), END_THREAD };
	plan.injections = INJECTIONS;
	return plan;
}

/* A reservation that is interrupted at each attempt. */
static struct plan draw_plain_plan(void)
{
	const uint64_t from = drawn;
	struct plan plan = { .from = from,
			     .seed = draw(1000000),
			     .overwrite = true,
			     .plain = true,
			     .kb = 64,
			     .events = 2,
			     .longest = 40 };

	plan.injection[0] = (struct injection){ tracer_point(&points, "slow_before"), 1, GIVE_SIGNAL };
	plan.injections = 1;
	return plan;
}

/*
 * Each discard is interrupted by a handler that writes: where its room was just given back, next to few other events,
 * or at every step of it. `n` numbers these plans; those with even numbers overwrite.
 */
static struct plan draw_discard_plan(unsigned int n)
{
	static const char *const at[] = { "discard_tail",   "discard_after", "discard_cpu",	"discard_padding",
					  "uncount_tail",   "uncount_left",  "uncount_entries", "slow_close" };
	const uint64_t from = drawn;
	const bool filter = n % 4 < 2;
	struct plan plan = { .from = from,
			     .kind = n,
			     .seed = draw(1000000),
			     .overwrite = n % 2 == 0,
			     .filter = filter,
			     .kb = 4 + draw(20),
			     .events = filter ? 2000 : 800,
			     .longest = filter ? 40 : 40 + draw(200) };

	plan.injections = filter ? 1 : INJECTIONS;
	for (unsigned int i = 0; i < plan.injections; i++)
		plan.injection[i] = (struct injection){ tracer_point(&points, at[i]), 1, GIVE_SIGNAL };
	return plan;
}

/* ---------------------------------------------------------------------------------------------------------- tests */

static void set_up(void)
{
	const char *top = getenv("top_builddir");

	cr_assert_not_null(top);
	snprintf(program, sizeof(program), "%s/tests/crash/victim_points", top);
	snprintf(where, sizeof(where), "%s/tests/points-XXXXXX", top);
	cr_assert_not_null(mkdtemp(where));
	cr_assert_eq(tracer_read_points(program, &points), 0);
	kills_wanted = (unsigned int)number_from("RECORDER_KILLS", kills_wanted);
	draw_begin();
}

static void tear_down(void)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/notes", where);
	unlink(path);
	rmdir(where);
}

TestSuite(points, .init = set_up, .fini = tear_down, .timeout = 3600);

/*
 * Let a writer live its life, killed at the given point, if any; what it leaves is accounted for. A life draws nothing
 * but its plan.
 */
static enum tracer_end live(const struct plan *plan, unsigned int point, unsigned int hit, unsigned int *hits)
{
	const uint64_t now = drawn;
	struct life life;
	enum tracer_end how;

	drawn = plan->from;
	note_life((const uint64_t[]){ plan->kind, point, hit }, 3);
	drawn = now;
	begin_life(&life, plan);
	life.kill_point = point;
	life.kill_hit = hit;
	if (hits)
		memset(life.run.armed, 1, sizeof(life.run.armed));
	else if (point < TRACER_POINTS)
		life.run.armed[point] = true;
	start_writer(&life);
	let_writer_go(&life);
	check_life(&life);
	if (hits)
		memcpy(hits, life.hits, sizeof(life.hits));
	how = life.end;
	end_life(&life);
	return how;
}

/*
 * Heads are moved only where the oldest events are lost; in that mode no writer is refused because the ring is full. A
 * ring of two sub-buffers is full for a nested writer in either mode.
 */
static bool can_be_met(unsigned int point, bool overwrite)
{
	return overwrite ? !is_named(point, "refuse_full") : !is_named(point, "head_");
}

/* Whether each point is reached in plans of both modes. */
static bool are_all_met(const struct plan *plans, unsigned int hits[][TRACER_POINTS], unsigned int n)
{
	unsigned int point, i;
	bool met[2];

	for (point = 0; point < points.count; point++) {
		met[0] = !can_be_met(point, false);
		met[1] = !can_be_met(point, true);
		for (i = 0; i < n; i++)
			met[plans[i].overwrite] |= hits[i][point] > 0;
		if (is_writers(point) && !(met[0] && met[1]))
			return false;
	}
	return true;
}

/* Lives that are drawn for a point that none has reached. */
#define RARE_TRIES 2000u

/* Kills at each point in each mode: discard, overwrite. */
static struct {
	unsigned int met[2][TRACER_POINTS];
} matrix;

/*
 * The row of the kill matrix: the points that `whose` names, in both modes. Some are reached in one mode a hundred
 * times more often than in the other; at most `few` may be missed in both.
 */
static void check_matrix(const char *victim, bool (*whose)(unsigned int point), unsigned int few)
{
	static const char *const modes[] = { "discard", "overwrite" };
	unsigned int point, mode, covered[2] = { 0, 0 }, missed = 0;

	for (point = 0; point < points.count; point++) {
		for (mode = 0; mode < 2 && whose(point); mode++) {
			covered[mode] += matrix.met[mode][point] > 0;
			if (!matrix.met[mode][point] && can_be_met(point, mode))
				tell("no %s was killed at %s, %s", victim, points.names[point], modes[mode]);
		}
		missed += whose(point) && !matrix.met[0][point] && !matrix.met[1][point];
	}
	tell("{\"killed\": \"%s at test points\", \"kills\": %u, \"lives\": %u, \"points_discard\": %u, "
	     "\"points_overwrite\": %u, \"events\": %u, \"read\": %u, \"lost\": %u, \"lost_committed\": 0, \"torn\": %u, "
	     "\"read_twice\": %u, \"corrupt_pages\": 0, \"seed\": %llu}",
	     victim, figures.kills, figures.lives, covered[0], covered[1], figures.events,
	     figures.events - figures.lost, figures.lost, figures.torn, figures.again, (unsigned long long)first_seed);
	repeat_by("RECORDER_SEED=%llu RECORDER_KILLS=%u", (unsigned long long)first_seed, kills_wanted);
	cr_assert_leq(missed, few, "%u test points were not met", missed);
	draw_end();
}

/*
 * Kill at the point, in plans of this mode, as often as wanted; if it depends on the clock alone, once in any plan.
 */
static void kill_writers_at(unsigned int point, bool overwrite, const struct plan *plans,
			    unsigned int hits[][TRACER_POINTS], unsigned int n)
{
	unsigned int candidates[PLANS_MAX], possible = 0, i, k, tries;

	for (i = 0; i < n; i++)
		if (hits[i][point] && plans[i].overwrite == overwrite)
			candidates[possible++] = i;
	/* The clock and the scheduler are not part of a plan, so now and then a life takes another course. */
	for (k = tries = 0; k < kills_wanted && possible && tries < 3 * kills_wanted; tries++) {
		i = candidates[draw(possible)];
		k += live(&plans[i], point, 1 + draw(hits[i][point]), NULL) == TRACER_KILLED;
	}
	for (i = 0; !k && i < n; i++)
		if (plans[i].overwrite == overwrite && can_be_met(point, overwrite))
			k = live(&plans[i], point, 1, NULL) == TRACER_KILLED;
	matrix.met[overwrite][point] += k;
}

/* The plan that is the first of all plans, or one of the others. */
static struct plan draw_nth_plan(unsigned int n)
{
	return n ? draw_plan(n) : draw_plain_plan();
}

Test(points, writers_killed)
{
	static unsigned int hits[PLANS_MAX][TRACER_POINTS];
	static struct plan plans[PLANS_MAX];
	unsigned int point, n;
	uint64_t again[LIFE_NUMBERS];

	if (is_repeated(again)) {
		plans[0] = draw_nth_plan((unsigned int)again[0]);
		live(&plans[0], (unsigned int)again[1], (unsigned int)again[2],
		     again[1] < points.count ? NULL : hits[0]);
		draw_end();
		return;
	}
	for (n = 0; n < PLANS_MIN || (n < PLANS_MAX && !are_all_met(plans, hits, n)); n++) {
		plans[n] = draw_nth_plan(n);
		cr_assert_eq(live(&plans[n], TRACER_POINTS, 0, hits[n]), TRACER_ENDED);
	}
	for (point = 0; point < points.count; point++)
		if (is_writers(point)) {
			kill_writers_at(point, false, plans, hits, n);
			kill_writers_at(point, true, plans, hits, n);
		}
	check_matrix("writer", is_writers, 0);
}

#define DISCARD_LIVES 16u

/* What handlers write during discards is visible: an event that was discarded holds nothing back. */
Test(points, handlers_in_every_discard)
{
	uint64_t again[LIFE_NUMBERS];
	const bool once = is_repeated(again);
	unsigned int n = once ? (unsigned int)again[0] : 0;
	struct plan plan;

	for (; n < DISCARD_LIVES * kills_wanted; n++) {
		plan = draw_discard_plan(n);
		cr_assert_eq(live(&plan, TRACER_POINTS, 0, NULL), TRACER_ENDED);
		if (once)
			break;
	}
	draw_end();
}

/* A writer with something in its lane, stopped at a test point. */
static void begin_writing(struct life *life, struct plan *plan, unsigned int kind)
{
	unsigned int i;

	*plan = draw_plan(kind);
	plan->events = 200 + draw(500);
	/* Other processes read at this point. */
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
	/* After a takeover that has something to repair. */
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

/* The first of the numbers of a repeated life. */
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

/* A reader that is killed with a page in hand: the next reader gets that page once more. */
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
 * Writer and reader killed together, at points of the writer: each life tries those that are still missing in this
 * mode.
 */
static void kill_groups_of(bool overwrite)
{
	bool wanted[TRACER_POINTS];
	unsigned int point, tries;

	for (point = 0; point < TRACER_POINTS; point++)
		wanted[point] = point < points.count && is_writers(point) && can_be_met(point, overwrite);
	for (tries = 0; tries < 80 * kills_wanted; tries++) {
		point = kill_group_at(wanted, 2 * draw(12) + !overwrite);
		if (point < TRACER_POINTS)
			wanted[point] = ++matrix.met[overwrite][point] < kills_wanted;
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

/* A writer that is stopped in the middle of moving the head: the reader is told to try again, and nothing else. */
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
			/* The mark is gone: what was the second page is the first one now. */
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

#else

Test(points, need_ptrace_on_x86)
{
	cr_skip_test("breakpoints are set on x86-64 only");
}

#endif
