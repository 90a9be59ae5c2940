/* SPDX-License-Identifier: MIT */
/*
 * The recorder command, killed at each test point of a reader that it reaches: alone, and another one takes over; or
 * together with the program that it is attached to. Both modes are tested. The command recovers what is left, and every
 * committed event must be there or be counted as lost. tests/crash/test_points.c does the same with readers of the
 * library.
 *
 * RECORDER_SEED=N draws other lives, RECORDER_KILLS=N kills N times in each case instead of once. A failure prints a
 * line with RECORDER_LIFE, which repeats only the life that failed.
 */
#include "kills_life.h"
#include "tests/unit/repeat.h"
#include "tests/unit/tell.h"
#include "tracer.h"

#if defined(__x86_64__)

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The number of lives until a point must have been reached. */
#define TRIES 60u
/* The second recorder of a takeover often begins after the writer has ended. */
#define TRIES_TO_TAKE (10 * TRIES)

static struct tracer_points points;

/* A recorder under ptrace, and where it is to die. */
struct traced {
	struct tracer_run run;
	struct life *life;
	unsigned int point, hit;
	bool group;
};

static void prepare(void)
{
	set_up();
	cr_assert_eq(tracer_read_points(recorder, &points), 0);
}

TestSuite(recorder, .init = prepare, .fini = tear_down, .timeout = 3600);

static bool is_named(unsigned int point, const char *beginning)
{
	return !strncmp(points.names[point], beginning, strlen(beginning));
}

static bool is_readers(unsigned int point)
{
	return is_named(point, "swap_") || is_named(point, "done_") || is_named(point, "take_") ||
	       is_named(point, "leave_");
}

static enum tracer_order at_point(struct tracer_run *run, unsigned int point)
{
	struct traced *traced = run->arg;

	(void)point;
	if (--traced->hit)
		return TRACER_GO;
	if (traced->group)
		kill(traced->life->writer, SIGKILL);
	return TRACER_KILL;
}

static void *wait_and_open(void *life)
{
	open_gate(life);
	return NULL;
}

/* Attach, and die at the `hit`-th time that the point is reached. Returns whether it did. */
static bool record_and_die(struct life *life, const char *output, unsigned int point, unsigned int hit, bool group)
{
	struct traced traced = { .life = life, .point = point, .hit = hit, .group = group };
	struct attach_words words;
	enum tracer_end end;
	pthread_t opener;
	bool gate = notes->gate;

	traced.run.points = &points;
	traced.run.memory = -1;
	traced.run.armed[point] = true;
	traced.run.at_point = at_point;
	traced.run.arg = &traced;
	attach_words(life, output, &words);
	cr_assert_eq(tracer_start(&traced.run, words.argv, make_env(life)), 0);
	life->recorder = traced.run.pid;
	if (gate)
		cr_assert_eq(pthread_create(&opener, NULL, wait_and_open, life), 0);
	end = tracer_run(&traced.run);
	if (gate)
		pthread_join(opener, NULL);
	/* A recorder that attaches too late finds no program. */
	CHECK(life, end == TRACER_KILLED || end == TRACER_ENDED || notes->finished, "the recorder came to another end");
	figures.kills += end == TRACER_KILLED;
	return end == TRACER_KILLED;
}

static unsigned int point_named(const char *name)
{
	return tracer_point(&points, name);
}

/* Run one life. Returns whether the recorder was killed where it should be. */
static bool kill_at(unsigned int point, bool overwrite, bool group)
{
	/* If a reader dies at one of these points, the takeover has something to repair. */
	static const char *const before_takeover[] = { "swap_exchange", "swap_next_prev", "swap_hint",
						       "swap_pages_read" };
	struct life life;
	bool killed;

	note_life((const uint64_t[]){ point, overwrite }, 2);
	begin_life(&life, 50000 + draw(100000));
	life.kb = 16u << draw(3);
	life.overwrite = overwrite;
	life.attach = true;
	notes->gate = notes->ends = 1;
	notes->nested = 0;
	start_writer(&life);
	while (!has_buffer())
		nap(100000);
	if (is_named(point, "take_"))
		record_and_die(&life, "before.dat", point_named(before_takeover[draw(4)]), 1 + draw(3), false);
	killed = record_and_die(&life, "first.dat", point, is_named(point, "take_") ? 1 : 1 + draw(4), group);
	if (killed && !group) {
		start_recorder(&life, "second.dat");
		/* The kill may come too late: then the program has ended, and what it left is recovered. */
		CHECK(&life, WIFEXITED(wait_end(&life, life.recorder)), "the second recorder was killed");
	}
	waitpid(life.writer, NULL, 0);
	while (waitpid(-1, NULL, 0) > 0)
		;
	recover_all(&life);
	judge_files(&life);
	end_life(&life);
	return killed;
}

static void kill_at_all(bool group)
{
	const unsigned int wanted = (unsigned int)number_from("RECORDER_KILLS", 1);
	unsigned int point, mode, k, tries, covered = 0, missed = 0;
	uint64_t again[LIFE_NUMBERS];

	if (is_repeated(again)) {
		kill_at((unsigned int)again[0], again[1], group);
		draw_end();
		return;
	}
	for (point = 0; point < points.count; point++) {
		const unsigned int most = is_named(point, "take_") ? TRIES_TO_TAKE : TRIES;

		for (mode = 0; mode < 2 && is_readers(point); mode++) {
			for (k = tries = 0; k < wanted && tries < most + wanted; tries++)
				k += kill_at(point, mode, group);
			covered += k == wanted;
			missed += k < wanted;
			if (k < wanted)
				tell("the recorder came to %s %u times (%s)", points.names[point], k,
				     mode ? "overwrite" : "discard");
		}
	}
	report(group ? "recorder and writer at test points" : "recorder at test points");
	tell("the recorder was killed at %u points and modes, %u missed", covered, missed);
	repeat_by("RECORDER_SEED=%" PRIu64 " RECORDER_KILLS=%u", first_seed, wanted);
	cr_assert_eq(missed, 0);
	draw_end();
}

Test(recorder, killed_alone)
{
	kill_at_all(false);
}

Test(recorder, killed_with_its_program)
{
	kill_at_all(true);
}

#else

Test(recorder, need_ptrace_on_x86)
{
	cr_skip_test("breakpoints are set on x86-64 only");
}

#endif
