/* SPDX-License-Identifier: MIT */
/* Weaving several processes into one file: their clocks, their ids, their printf sites. */
#include "weave_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define TSC_PER_NS 3u

/* Weave `s`, in which two processes write 1000 events in turn, one a us. */
static struct seen *weave_two(struct weaving *s, struct weave_process *processes, const struct blob *logs)
{
	/* 3 ticks a ns, tick 3000000000 is 5 s. */
	static const struct rec_anchor anchors[] = {
		{ UINT64_C(3000000000), UINT64_C(5000000000), 0, 10 },
		{ UINT64_C(6000000000), UINT64_C(6000000000), 0, 10 },
	};

	processes[0] = processes[1] = s->process;
	processes[0].clock = REC_CLOCK_TSC;
	processes[0].anchors = anchors;
	processes[0].nr_anchors = 2;
	processes[1].pid = 2000;
	processes[1].comm = "other";
	processes[0].log = logs[0].data;
	processes[0].log_size = logs[0].size;
	processes[1].log = logs[1].data;
	processes[1].log_size = logs[1].size;
	s->params.processes = processes;
	s->params.nr_processes = 2;
	s->fake->described[1].process = 1;
	for (uint64_t number = 0; number < 1000; number++) {
		const uint64_t ns = UINT64_C(5000000000) + number * 1000;

		if (number % 2)
			fake_put(s->fake, 1, 1, ns, number % 4 == 1 ? ID_A : ID_B, 2001, number, FAKE_SIZE);
		else
			fake_put(s->fake, 0, 0, (ns - UINT64_C(4000000000)) * TSC_PER_NS,
				 number % 4 ? ID_B : ID_A, PID, number, FAKE_SIZE);
	}
	return weave(s);
}

/* Events of the same name and shape have the same id, whatever it was in their process. */
static void check_two(const struct seen *seen)
{
	uint16_t id_a = 0;

	cr_assert_eq(seen->nr, 1000);
	for (uint64_t number = 0; number < 1000; number++) {
		const struct seen_event *event = &seen->events[number];
		static const char *const names[] = { "t:a", "t:shape", "t:shape", "t:a" };

		cr_assert_eq(event->number, number);
		cr_assert_leq(UINT64_C(5000000000) + number * 1000 - event->time, 1);
		cr_assert_str_eq(event->name, names[number % 4]);
		if (number % 4 == 0 || number % 4 == 3) {
			id_a = id_a ? id_a : event->common.type;
			cr_assert_eq(event->common.type, id_a);
		}
		/* Its shape is different, so it is not the same event. */
		if (number % 4 == 2)
			cr_assert_neq(event->common.type, seen->events[number - 1].common.type);
	}
}

Test(weave, processes_with_clocks_and_ids_of_their_own)
{
	struct weave_process processes[2];
	struct blob logs[2] = { BLOB_INIT, BLOB_INIT };

	/* The same event under different ids, and different events under one. */
	fake_log_event(&logs[0], ID_A, "t", "a", "u64(number)", 16);
	fake_log_event(&logs[0], ID_B, "t", "shape", "u64(number)", 16);
	fake_log_event(&logs[1], ID_A, "t", "shape", "s64(number)", 16);
	fake_log_event(&logs[1], ID_B, "t", "a", "u64( number )", 16);
	fake_log_thread(&logs[1], 2001, "a long name of a thread, longer than the kernel's");
	for (unsigned int raw = 0; raw < 2; raw++) {
		struct weaving s;
		struct seen *seen;

		weaving_begin(&s, 2);
		s.params.raw = raw;
		seen = weave_two(&s, processes, logs);
		check_two(seen);
		cr_assert_eq(s.stats.processes, 2);
		cr_assert_eq(s.stats.threads, 2);
		cr_assert_str_eq(seen->cmdlines, "1000 prog\n2000 other\n"
						 "2001 a long name of a thread, longer than the kernel's\n");
		weaving_end(&s, seen);
	}
	blob_free(&logs[0]);
	blob_free(&logs[1]);
}

struct printf_event {
	struct rec_event_common common;
	uint64_t ip;
	uint64_t site;
	uint32_t args[2];
};

Test(weave, printf_sites_of_several_processes)
{
	unsigned int raw;

	for (raw = 0; raw < 2; raw++) {
		struct weave_process processes[2];
		struct blob logs[2] = { BLOB_INIT, BLOB_INIT };
		struct weaving s;
		struct seen *seen;
		struct printf_event event = { { REC_EVENT_ID_FIRST, 0, 0, PID }, 0x1234, 0x4000, { 5, 0 } };
		char line[64];

		weaving_begin(&s, 2);
		fake_log_printf(&logs[0], 0x4000, "first", "n=%d\n");
		fake_log_printf(&logs[1], 0x4000, "second one", "say \"%d\"\\");
		processes[0] = processes[1] = s.process;
		processes[0].log = logs[0].data;
		processes[0].log_size = logs[0].size;
		processes[1].log = logs[1].data;
		processes[1].log_size = logs[1].size;
		s.params.processes = processes;
		s.params.nr_processes = 2;
		s.params.raw = raw;
		s.fake->described[1].process = 1;
		fake_put_bytes(s.fake, 0, 0, 100, &event, sizeof(event));
		fake_put_bytes(s.fake, 1, 0, 101, &event, sizeof(event));
		seen = weave(&s);
		cr_assert_eq(seen->nr, 2);
		cr_assert_str_eq(seen->events[0].name, "ftrace:bprint");
		cr_assert_neq(seen->events[0].number2, seen->events[1].number2);
		cr_assert_eq(seen->events[0].number, seen->events[0].number2);
		snprintf(line, sizeof(line), "0x%llx : \"n=%%d\\n\"\n", (unsigned long long)seen->events[0].number2);
		cr_assert_not_null(strstr(seen->printk, line), "%s", seen->printk);
		snprintf(line, sizeof(line), "%llx t second_one\n", (unsigned long long)seen->events[1].number2);
		cr_assert_not_null(strstr(seen->kallsyms, line), "%s", seen->kallsyms);
		weaving_end(&s, seen);
		blob_free(&logs[0]);
		blob_free(&logs[1]);
	}
}
