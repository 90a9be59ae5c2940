/* SPDX-License-Identifier: MIT */
#include "kernel_fixture.h"

#include <criterion/criterion.h>

#define FORMAT(name, id, fields)                                                                                  \
	"name: " name "\nID: " id "\nformat:\n"                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                                    \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                                    \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                            \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" fields "\nprint fmt: \"\"\n"

static const char switch_text[] = FORMAT("sched_switch", "300",
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:28;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:44;\tsize:4;\tsigned:1;\n");
static const char tick_text[] = FORMAT("tick", "301", "\tfield:u64 n;\toffset:8;\tsize:8;\tsigned:0;\n");
static const char print_text[] = FORMAT("print", "5", "\tfield:u64 ip;\toffset:8;\tsize:8;\tsigned:0;\n");
/* As in newer kernels, where the depth of a call is a long, and that of its return an int. */
static const char call_text[] = FORMAT("funcgraph_entry", "11",
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long depth;\toffset:16;\tsize:8;\tsigned:0;\n");
static const char address_text[] = FORMAT("fgraph_retaddr_entry", "12",
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int depth;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long retaddr;\toffset:20;\tsize:8;\tsigned:0;\n");
static const char return_text[] = FORMAT("funcgraph_exit", "10",
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n");

static const struct weave_format formats[] = {
	{ "ftrace", TEXT(print_text) },
	{ "sched", TEXT(switch_text) },
	{ "sched", TEXT(tick_text) },
	{ "ftrace", TEXT(call_text) },
	{ "ftrace", TEXT(address_text) },
	{ "ftrace", TEXT(return_text) },
	{ "sched", TEXT(switch_text) }, /* the same format once more */
};

void both_begin(struct both *b, unsigned int lanes, unsigned int cpus)
{
	unsigned int i;

	weaving_begin(&b->w, lanes + cpus);
	b->lanes = lanes;
	b->kernel = (struct weave_kernel){ .clock = "mono", .formats = formats, .nr_formats = 7 };
	b->processes[0] = b->w.process;
	b->processes[1] = (struct weave_process){
		.kernel = &b->kernel, .clock = REC_CLOCK_MONO, .subbuf_size = 4096, .comm = "kernel" };
	b->w.params.processes = b->processes;
	b->w.params.nr_processes = 2;
	for (i = 0; i < cpus; i++) {
		b->w.fake->described[lanes + i] = (struct weave_stream){ .process = 1, .cpu = i };
		b->w.fake->streams[lanes + i].kernel = true;
	}
}

void both_put(struct both *b, unsigned int cpu, uint64_t time, uint64_t number)
{
	fake_put(b->w.fake, b->lanes + cpu, cpu, time, ID_TICK, 77, number, FAKE_SIZE);
}

void both_put_user(struct both *b, unsigned int lane, unsigned int cpu, uint64_t time, uint64_t number)
{
	fake_put(b->w.fake, lane, cpu, time, ID_A, PID, number, FAKE_SIZE);
}

void check_event(const struct seen_event *event, const char *name, uint32_t cpu, uint64_t time, uint64_t number)
{
	cr_assert_str_eq(event->name, name);
	cr_assert_eq(event->cpu, cpu, "event %d", (int)number);
	cr_assert_eq(event->time, time, "event %d", (int)number);
	cr_assert_eq(event->number, number);
}

void put_word(struct page_maker *page, uint32_t type, uint64_t delta)
{
	const uint32_t words[2] = { (uint32_t)(delta & REC_DELTA_MAX) << 5 | type, (uint32_t)(delta >> 27) };

	memcpy(page->bytes + 16 + page->size, words, 8);
	page->size += type == REC_TYPE_TIME_EXTEND || type == REC_TYPE_TIME_STAMP ? 8 : 4;
}

void put_tick(struct page_maker *page, uint64_t delta, uint64_t number)
{
	const struct fake_event event = { { ID_TICK, 0, 0, 77 }, number };

	put_word(page, sizeof(event) / 4, delta);
	memcpy(page->bytes + 16 + page->size, &event, sizeof(event));
	page->size += (uint32_t)sizeof(event);
}

void put_padding(struct page_maker *page, uint64_t delta, uint32_t size)
{
	put_word(page, REC_TYPE_PADDING, delta);
	memcpy(page->bytes + 16 + page->size, &size, 4);
	page->size += size;
}

void make_page(struct page_maker *page, uint64_t time)
{
	memset(page->bytes, 0, 4096);
	memcpy(page->bytes, &time, 8);
	page->size = 0;
	put_word(page, REC_TYPE_TIME_EXTEND, 0);
	put_tick(page, 0, 1);
	put_word(page, REC_TYPE_TIME_STAMP, time + 50);
	put_tick(page, 0, 2);
	/* A discarded event, 30 ns later, from which the next event counts. */
	put_padding(page, 30, 20);
	put_tick(page, 7, 3);
	put_word(page, REC_TYPE_TIME_EXTEND, UINT64_C(1) << 40);
	put_tick(page, 0, 4);
	put_padding(page, 1, 36);
}
