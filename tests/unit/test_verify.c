/* SPDX-License-Identifier: MIT */
/*
 * Each check of format/verify/verify.h on made-up events: the violation is found, and the closest case that is not a
 * violation is not reported. Two CPUs; the test sets the times.
 */
#include "format/io/blob.h"
#include "format/verify/verify.h"

#include <criterion/criterion.h>
#include <librecorder/detail/abi.h>
#include <stdio.h>
#include <string.h>

#define COMMON                                                                              \
	"format:\n"                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"              \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"              \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"      \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define NUMBER(name, at, size) "\tfield:int " name ";\toffset:" at ";\tsize:" size ";\tsigned:1;\n"

enum { ID_SWITCH = 100, ID_WAKING, ID_WAKEUP, ID_NEW, ID_FORK, ID_PRINT, ID_OTHER };
#define ID_USER (REC_EVENT_ID_FIRST + 3)
#define ID_END	(REC_EVENT_ID_FIRST + 4)

static const struct {
	const char *system, *text;
} made[] = {
	{ "sched", "name: sched_switch\nID: 100\n" COMMON NUMBER("next_pid", "8", "4") NUMBER("prev_pid", "12", "4")
		     NUMBER("prev_state", "16", "8") "\nprint fmt: \"\"\n" },
	{ "sched", "name: sched_waking\nID: 101\n" COMMON NUMBER("pid", "8", "4") "\nprint fmt: \"\"\n" },
	{ "sched", "name: sched_wakeup\nID: 102\n" COMMON NUMBER("pid", "8", "4") "\nprint fmt: \"\"\n" },
	{ "sched", "name: sched_wakeup_new\nID: 103\n" COMMON NUMBER("pid", "8", "4") "\nprint fmt: \"\"\n" },
	{ "sched", "name: sched_process_fork\nID: 104\n" COMMON NUMBER("child_pid", "8", "4") "\nprint fmt: \"\"\n" },
	{ "ftrace", "name: print\nID: 105\n" COMMON NUMBER("ip", "8", "8") "\nprint fmt: \"\"\n" },
	{ "irq", "name: other\nID: 106\n" COMMON NUMBER("n", "8", "4") "\nprint fmt: \"\"\n" },
	{ "t", "name: a\nID: 16387\n" COMMON NUMBER("n", "8", "8") "\nprint fmt: \"\"\n" },
	{ "recorder", "name: end\nID: 16388\n" COMMON NUMBER("lost", "8", "8") "\nprint fmt: \"\"\n" },
};
#define NR_FORMATS (sizeof(made) / sizeof(made[0]))

/* The file: a top buffer and an instance, two CPUs each. */
static struct dat_stream streams[] = { { 0, 0, 1 }, { 1, 0, 1 } };
static struct dat_buffer buffers[] = {
	{ .name = (char[]){ "" }, .cpus = 2, .nr_streams = 2, .streams = streams },
	{ .name = (char[]){ "other" }, .cpus = 2, .nr_streams = 2, .streams = streams },
	{ .name = (char[]){ "lanes" }, .cpus = 2, .nr_streams = 2, .streams = streams },
};
static struct dat_format formats[NR_FORMATS];
static struct dat_option options[8];
static struct dat_file file = {
	.commit_size = 8,
	.formats = formats,
	.nr_formats = NR_FORMATS,
	.buffers = buffers,
	.nr_buffers = 3,
	.options = options,
};
static struct event_table *table;
static struct verify *verify;
static struct verify_figures figures;

/* What was reported last. */
static struct {
	unsigned int nr;
	enum verify_kind kind;
	uint64_t events;
	uint64_t before, event, after; /* their times */
} said;

static void note(void *arg, const struct verify_violation *violation)
{
	(void)arg;
	said.nr++;
	said.kind = violation->kind;
	said.events = violation->events;
	said.before = violation->before ? violation->before->ts : 0;
	said.event = violation->event ? violation->event->ts : 0;
	said.after = violation->after ? violation->after->ts : 0;
	printf("# %s\n", violation->text);
}

/* The file is a recorder's, unless the test says otherwise. */
static void name_writer(void)
{
	static char writer[] = "recorder 1";

	for (size_t i = 0; i < file.nr_options; i++)
		if (options[i].id == DAT_VERSION)
			return;
	options[file.nr_options++] = (struct dat_option){ .id = DAT_VERSION, .size = sizeof(writer), .data = writer };
}

static void begin(void)
{
	name_writer();
	for (size_t i = 0; i < NR_FORMATS; i++)
		formats[i] = (struct dat_format){ made[i].system,
						  { (char *)(uintptr_t)made[i].text, strlen(made[i].text), 0 } };
	cr_assert_eq(event_table_open(&file, EVENT_NO_PLUGINS, &table), 0);
	cr_assert_eq(table->failures, 0);
	cr_assert_eq(verify_open(&file, table, note, NULL, &verify), 0);
}

static void finish(void)
{
	cr_assert_eq(verify_finish(verify, &figures), 0);
	verify_close(verify);
	event_table_close(table);
	cr_assert_eq(figures.checked + figures.unchecked, figures.user_events);
}

/* Nothing is wrong. */
static void finish_clean(void)
{
	finish();
	cr_assert_eq(figures.violations, 0);
}

static void finish_with(enum verify_kind kind, uint64_t events)
{
	finish();
	cr_assert_eq(said.nr, 1, "%u violations", said.nr);
	cr_assert_eq(said.kind, kind);
	cr_assert_eq(figures.violations, events);
	cr_assert_eq(figures.of_kind[kind], events);
}

/* --------------------------------------------------------------------------------------------------------- events */

static const struct dat_buffer *into = &buffers[0];
static int64_t lost_before; /* the next event */

static void put(uint32_t cpu, uint64_t ts, int id, int pid, const void *rest, uint32_t size)
{
	struct rec_event_common common = { .type = (uint16_t)id, .pid = pid };
	unsigned char data[64] = { 0 };
	const struct dat_event event = {
		.ts = ts, .cpu = cpu, .size = (uint32_t)sizeof(common) + size, .data = data, .lost = lost_before,
		.buffer = into, .offset = 4096,
	};

	memcpy(data, &common, sizeof(common));
	memcpy(data + sizeof(common), rest, size);
	cr_assert_eq(verify_event(verify, &event), 0);
	/* From here on its bytes must not be relied on. */
	memset(data, 0xee, sizeof(data));
	lost_before = 0;
}

#define R 0
#define S 1
#define X 16

static void sw(uint32_t cpu, uint64_t ts, int32_t prev, int64_t state, int32_t next)
{
	const struct {
		int32_t next, prev;
		int64_t state;
	} data = { next, prev, state };

	put(cpu, ts, ID_SWITCH, prev, &data, sizeof(data));
}

static void of(int id, uint32_t cpu, uint64_t ts, int32_t tid)
{
	put(cpu, ts, id, 1, &tid, sizeof(tid));
}

static void user(uint32_t cpu, uint64_t ts, int32_t tid)
{
	const uint64_t number = 5;

	put(cpu, ts, ID_USER, tid, &number, sizeof(number));
}

/* Both CPUs have begun; thread 5, which wakes when the test says so, runs on CPU 0. */
static void begin_running(void)
{
	begin();
	of(ID_OTHER, 1, 99, 0);
	sw(0, 100, 0, R, 5);
	sw(1, 101, 0, R, 9);
	of(ID_WAKING, 1, 102, 5);
	sw(1, 103, 9, S, 0);
	sw(0, 104, 5, R, 0);
	sw(0, 105, 0, R, 5);
}

/* Long after all that was reported, both CPUs are idle: what waited is decided. */
static void end_idle(int32_t on_0, int32_t on_1)
{
	sw(0, 100000, on_0, S, 0);
	sw(1, 100001, on_1, S, 0);
}

/* -------------------------------------------------------------------------------------------------------- outside */

Test(verify, an_event_lies_in_its_threads_time)
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

Test(verify, an_event_in_anothers_time)
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

Test(verify, an_event_while_nobody_ran)
{
	begin();
	sw(0, 100, 5, S, 0);
	user(0, 120, 5);
	sw(0, 180, 0, R, 5);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify, an_event_on_another_cpu)
{
	begin();
	sw(0, 100, 0, R, 5);
	sw(1, 110, 0, R, 6);
	user(1, 120, 5);
	sw(0, 180, 5, R, 0);
	sw(1, 190, 6, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify, the_times_of_both_switches_belong_to_it)
{
	begin();
	sw(0, 100, 0, R, 5);
	sw(0, 200, 5, R, 6);
	/* After its end and before its beginning, but at exactly that time. */
	user(0, 200, 5);
	user(0, 300, 7);
	sw(0, 300, 6, R, 7);
	user(0, 300, 6);
	sw(0, 400, 7, R, 0);
	finish_clean();
	cr_assert_eq(figures.checked, 3);
}

Test(verify, a_nanosecond_behind_its_end)
{
	begin();
	sw(0, 100, 0, R, 5);
	sw(0, 200, 5, R, 6);
	user(0, 200, 5);
	user(0, 201, 5);
	sw(0, 300, 6, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify, a_nanosecond_before_its_beginning)
{
	begin();
	sw(0, 100, 0, R, 6);
	user(0, 199, 5);
	user(0, 200, 5);
	sw(0, 200, 6, R, 5);
	sw(0, 300, 5, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify, out_of_idle_without_a_switch)
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

Test(verify, out_of_idle_it_is_one_threads_time)
{
	begin();
	sw(0, 100, 5, S, 0);
	user(0, 150, 6);
	user(0, 160, 7);
	sw(0, 200, 6, S, 0);
	finish_with(VERIFY_OUTSIDE, 1);
	cr_assert_eq(said.event, 160);
}

Test(verify, nothing_is_known_outside_the_switches)
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

Test(verify, nothing_is_known_around_a_loss)
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

Test(verify, a_loss_of_unknown_size_is_anybodys)
{
	begin();
	sw(0, 100, 0, R, 5);
	lost_before = -1;
	user(0, 150, 6);
	sw(0, 200, 5, R, 0);
	finish_clean();
	cr_assert_eq(figures.unchecked, 1);
}

Test(verify, what_programs_lose_says_nothing_of_the_kernel)
{
	begin();
	sw(0, 100, 0, R, 5);
	lost_before = 7;
	user(0, 150, 6);
	sw(0, 200, 5, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify, a_loss_on_another_cpu_changes_nothing)
{
	begin();
	sw(0, 100, 0, R, 5);
	lost_before = 7;
	of(ID_OTHER, 1, 110, 0);
	user(0, 150, 6);
	sw(0, 200, 5, R, 0);
	finish_with(VERIFY_OUTSIDE, 1);
}

Test(verify, switches_that_contradict_each_other)
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
}

Test(verify, many_threads_in_one_stay)
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

/* A buffer that continues when the one that has the wake-ups has ended. */
Test(verify, switches_of_another_buffer)
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

Test(verify, programs_in_a_buffer_of_their_own)
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

Test(verify, losses_in_a_buffer_without_switches)
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

Test(verify, lanes_are_no_cpus)
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

Test(verify, what_is_written_to_trace_marker_is_a_programs)
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

/* ----------------------------------------------------------------------------------------------------- two_cpus */

Test(verify, a_thread_on_two_cpus)
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

Test(verify, a_thread_moves)
{
	begin_running();
	sw(0, 199, 5, R, 0);
	sw(1, 200, 0, R, 5);
	end_idle(0, 5);
	finish_clean();
	cr_assert_eq(figures.migrations, 1);
}

Test(verify, a_thread_moves_within_a_nanosecond)
{
	begin_running();
	sw(1, 200, 0, R, 5);
	sw(0, 200, 5, R, 0);
	end_idle(0, 5);
	finish_clean();
}

Test(verify, out_of_idle_on_another_cpu_without_a_switch)
{
	begin_running();
	sw(1, 200, 5, R, 0);
	sw(0, 300, 5, S, 0);
	end_idle(0, 0);
	finish_with(VERIFY_TWO_CPUS, 1);
}

Test(verify, a_loss_told_later_explains_two_cpus)
{
	begin_running();
	sw(1, 200, 0, R, 5);
	lost_before = 1;
	sw(0, 300, 6, S, 0);
	end_idle(0, 5);
	finish_clean();
}

Test(verify, a_contradiction_told_later_explains_two_cpus)
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

Test(verify, a_thread_runs_that_slept)
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

Test(verify, a_thread_runs_that_was_woken)
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

Test(verify, a_thread_is_woken_when_it_is_about_to_sleep)
{
	begin_running();
	of(ID_WAKING, 1, 190, 5);
	sw(0, 200, 5, S, 0);
	of(ID_WAKEUP, 1, 210, 5);
	sw(0, 300, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify, a_wake_up_serves_once)
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

Test(verify, a_wake_up_within_the_nanosecond_of_the_switch)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	of(ID_WAKING, 1, 300, 5);
	of(ID_WAKEUP, 1, 300, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify, a_thread_that_was_preempted_needs_none)
{
	begin_running();
	sw(0, 200, 5, R, 0);
	sw(0, 300, 0, R, 5);
	sw(0, 310, 5, 0x100, 0);
	sw(0, 320, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify, its_switch_out_shows_that_it_ran)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	sw(0, 300, 5, S, 0);
	end_idle(0, 0);
	finish_with(VERIFY_NOT_WOKEN, 1);
}

Test(verify, wake_ups_that_are_not_recorded_are_not_missed)
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

Test(verify, a_loss_told_later_explains_the_wake_up)
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

Test(verify, a_loss_behind_it_does_not)
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

Test(verify, a_cpu_that_stays_idle_hides_nothing)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	sw(0, 310, 5, S, 0);
	finish_with(VERIFY_NOT_WOKEN, 1);
}

Test(verify, a_cpu_that_has_not_begun_may_have_woken_it)
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

/* It may have been masked: what programs set for it is not the kernel's. */
Test(verify, a_cpu_with_events_of_programs_alone)
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

/* It may have been masked. In version 7 it is not in the file's list at all. */
Test(verify, a_cpu_without_events_may_have_woken_it)
{
	const uint32_t count = 2;
	unsigned int version;

	for (version = 6; version <= 7; version++) {
		if (version == 7) {
			buffers[0].nr_streams = 1;
			options[0] = (struct dat_option){ .id = DAT_CPUCOUNT, .size = 4, .data = (char *)(uintptr_t)&count };
			file.nr_options = 1;
		} else {
			streams[1].size = 0;
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

/* The recorder reports it: what is not there was not asked for. */
Test(verify, switches_of_some_threads_alone)
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

static char trace_cmd[] = "3.1.6 not-a-git-repo";

/* Another program's file does not: 6 and 8 were asked for, 5 and 7 are seen when one of these comes or goes. */
Test(verify, whose_switches_were_recorded_is_not_said)
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

/* Once it was seen with the idle task, the same checks apply to it as in any other file. */
Test(verify, that_switches_were_recorded_is_seen)
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

Test(verify, that_a_thread_was_recorded_is_seen_by_its_own_events)
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

Test(verify, a_loss_while_it_slept)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	lost_before = 4;
	of(ID_OTHER, 1, 250, 0);
	sw(0, 300, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify, somebody_hidden_may_have_woken_it)
{
	begin_running();
	sw(1, 190, 0, R, 69);
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	sw(0, 310, 5, R, 0);
	/* What 69 did is not shown, nor that it left. */
	sw(1, 400, 7, S, 0);
	end_idle(0, 0);
	finish_clean();
}

Test(verify, a_recorders_own_threads)
{
	static char text[] = "recorder 1; hidden threads: 4 5 6; x";

	options[file.nr_options++] = (struct dat_option){ .id = DAT_VERSION, .data = text };
	begin_running();
	sw(0, 200, 5, S, 0);
	sw(0, 300, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify, the_dead_are_not_woken)
{
	begin_running();
	sw(0, 200, 5, X, 0);
	/* Another one with its number. */
	sw(0, 300, 0, R, 5);
	end_idle(5, 0);
	finish_clean();
}

Test(verify, a_new_thread)
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

/* --------------------------------------------------------------------------------------------------- woken_late */

Test(verify, a_wake_up_that_ends_behind_the_switch)
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

Test(verify, a_wake_up_of_a_thread_that_runs)
{
	begin_running();
	sw(0, 200, 5, S, 0);
	of(ID_WAKING, 1, 250, 5);
	sw(0, 300, 0, R, 5);
	/* The second half of the first one is hidden; this one came when it was about to sleep again. */
	of(ID_WAKING, 1, 350, 5);
	of(ID_WAKEUP, 1, 351, 5);
	sw(0, 360, 5, R, 0);
	of(ID_WAKEUP, 1, 370, 5);
	end_idle(0, 0);
	finish_clean();
}

/* --------------------------------------------------------------------------------------------------------- back */

Test(verify, time_goes_back)
{
	begin();
	user(0, 200, 5);
	user(0, 199, 5);
	user(0, 300, 5);
	finish_with(VERIFY_BACK, 1);
	cr_assert_eq(said.before, 200);
	cr_assert_eq(said.event, 199);
}

Test(verify, time_stands_still)
{
	begin();
	user(0, 200, 5);
	user(0, 200, 5);
	user(1, 100, 5);
	finish_clean();
}

/* -------------------------------------------------------------------------------------------------------- count */

static void stat(const char *text)
{
	options[file.nr_options++] = (struct dat_option){ .id = DAT_CPUSTAT, .size = (uint32_t)strlen(text) + 1,
							  .data = (char *)(uintptr_t)text };
}

#define STAT(cpu, entries, overrun, dropped, read)                                                             \
	"CPU: " cpu "\nentries: " entries "\noverrun: " overrun "\ncommit overrun: 0\nbytes: 5\n"             \
	"oldest event ts: 1.0\nnow ts: 2.0\ndropped events: " dropped "\nread events: " read "\n"

Test(verify, statistics_agree)
{
	stat(STAT("0", "0", "7", "0", "2"));
	stat(STAT("1", "0", "0", "4", "1"));
	begin();
	lost_before = 7;
	user(0, 100, 5);
	user(0, 200, 5);
	user(1, 200, 5);
	finish_clean();
	cr_assert_eq(figures.counts, 2);
}

Test(verify, statistics_of_kernel_and_programs)
{
	stat(STAT("0", "0", "7", "0", "2") "\n" STAT("0, programs", "0", "3", "0", "1"));
	begin();
	lost_before = 7;
	of(ID_OTHER, 0, 100, 5);
	of(ID_OTHER, 0, 200, 5);
	lost_before = 3;
	user(0, 200, 5);
	finish_clean();
	cr_assert_eq(figures.counts, 1);
}

Test(verify, an_event_is_missing)
{
	stat(STAT("0", "0", "0", "0", "2"));
	begin();
	user(0, 100, 5);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify, losses_that_no_page_tells)
{
	stat(STAT("0", "0", "8", "0", "1"));
	begin();
	lost_before = 7;
	user(0, 100, 5);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify, losses_that_no_statistics_know)
{
	stat(STAT("0", "0", "6", "0", "1"));
	begin();
	lost_before = 7;
	user(0, 100, 5);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify, losses_of_unknown_size)
{
	stat(STAT("0", "0", "8", "0", "1"));
	begin();
	lost_before = -1;
	user(0, 100, 5);
	finish_clean();
}

Test(verify, not_all_was_read)
{
	stat(STAT("0", "3", "8", "0", "1"));
	begin();
	user(0, 100, 5);
	finish_clean();
}

/* trace-cmd reads the rest after its statistics: all of it, or what it had time for. */
Test(verify, the_rest_was_read_behind_the_statistics)
{
	uint64_t read;

	for (read = 1; read <= 3; read++) {
		file.nr_options = 0;
		stat(STAT("0", "2", "0", "0", "1"));
		begin();
		for (uint64_t i = 0; i < read; i++)
			user(0, 100 + i, 5);
		finish_clean();
	}
}

/* trace-cmd --date writes an event into one CPU's ring and reads it itself. */
Test(verify, the_event_by_which_the_date_was_found)
{
	unsigned int missing;

	for (missing = 1; missing <= 3; missing++) {
		memset(&said, 0, sizeof(said));
		file.nr_options = 0;
		options[file.nr_options++] = (struct dat_option){ .id = DAT_DATE, .data = (char[]){ "0x1" } };
		stat(missing == 3 ? STAT("0", "0", "0", "0", "3") : STAT("0", "0", "0", "0", "2"));
		stat(missing == 2 ? STAT("1", "0", "0", "0", "2") : STAT("1", "0", "0", "0", "1"));
		begin();
		user(0, 100, 5);
		user(1, 100, 5);
		finish();
		cr_assert_eq(figures.of_kind[VERIFY_COUNT], missing > 1);
	}
}

Test(verify, more_than_the_rest)
{
	stat(STAT("0", "2", "0", "0", "1"));
	begin();
	for (uint64_t i = 0; i < 4; i++)
		user(0, 100 + i, 5);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify, the_rest_was_read_and_its_losses_are_not_told)
{
	stat(STAT("0", "1", "8", "0", "1"));
	begin();
	lost_before = 7;
	user(0, 100, 5);
	user(0, 101, 5);
	finish_with(VERIFY_COUNT, 1);
}

/* Version 7 has no list entry for a CPU without events, nor a top buffer that has none. */
Test(verify, statistics_of_a_cpu_that_only_an_instance_has)
{
	uint64_t wrong;

	for (wrong = 0; wrong < 2; wrong++) {
		memset(&said, 0, sizeof(said));
		file.nr_options = 0;
		stat(wrong ? STAT("1", "0", "0", "0", "2") : STAT("1", "0", "0", "0", "1"));
		buffers[0].nr_streams = 1;
		begin();
		into = &buffers[1];
		user(1, 100, 5);
		finish();
		cr_assert_eq(figures.counts, 1);
		cr_assert_eq(figures.of_kind[VERIFY_COUNT], wrong);
	}
	file.nr_options = 0;
	stat(STAT("0", "0", "0", "0", "0"));
	stat("\nBuffer: lanes\n\n");
	stat(STAT("0", "0", "0", "0", "2"));
	file.buffers = &buffers[1];
	file.nr_buffers = 2;
	begin();
	into = &buffers[2];
	user(0, 100, 5);
	user(0, 101, 5);
	finish_clean();
	cr_assert_eq(figures.counts, 2);
}

Test(verify, statistics_of_a_cpu_without_events)
{
	stat(STAT("7", "0", "0", "0", "0"));
	stat(STAT("8", "0", "0", "0", "1"));
	begin();
	user(0, 100, 5);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify, statistics_of_an_instance)
{
	stat(STAT("0", "0", "0", "0", "1"));
	stat("\nBuffer: other\n\n");
	stat(STAT("0", "0", "0", "0", "2"));
	begin();
	user(0, 100, 5);
	user(0, 101, 5);
	into = &buffers[1];
	user(0, 100, 5);
	finish();
	/* The sums are the same. */
	cr_assert_eq(figures.of_kind[VERIFY_COUNT], 2);
}

Test(verify, statistics_of_a_buffer_without_any)
{
	stat(STAT("0", "0", "0", "0", "2") "\n" STAT("0, programs", "0", "0", "0", "1"));
	begin();
	of(ID_OTHER, 0, 100, 5);
	of(ID_OTHER, 0, 200, 5);
	into = &buffers[1];
	user(0, 200, 5);
	finish_clean();
}

static void end(const char *statistics, int64_t says, int64_t page)
{
	stat(statistics);
	begin();
	user(0, 100, 5);
	lost_before = page;
	put(0, 110, ID_END, 5, &says, sizeof(says));
}

Test(verify, the_end_tells_what_its_page_does)
{
	end(STAT("0", "0", "3", "0", "1"), 3, 3);
	finish_clean();
	cr_assert_eq(figures.user_events, 1);
}

Test(verify, the_end_does_not)
{
	end(STAT("0", "0", "3", "0", "1"), 4, 3);
	finish_with(VERIFY_COUNT, 1);
}

Test(verify, the_end_may_be_on_another_cpu_than_what_was_lost)
{
	end(STAT("0", "0", "0", "0", "1"), 3, 3);
	finish_clean();
}
