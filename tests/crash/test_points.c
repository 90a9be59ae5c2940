/* SPDX-License-Identifier: MIT */
/*
 * Processes killed at each test point: a writer and its readers run under ptrace, are killed after every observable
 * side effect that they have (librecorder/core/testpoint.h), and what they leave is read as a recorder would read it.
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
 * This file has the tests in which writers are killed; test_points_readers.c the others.
 *
 * RECORDER_SEED=N draws other plans, RECORDER_KILLS=N kills N times at each point in each mode instead of once. A
 * failure prints a line with RECORDER_LIFE, which repeats only the life that failed.
 */
#include "points_matrix.h"
#include "points_plan.h"

#include <criterion/criterion.h>

#if defined(__x86_64__)

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLANS_MIN 16u
#define PLANS_MAX 40u

/*
 * Tracer and tracee run on the same CPU: otherwise each stop would wake an idle CPU, which takes ten times as long on a
 * virtual machine.
 */
static void stay_on_one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((unsigned int)sched_getcpu(), &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void set_up(void)
{
	const char *top = getenv("top_builddir");

	cr_assert_not_null(top);
	stay_on_one_processor();
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
 * Run a writer, kill it at the given point if there is one, and account for what it leaves. A life draws only its plan.
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

/*
 * Kill at the point, in plans of this mode, the requested number of times; or once in any plan, if reaching the point
 * depends only on the clock.
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

/* Draw plan number `n`; 0 is the plain plan, which is tried first. */
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

/* Events that handlers write during discards are visible: a discarded event holds no other event back. */
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

#else

Test(points, need_ptrace_on_x86)
{
	cr_skip_test("breakpoints are set on x86-64 only");
}

#endif
