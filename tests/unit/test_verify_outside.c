/* SPDX-License-Identifier: MIT */
/* Events of programs outside the time in which their thread ran, and the most similar valid cases. */
#include "tests/unit/verify_fixture.h"

#include <criterion/criterion.h>

Test(verify_outside, an_event_lies_in_its_threads_time)
{
	begin();
	sw(0, 100, 0, R, 5);
	user(0, 130, 5);
	user(0, 160, 5);
	sw(0, 180, 5, R, 6);
	user(0, 185, 6);
	sw(0, 200, 6, R, 0);
	finish_clean();
	cr_assert_eq(figures.checked, 3);
	cr_assert_eq(figures.nearest_ns, 5);
}

Test(verify_outside, an_event_in_anothers_time)
{
	begin();
	sw(0, 100, 0, R, 5);
	user(0, 120, 5);
	user(0, 130, 6);
	user(0, 140, 6);
	sw(0, 180, 5, R, 0);
	finish_with(VERIFY_OUTSIDE, 2);
	cr_assert_eq(said.before, 100);
	cr_assert_eq(said.event, 130);
	cr_assert_eq(said.after, 180);
}

Test(verify_outside, an_event_while_no_thread_ran)
{
	begin();
	sw(0, 100, 5, S, 0);
	user(0, 120, 5);
	sw(0, 180, 0, R, 5);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify_outside, an_event_on_another_cpu)
{
	begin();
	sw(0, 100, 0, R, 5);
	sw(1, 110, 0, R, 6);
	user(1, 120, 5);
	sw(0, 180, 5, R, 0);
	sw(1, 190, 6, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify_outside, the_times_of_both_switches_belong_to_it)
{
	begin();
	sw(0, 100, 0, R, 5);
	sw(0, 200, 5, R, 6);
	/* Both are on the wrong side of the switch in the file, but have exactly its time. */
	user(0, 200, 5);
	user(0, 300, 7);
	sw(0, 300, 6, R, 7);
	user(0, 300, 6);
	sw(0, 400, 7, R, 0);
	finish_clean();
	cr_assert_eq(figures.checked, 3);
}

Test(verify_outside, a_nanosecond_after_its_end)
{
	begin();
	sw(0, 100, 0, R, 5);
	sw(0, 200, 5, R, 6);
	user(0, 200, 5);
	user(0, 201, 5);
	sw(0, 300, 6, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify_outside, a_nanosecond_before_its_beginning)
{
	begin();
	sw(0, 100, 0, R, 6);
	user(0, 199, 5);
	user(0, 200, 5);
	sw(0, 200, 6, R, 5);
	sw(0, 300, 5, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify_outside, out_of_idle_without_a_switch)
{
	begin();
	sw(0, 100, 5, S, 0);
	user(0, 150, 6);
	user(0, 160, 6);
	sw(0, 200, 6, S, 0);
	finish_clean();
	cr_assert_eq(figures.from_idle, 2);
	cr_assert_eq(figures.from_idle_stays, 1);
	cr_assert_eq(figures.checked, 2);
	cr_assert_eq(figures.contradictions, 0);
	cr_assert_eq(figures.nearest_ns, 40);
}

Test(verify_outside, out_of_idle_it_is_one_threads_time)
{
	begin();
	sw(0, 100, 5, S, 0);
	user(0, 150, 6);
	user(0, 160, 7);
	sw(0, 200, 6, S, 0);
	finish_with(VERIFY_OUTSIDE, 1);
	cr_assert_eq(said.event, 160);
}

Test(verify_outside, nothing_is_known_outside_the_switches)
{
	begin();
	user(0, 90, 5);
	sw(0, 100, 0, R, 5);
	sw(0, 200, 5, R, 6);
	user(0, 300, 6);
	user(1, 300, 6);
	finish_clean();
	cr_assert_eq(figures.unchecked, 3);
}

Test(verify_outside, nothing_is_known_around_a_loss)
{
	begin();
	sw(0, 100, 0, R, 5);
	user(0, 150, 6);
	lost_before = 3;
	of(ID_OTHER, 0, 160, 0);
	user(0, 170, 7);
	sw(0, 200, 8, R, 6);
	user(0, 250, 6);
	sw(0, 300, 6, R, 0);
	finish_clean();
	cr_assert_eq(figures.unchecked, 2);
	cr_assert_eq(figures.checked, 1);
	cr_assert_eq(figures.losses, 1);
}

Test(verify_outside, a_loss_of_unknown_size_is_anybodys)
{
	begin();
	sw(0, 100, 0, R, 5);
	lost_before = -1;
	user(0, 150, 6);
	sw(0, 200, 5, R, 0);
	finish_clean();
	cr_assert_eq(figures.unchecked, 1);
}

Test(verify_outside, losses_of_programs_do_not_concern_the_kernel)
{
	begin();
	sw(0, 100, 0, R, 5);
	lost_before = 7;
	user(0, 150, 6);
	sw(0, 200, 5, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify_outside, a_loss_on_another_cpu_changes_nothing)
{
	begin();
	sw(0, 100, 0, R, 5);
	lost_before = 7;
	of(ID_OTHER, 1, 110, 0);
	user(0, 150, 6);
	sw(0, 200, 5, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify_outside, switches_that_contradict_each_other)
{
	begin();
	sw(0, 100, 0, R, 5);
	user(0, 150, 5);
	user(0, 160, 6);
	user(0, 170, 7);
	sw(0, 200, 6, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
	cr_assert_eq(said.event, 170);
	cr_assert_eq(figures.unchecked, 2);
	cr_assert_eq(figures.contradictions, 1);
	cr_assert_eq(contradiction.nr, 1);
	cr_assert_eq(contradiction.before, 100);
	cr_assert_eq(contradiction.event, 200);
}

Test(verify_outside, many_threads_in_one_stay)
{
	begin();
	sw(0, 100, 0, R, 5);
	for (int32_t tid = 1; tid <= 100; tid++)
		user(0, 150, tid);
	user(0, 151, 70);
	sw(0, 200, 5, R, 0);
	finish();
	cr_assert_eq(said.nr, 99);
	cr_assert_eq(figures.violations, 100);
}

/* The buffer that has the switches continues after the one that has the wake-ups has ended. */
Test(verify_outside, switches_of_another_buffer)
{
	unsigned int is_first;

	for (is_first = 0; is_first < 2; is_first++) {
		begin();
		of(ID_WAKING, 0, 90, 21);
		if (is_first)
			sw(0, 95, 0, R, 5);
		into = &buffers[1];
		sw(1, 100, 0, R, 21);
		sw(0, 101, 0, R, 5);
		into = &buffers[0];
		sw(0, 102, 0, R, 5);
		sw(1, 103, 0, R, 21);
		of(ID_WAKING, 0, 104, 21);
		into = &buffers[1];
		sw(1, 110, 21, S, 0);
		sw(1, 120, 0, R, 21);
		sw(1, 130, 21, S, 0);
		sw(1, 140, 0, R, 21);
		sw(0, 150, 5, R, 0);
		into = &buffers[0];
		finish_clean();
	}
}

Test(verify_outside, programs_in_a_buffer_of_their_own)
{
	begin();
	sw(0, 100, 0, R, 5);
	into = &buffers[1];
	user(0, 120, 5);
	lost_before = 3;
	user(0, 130, 6);
	into = &buffers[0];
	sw(0, 180, 5, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify_outside, losses_in_a_buffer_without_switches)
{
	begin();
	sw(0, 100, 0, R, 5);
	into = &buffers[1];
	lost_before = -1;
	user(0, 130, 6);
	into = &buffers[0];
	sw(0, 180, 5, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify_outside, a_program_in_another_pid_namespace)
{
	static char version[] = "recorder 1; threads of other pid namespaces: 6";

	options[0] = (struct dat_option){ .id = DAT_VERSION, .size = sizeof(version), .data = version };
	file.nr_options = 1;
	begin();
	sw(0, 100, 0, R, 5);
	user(0, 120, 5);
	user(0, 130, 6);
	sw(0, 180, 5, R, 0);
	finish_clean();
	cr_assert_eq(figures.checked, 1);
	cr_assert_eq(figures.unchecked, 1);
}

Test(verify_outside, lanes_are_no_cpus)
{
	begin();
	sw(0, 100, 0, R, 5);
	into = &buffers[2];
	user(0, 130, 6);
	into = &buffers[0];
	sw(0, 180, 5, R, 0);
	finish_clean();
	cr_assert_eq(figures.unchecked, 1);
}

Test(verify_outside, what_is_written_to_trace_marker_is_a_programs)
{
	const uint64_t ip = 1;

	begin();
	sw(0, 100, 0, R, 5);
	put(0, 130, ID_PRINT, 6, &ip, sizeof(ip));
	of(ID_OTHER, 0, 140, 6);
	sw(0, 180, 5, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
	cr_assert_eq(figures.user_events, 1);
}
