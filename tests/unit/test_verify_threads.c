/* SPDX-License-Identifier: MIT */
/* Threads on two CPUs at once, or running without having been woken, and the most similar valid cases. */
#include "tests/unit/verify_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------- two_cpus */

Test(verify_threads, a_thread_on_two_cpus)
{
	begin_running();
	sw(1, 200, 0, R, 5);
	sw(0, 300, 5, S, 0);
	end_idle(0, 5);
	finish_with(VERIFY_TWO_CPUS, 1);
	cr_assert_eq(said.before, 105);
	cr_assert_eq(said.event, 200);
	cr_assert_eq(said.after, 300);
}

Test(verify_threads, a_thread_moves)
{
	begin_running();
	sw(0, 199, 5, R, 0);
	sw(1, 200, 0, R, 5);
	end_idle(0, 5);
	finish_clean();
	cr_assert_eq(figures.migrations, 1);
}

Test(verify_threads, a_thread_moves_within_a_nanosecond)
{
	begin_running();
	sw(1, 200, 0, R, 5);
	sw(0, 200, 5, R, 0);
	end_idle(0, 5);
	finish_clean();
}

Test(verify_threads, out_of_idle_on_another_cpu_without_a_switch)
{
	begin_running();
	sw(1, 200, 5, R, 0);
	sw(0, 300, 5, S, 0);
	end_idle(0, 0);
	finish_with(VERIFY_TWO_CPUS, 1);
}

Test(verify_threads, a_loss_reported_later_explains_two_cpus)
{
	begin_running();
	sw(1, 200, 0, R, 5);
	lost_before = 1;
	sw(0, 300, 6, S, 0);
	end_idle(0, 5);
	finish_clean();
}

Test(verify_threads, a_contradiction_reported_later_explains_two_cpus)
{
	begin_running();
	sw(1, 200, 0, R, 5);
	sw(1, 210, 5, S, 0);
	of(ID_OTHER, 0, 250, 0);
	sw(1, 260, 9, S, 0);
	sw(0, 300, 6, S, 0);
	end_idle(0, 0);
	finish_clean();
	cr_assert_eq(figures.contradictions, 1);
}

/* ---------------------------------------------------------------------------------------------------- not_woken */

Test(verify_threads, a_thread_runs_that_slept)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	of(ID_WAKING, 1, 320, 5);
	end_idle(5, 0);
	finish_with(VERIFY_NOT_WOKEN, 1);
	cr_assert_eq(said.before, 200);
	cr_assert_eq(said.event, 300);
	cr_assert_eq(said.after, 320);
}

Test(verify_threads, a_thread_runs_that_was_woken)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	of(ID_WAKING, 1, 250, 5);
	of(ID_WAKEUP, 1, 260, 5);
	sw(0, 300, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
	cr_assert_eq(figures.woken, 1);
}

Test(verify_threads, a_thread_is_woken_when_it_is_about_to_sleep)
{
	begin_running();
	of(ID_WAKING, 1, 190, 5);
	sw(0, 200, 5, S, 0);
	of(ID_WAKEUP, 1, 210, 5);
	sw(0, 300, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify_threads, a_wake_up_serves_once)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	of(ID_WAKING, 1, 250, 5);
	sw(0, 300, 0, R, 5);
	sw(0, 310, 5, S, 0);
	sw(0, 320, 0, R, 5);
	end_idle(5, 0);
	finish_with(VERIFY_NOT_WOKEN, 1);
	cr_assert_eq(said.event, 320);
}

Test(verify_threads, a_wake_up_within_the_nanosecond_of_the_switch)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	of(ID_WAKING, 1, 300, 5);
	of(ID_WAKEUP, 1, 300, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify_threads, a_thread_that_was_preempted_needs_none)
{
	begin_running();
	sw(0, 200, 5, R, 0);
	sw(0, 300, 0, R, 5);
	sw(0, 310, 5, 0x100, 0);
	sw(0, 320, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify_threads, its_switch_out_shows_that_it_ran)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	sw(0, 300, 5, S, 0);
	end_idle(0, 0);
	finish_with(VERIFY_NOT_WOKEN, 1);
}

Test(verify_threads, wake_ups_that_are_not_recorded_are_not_missed)
{
	begin();
	sw(0, 100, 0, R, 5);
	sw(1, 101, 9, S, 0);
	of(ID_WAKING, 1, 102, 6);
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify_threads, a_loss_reported_later_explains_the_wake_up)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	sw(0, 310, 5, R, 0);
	lost_before = 4;
	of(ID_OTHER, 1, 350, 0);
	end_idle(0, 0);
	finish_clean();
}

Test(verify_threads, a_loss_after_it_does_not)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	of(ID_OTHER, 1, 310, 0);
	lost_before = 4;
	of(ID_OTHER, 1, 350, 0);
	end_idle(5, 0);
	finish_with(VERIFY_NOT_WOKEN, 1);
}

Test(verify_threads, a_cpu_that_stays_idle_hides_nothing)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	sw(0, 310, 5, S, 0);
	finish_with(VERIFY_NOT_WOKEN, 1);
}

Test(verify_threads, a_cpu_that_has_not_begun_may_have_woken_it)
{
	begin();
	sw(0, 100, 0, R, 5);
	of(ID_WAKING, 0, 102, 5);
	sw(0, 104, 5, R, 0);
	sw(0, 105, 0, R, 5);
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	sw(0, 310, 5, S, 0);
	of(ID_OTHER, 1, 400, 0);
	end_idle(0, 0);
	finish_clean();
}

/* The CPU may have been masked: events of programs on it are not events of the kernel. */
Test(verify_threads, a_cpu_with_events_of_programs_alone)
{
	begin();
	user(1, 90, 7);
	sw(0, 100, 0, R, 5);
	of(ID_WAKING, 0, 102, 5);
	sw(0, 104, 5, R, 0);
	sw(0, 105, 0, R, 5);
	sw(0, 200, 5, S, 0);
	user(1, 250, 7);
	sw(0, 300, 0, R, 5);
	sw(0, 310, 5, S, 0);
	user(1, 400, 7);
	finish_clean();
}

/* A CPU without events may have been masked. In version 7 it is not in the file's list at all. */
Test(verify_threads, a_cpu_without_events_may_have_woken_it)
{
	const uint32_t count = 2;
	unsigned int version;

	for (version = 6; version <= 7; version++) {
		if (version == 7) {
			buffers[0].nr_streams = 1;
			options[0] =
				(struct dat_option){ .id = DAT_CPUCOUNT, .size = 4, .data = (char *)(uintptr_t)&count };
			file.nr_options = 1;
		} else {
			buffers[0].streams[1].size = 0;
		}
		begin();
		sw(0, 100, 0, R, 5);
		of(ID_WAKING, 0, 102, 5);
		sw(0, 104, 5, R, 0);
		sw(0, 105, 0, R, 5);
		sw(0, 200, 5, S, 0);
		sw(0, 300, 0, R, 5);
		sw(0, 310, 5, S, 0);
		finish_clean();
		cr_assert_eq(figures.switches, 6);
	}
}

/* By the recorder's notes only switches of some threads were requested, so missing events are not violations. */
Test(verify_threads, switches_of_some_threads_alone)
{
	static char version[] = "recorder; switches of some threads alone; time error at most 5 ns";

	options[0] = (struct dat_option){ .id = DAT_VERSION, .size = sizeof(version), .data = version };
	file.nr_options = 1;
	begin_running();
	user(0, 110, 5);
	user(0, 120, 6);
	sw(0, 200, 5, S, 0);
	user(0, 220, 6);
	sw(0, 300, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
	cr_assert_eq(figures.checked, 1);
	cr_assert_eq(figures.unchecked, 2);
}

/* The switches and the program's events are of different machines. */
Test(verify_threads, a_file_of_several_machines)
{
	static char version[] = "recorder 1; several machines";

	options[0] = (struct dat_option){ .id = DAT_VERSION, .size = sizeof(version), .data = version };
	file.nr_options = 1;
	begin_running();
	into = &buffers[1];
	user(0, 110, 6);
	sw(0, 120, 6, S, 8);
	into = &buffers[0];
	sw(0, 200, 5, S, 0);
	end_idle(0, 0);
	finish_clean();
	cr_assert_eq(figures.unchecked, 1);
}

static char trace_cmd[] = "3.1.6 not-a-git-repo";

/*
 * A file of another program does not state this. Threads 6 and 8 were requested; 5 and 7 are seen when one of these is
 * switched in or out.
 */
Test(verify_threads, the_file_does_not_state_whose_switches_it_has)
{
	unsigned int foreign;

	for (foreign = 0; foreign < 2; foreign++) {
		file.nr_options = 0;
		if (foreign)
			options[file.nr_options++] = (struct dat_option){ .id = DAT_VERSION, .data = trace_cmd };
		begin();
		sw(1, 100, 0, R, 8);
		of(ID_WAKING, 1, 102, 5);
		sw(1, 103, 8, S, 0);
		sw(0, 104, 7, R, 6);
		sw(0, 110, 6, R, 5);
		sw(0, 120, 5, S, 6);
		user(0, 130, 7);
		sw(0, 140, 6, R, 5);
		sw(0, 150, 5, R, 6);
		end_idle(6, 0);
		finish();
		cr_assert_eq(figures.unchecked, foreign);
		cr_assert_eq(figures.of_kind[VERIFY_OUTSIDE], !foreign);
		cr_assert_eq(figures.of_kind[VERIFY_NOT_WOKEN], !foreign);
	}
}

/* Once a thread was seen in a switch with the idle task, it gets the same checks as in any other file. */
Test(verify_threads, that_switches_were_recorded_is_seen)
{
	unsigned int foreign;

	for (foreign = 0; foreign < 2; foreign++) {
		memset(&said, 0, sizeof(said));
		file.nr_options = 0;
		if (foreign)
			options[file.nr_options++] = (struct dat_option){ .id = DAT_VERSION, .data = trace_cmd };
		begin_running();
		sw(0, 200, 5, S, 6);
		user(0, 220, 5);
		user(0, 225, 6);
		sw(0, 230, 6, S, 5);
		end_idle(5, 0);
		finish();
		cr_assert_eq(figures.of_kind[VERIFY_OUTSIDE], 1);
		cr_assert_eq(figures.of_kind[VERIFY_NOT_WOKEN], 1);
	}
}

Test(verify_threads, that_a_thread_was_recorded_is_seen_by_its_own_events)
{
	options[file.nr_options++] = (struct dat_option){ .id = DAT_VERSION, .data = trace_cmd };
	begin();
	sw(1, 100, 0, R, 8);
	sw(0, 104, 7, R, 6);
	put(0, 105, ID_OTHER, 7, "abcd", 4);
	put(0, 106, ID_PRINT, 5, "abcdefgh", 8);
	sw(0, 120, 5, S, 6);
	user(0, 130, 7);
	user(0, 131, 5);
	sw(0, 140, 6, R, 5);
	finish();
	cr_assert_eq(figures.of_kind[VERIFY_OUTSIDE], 1);
}

Test(verify_threads, a_loss_while_it_slept)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	lost_before = 4;
	of(ID_OTHER, 1, 250, 0);
	sw(0, 300, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify_threads, somebody_hidden_may_have_woken_it)
{
	begin_running();
	sw(1, 190, 0, R, 69);
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	sw(0, 310, 5, R, 0);
	/* The events of 69 are hidden, including its switch out. */
	sw(1, 400, 7, S, 0);
	end_idle(0, 0);
	finish_clean();
}

Test(verify_threads, a_recorders_own_threads)
{
	static char text[] = "recorder 1; hidden threads: 4 5 6; x";

	options[file.nr_options++] = (struct dat_option){ .id = DAT_VERSION, .data = text };
	begin_running();
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify_threads, the_dead_are_not_woken)
{
	begin_running();
	sw(0, 200, 5, X, 0);
	/* Another thread with the same id. */
	sw(0, 300, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify_threads, a_new_thread)
{
	begin_running();
	of(ID_FORK, 1, 200, 6);
	of(ID_NEW, 1, 210, 6);
	sw(0, 220, 5, R, 6);
	of(ID_FORK, 1, 230, 7);
	sw(0, 240, 6, R, 7);
	of(ID_NEW, 1, 250, 7);
	end_idle(7, 0);
	finish_with(VERIFY_NOT_WOKEN, 1);
	cr_assert_eq(said.event, 240);
}

/*
 * More suspicions of a thread than may wait: the oldest ones are dropped. tests/host/suspects.sh counts the cost.
 */
Test(verify_threads, more_suspicions_than_may_wait)
{
	begin_running();
	of(ID_WAKING, 1, 150, 9);
	sw(1, 151, 0, R, 9);
	sw(1, 152, 9, S, 0);
	for (uint64_t ts = 200; ts < 200 + 4 * UINT64_C(10000); ts += 4) {
		of(ID_OTHER, 1, ts, 9);
		sw(1, ts + 1, 0, R, 9);
		sw(1, ts + 2, 9, S, 0);
	}
	/* A loss since 105 explains all suspicions. */
	lost_before = 1;
	sw(0, 50000, 6, S, 0);
	end_idle(0, 0);
	finish_clean();
}

/* --------------------------------------------------------------------------------------------------- woken_late */

Test(verify_threads, a_wake_up_that_ends_after_the_switch)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	of(ID_WAKING, 1, 250, 5);
	sw(0, 300, 0, R, 5);
	of(ID_WAKEUP, 1, 301, 5);
	end_idle(5, 0);
	finish_with(VERIFY_WOKEN_LATE, 1);
	cr_assert_eq(said.before, 300);
	cr_assert_eq(said.event, 301);
}

Test(verify_threads, a_wake_up_of_a_thread_that_runs)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	of(ID_WAKING, 1, 250, 5);
	sw(0, 300, 0, R, 5);
	/*
	 * The second half of the first wake-up is hidden; this wake-up came when the thread was about to sleep again.
	 */
	of(ID_WAKING, 1, 350, 5);
	of(ID_WAKEUP, 1, 351, 5);
	sw(0, 360, 5, R, 0);
	of(ID_WAKEUP, 1, 370, 5);
	end_idle(0, 0);
	finish_clean();
}
