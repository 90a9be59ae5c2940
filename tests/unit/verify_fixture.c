/* SPDX-License-Identifier: MIT */
#include "tests/unit/verify_fixture.h"

#include "format/io/blob.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define COMMON                                                                              \
	"format:\n"                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"              \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"              \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"      \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define NUMBER(name, at, size) "\tfield:int " name ";\toffset:" at ";\tsize:" size ";\tsigned:1;\n"

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

static struct dat_stream streams[] = { { .cpu = 0, .size = 1 }, { .cpu = 1, .size = 1 } };
struct dat_buffer buffers[3] = {
	{ .name = (char[]){ "" }, .cpus = 2, .nr_streams = 2, .streams = streams },
	{ .name = (char[]){ "other" }, .cpus = 2, .nr_streams = 2, .streams = streams },
	{ .name = (char[]){ "lanes" }, .cpus = 2, .nr_streams = 2, .streams = streams },
};
static struct dat_format formats[NR_FORMATS];
struct dat_option options[8];
struct dat_file file = {
	.commit_size = 8,
	.formats = formats,
	.nr_formats = NR_FORMATS,
	.buffers = buffers,
	.nr_buffers = 3,
	.options = options,
};
static struct event_table *table;
static struct verify *verify;
struct verify_figures figures;

struct report said, contradiction;

static void note(void *arg, const struct verify_violation *violation)
{
	(void)arg;
	printf("# %s\n", violation->text);
	if (violation->kind == VERIFY_CONTRADICTION) {
		contradiction.nr++;
		contradiction.before = violation->before->ts;
		contradiction.event = violation->event->ts;
		return;
	}
	said.nr++;
	said.kind = violation->kind;
	said.events = violation->events;
	said.before = violation->before ? violation->before->ts : 0;
	said.event = violation->event ? violation->event->ts : 0;
	said.after = violation->after ? violation->after->ts : 0;
}

static void name_writer(void)
{
	static char writer[] = "recorder 1";

	for (size_t i = 0; i < file.nr_options; i++)
		if (options[i].id == DAT_VERSION)
			return;
	options[file.nr_options++] = (struct dat_option){ .id = DAT_VERSION, .size = sizeof(writer), .data = writer };
}

void begin(void)
{
	name_writer();
	for (size_t i = 0; i < NR_FORMATS; i++)
		formats[i] = (struct dat_format){ made[i].system,
						  { (char *)(uintptr_t)made[i].text, strlen(made[i].text), 0 } };
	cr_assert_eq(event_table_open(&file, EVENT_NO_PLUGINS, &table), 0);
	cr_assert_eq(table->failed.nr, 0);
	cr_assert_eq(verify_open(&file, table, note, NULL, &verify), 0);
}

void finish(void)
{
	cr_assert_eq(verify_finish(verify, &figures), 0);
	verify_close(verify);
	event_table_close(table);
	cr_assert_eq(figures.checked + figures.unchecked, figures.user_events);
}

void finish_clean(void)
{
	finish();
	cr_assert_eq(figures.violations, 0);
}

void finish_with(enum verify_kind kind, uint64_t events)
{
	finish();
	cr_assert_eq(said.nr, 1, "%u violations", said.nr);
	cr_assert_eq(said.kind, kind);
	cr_assert_eq(figures.violations, events);
	cr_assert_eq(figures.of_kind[kind], events);
}

/* --------------------------------------------------------------------------------------------------------- events */

const struct dat_buffer *into = &buffers[0];
int64_t lost_before;

void put(uint32_t cpu, uint64_t ts, int id, int pid, const void *rest, uint32_t size)
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
	/* The checks must not use the event's bytes any more. */
	memset(data, 0xee, sizeof(data));
	lost_before = 0;
}

void sw(uint32_t cpu, uint64_t ts, int32_t prev, int64_t state, int32_t next)
{
	const struct {
		int32_t next, prev;
		int64_t state;
	} data = { next, prev, state };

	put(cpu, ts, ID_SWITCH, prev, &data, sizeof(data));
}

void of(int id, uint32_t cpu, uint64_t ts, int32_t tid)
{
	put(cpu, ts, id, 1, &tid, sizeof(tid));
}

void user(uint32_t cpu, uint64_t ts, int32_t tid)
{
	const uint64_t number = 5;

	put(cpu, ts, ID_USER, tid, &number, sizeof(number));
}

void begin_running(void)
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

void end_idle(int32_t on_0, int32_t on_1)
{
	sw(0, 100000, on_0, S, 0);
	sw(1, 100001, on_1, S, 0);
}
