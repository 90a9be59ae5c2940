/* SPDX-License-Identifier: MIT */
/*
 * SIGKILL at any time, to a program, its reader, its recorder, or all at once. Each life is drawn from a seed: ring,
 * mode, threads, signals, when to kill; what is left is read directly or by `recorder recover`, and every event that
 * its writer had committed must be there or be counted as lost. tests/crash/test_points.c kills at known places
 * instead.
 *
 * RECORDER_SEED=N draws other lives; RECORDER_RANDOM_KILLS=N kills N times instead of 300. A failure prints a line
 * with RECORDER_LIFE, which repeats only the life that failed; the kill may then come at another moment. A line of JSON
 * for each kind of victim goes to the file of the tests' figures.
 */
#include "kills_life.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned int kills_wanted;

static void prepare(void)
{
	set_up();
	kills_wanted = (unsigned int)number_from("RECORDER_RANDOM_KILLS", 300);
}

TestSuite(kills, .init = prepare, .fini = tear_down, .timeout = 36000);

/* ---- writer, reader */

static void let_it_work(const struct life *life)
{
	/* Now and then the writer is killed before it has begun, while it makes its buffer. */
	if (draw(10) && !wait_word(life, &notes->started, life->writer))
		CHECK(life, false, "the writer ended by itself");
	nap(draw(draw(3) ? 3000 : 300) * 1000u);
}

static void kill_a_writer(unsigned int most)
{
	struct kills_account account;
	struct rec_view *view;
	struct life life;

	note_life((const uint64_t[]){ most }, 1);
	begin_life(&life, 100000);
	start_writer(&life);
	let_it_work(&life);
	kill_and_wait(life.writer);
	kills_account_init(&account, notes, 1);
	if (open_buffer(&life, &view)) {
		check_sums(&life, &account, drain_by_hand(&life, &account, view), true);
		rec_view_close(view);
	}
	kills_account_free(&account);
	end_life(&life);
}

/* Runs in a process of its own, until it is killed. */
static void read_for_ever(uint32_t reader)
{
	struct kills_account account;
	struct rec_view *view = NULL;
	uint32_t lane;
	glob_t found;

	kills_account_init(&account, notes, reader);
	if (!find_buffers(&found) || rec_view_open(found.gl_pathv[0], &view) < 0)
		_exit(1);
	for (;;)
		for (lane = 0; lane < rec_view_lanes(view); lane++) {
			const int r = kills_take_page(&account, view, lane, draw(2) ? REC_READ_WHOLE : 0);

			if (r < 0 && r != -EAGAIN)
				_exit(2);
		}
}

static void kill_readers(unsigned int most)
{
	struct kills_account account;
	struct rec_view *view;
	struct life life;
	unsigned int n, i;
	pid_t pid;

	note_life((const uint64_t[]){ most }, 1);
	n = 1 + draw(4);
	begin_life(&life, 40000);
	if (n > most)
		n = most;
	start_writer(&life);
	CHECK(&life, wait_word(&life, &notes->started, life.writer), "the writer ended by itself");
	for (i = 0; i < n; i++) {
		draw(2);
		pid = fork();
		cr_assert_geq(pid, 0);
		if (pid == 0)
			read_for_ever(i + 1);
		nap(500000 + draw(3000) * 1000u);
		CHECK(&life, poll_end(pid) < 0, "reader %u ended by itself", i);
		kill_and_wait(pid);
	}
	kill(life.writer, SIGKILL);
	waitpid(life.writer, NULL, 0);
	kills_account_init(&account, notes, n + 1);
	cr_assert(open_buffer(&life, &view));
	check_sums(&life, &account, drain_by_hand(&life, &account, view), true);
	rec_view_close(view);
	kills_account_free(&account);
	end_life(&life);
}

/* ---- the command */

static void begin_recording(struct life *life)
{
	begin_life(life, 4000 + draw(40000));
	life->kb = 32u << draw(4);
	life->attach = draw(2);
	notes->ends = !life->attach;
	notes->gate = life->attach;
	if (life->attach)
		start_writer(life);
	while (life->attach && !has_buffer())
		nap(100000);
	start_recorder(life, "first.dat");
	if (life->attach)
		open_gate(life);
}

/*
 * The recorder alone is killed: the program continues, with the next recorder if one attaches, until it has ended or is
 * killed.
 */
static void kill_a_recorder(unsigned int most)
{
	struct life life;
	pid_t killed;

	note_life((const uint64_t[]){ most }, 1);
	begin_recording(&life);
	if (life.attach || draw(8))
		wait_word(&life, &notes->started, life.recorder);
	nap(draw(6000) * 1000u);
	killed = life.recorder;
	kill_and_wait(killed);
	if (life.attach) {
		start_recorder(&life, "second.dat");
		wait_word(&life, &notes->finished, life.writer);
		kill(life.writer, SIGKILL);
		waitpid(life.writer, NULL, 0);
		/* The kill may have come too late. */
		CHECK(&life, WIFEXITED(wait_end(&life, life.recorder)), "the second recorder was killed");
	} else {
		wait_group(killed);
	}
	recover_all(&life);
	judge_files(&life);
	end_life(&life);
}

/* Writer and recorder are killed at once. */
static void kill_a_group(unsigned int most)
{
	struct life life;

	note_life((const uint64_t[]){ most }, 1);
	begin_recording(&life);
	if (draw(8))
		wait_word(&life, &notes->started, life.recorder);
	nap(draw(6000) * 1000u);
	if (life.attach)
		kill_and_wait(life.writer);
	kill(-life.recorder, SIGKILL);
	wait_group(life.recorder);
	figures.kills += 2 - life.attach;
	recover_all(&life);
	judge_files(&life);
	end_life(&life);
}

/* ---- tests */

/* Runs lives until this number of kills took place; or the one life that RECORDER_LIFE requests. */
static void kill_all(void (*kill_some)(unsigned int most), unsigned int wanted, const char *whom, bool drained)
{
	uint64_t again[LIFE_NUMBERS];

	if (is_repeated(again)) {
		kill_some((unsigned int)again[0]);
		draw_end();
		return;
	}
	/* A reader or recorder may keep up with the threads; a buffer that nobody drains overflows sooner or later. */
	while (figures.kills < wanted || (!drained && !figures.lost))
		kill_some(figures.kills < wanted ? wanted - (unsigned int)figures.kills : 1);
	report(whom);
}

Test(kills, writers)
{
	kill_all(kill_a_writer, kills_wanted / 2, "writer", false);
}

Test(kills, readers)
{
	kill_all(kill_readers, kills_wanted / 4, "reader", true);
}

Test(kills, recorders)
{
	kill_all(kill_a_recorder, kills_wanted / 8, "recorder", true);
}

Test(kills, groups)
{
	kill_all(kill_a_group, kills_wanted / 8, "group", true);
}
