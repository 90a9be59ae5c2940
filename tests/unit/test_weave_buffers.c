/* SPDX-License-Identifier: MIT */
/* The kernel's place in the file, the size of pages, and the file's contents besides the pages. */
#include "format/dat/dat_read.h"
#include "kernel_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------- sub-buffers and buffers */

/* The file's pages are as large as the largest. */
Test(weave_buffers, large_sub_buffers)
{
	static const uint32_t sizes[] = { 8192, 65536, 524288 };
	unsigned char *large = calloc(1, 524288);
	unsigned int i;
	uint64_t number;

	for (i = 0; i < 3; i++) {
		struct both b;
		struct seen *seen;

		both_begin(&b, 1, 1);
		b.w.fake->subbuf_size = sizes[i];
		b.processes[1].subbuf_size = sizes[i];
		memcpy(large, &(struct fake_event){ { ID_TICK, 0, 0, 77 }, 1000 }, sizeof(struct fake_event));
		fake_put_bytes(b.w.fake, 1, 0, 500, large, sizes[i] - 16 - 64);
		for (number = 0; number < 9000; number++)
			both_put(&b, 0, 1000 + number, number);
		both_put_user(&b, 0, 0, 2000, 1);
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 9002);
		cr_assert_eq(seen->page_size, sizes[i]);
		cr_assert_eq(seen->events[0].size, sizes[i] - 16 - 64);
		weaving_end(&b.w, seen);
	}
	free(large);
}

static void check_buffers(const struct seen *seen, const char *name, bool raw)
{
	uint64_t i;

	cr_assert_eq(seen->nr, 3000);
	for (i = 0; i < 3000; i++) {
		const unsigned int cpu = i % 3 || !raw ? i % 2 : 0;

		check_event(&seen->events[i], i % 3 ? "sched:tick" : "t:a", cpu, 1000 + i, i);
		cr_assert_str_eq(seen->events[i].buffer, i % 3 ? "" : name);
	}
}

/* The kernel is in the top buffer, each program in an instance; in a raw file all lanes are in one instance. */
Test(weave_buffers, buffers)
{
	unsigned int version, raw, clock;

	for (version = 6; version <= 7; version++) {
		for (raw = 0; raw < 2; raw++) {
			for (clock = 0; clock < 2; clock++) {
				static const struct rec_anchor anchors[] = { { 0, 0, 0, 1 },
									     { 2 << 28, 1 << 28, 0, 1 } };
				struct both b;
				struct seen *seen;
				uint64_t i;

				both_begin(&b, 1, 2);
				for (i = 0; i < 3000; i++) {
					if (i % 3)
						both_put(&b, (unsigned int)(i % 2), (1000 + i) << clock, i);
					else
						both_put_user(&b, 0, (unsigned int)(i % 2), (1000 + i) << clock, i);
				}
				if (clock) {
					b.kernel.clock = "x86-tsc";
					b.processes[0].clock = b.processes[1].clock = REC_CLOCK_TSC;
					b.w.params.anchors = anchors;
					b.w.params.nr_anchors = 2;
				}
				b.w.params.version = version;
				b.w.params.raw = raw;
				b.w.params.buffers = WEAVE_SPLIT;
				seen = weave(&b.w);
				check_buffers(seen, raw ? "lanes" : "prog-1000", raw);
				cr_assert_eq(b.w.stats.cpus, 2);
				weaving_end(&b.w, seen);
			}
		}
	}
}

/* Without the kernel the top buffer is empty. A process without events has no buffer. */
Test(weave_buffers, split_without_the_kernel)
{
	unsigned int version;

	for (version = 6; version <= 7; version++) {
		struct weaving w;
		struct weave_process processes[3];
		struct dat_error error;
		struct dat_file *file;
		struct seen *seen;

		weaving_begin(&w, 2);
		processes[0] = processes[1] = processes[2] = w.process;
		processes[1].pid = 2000;
		processes[2].pid = 3000;
		w.fake->described[1].process = 2;
		w.params.processes = processes;
		w.params.nr_processes = 3;
		w.params.version = version;
		w.params.buffers = WEAVE_SPLIT;
		fake_put(w.fake, 0, 1, 1000, ID_A, PID, 1, FAKE_SIZE);
		fake_put(w.fake, 1, 0, 1001, ID_B, 3000, 2, FAKE_SIZE);
		seen = weave(&w);
		cr_assert_str_eq(seen->events[0].buffer, "prog-1000");
		cr_assert_str_eq(seen->events[1].buffer, "prog-3000");
		cr_assert_eq(dat_open(w.params.output, NULL, &file, &error), 0);
		cr_assert_eq(file->nr_buffers, 3);
		dat_close(file);
		weaving_end(&w, seen);
	}
}

/* ------------------------------------------------------------------------------------------- beside the pages */

static void put_switch(struct both *b, unsigned int cpu, uint64_t time, int32_t prev, const char *prev_comm,
		       int32_t next, const char *next_comm)
{
	struct switch_event event = { .common = { ID_SWITCH, 0, 0, prev }, .prev_pid = prev, .next_pid = next };

	snprintf(event.prev_comm, sizeof(event.prev_comm), "%s", prev_comm);
	snprintf(event.next_comm, sizeof(event.next_comm), "%s", next_comm);
	fake_put_bytes(b->w.fake, b->lanes + cpu, cpu, time, &event, sizeof(event));
}

/*
 * A thread gets the first of these names that exists: its own, the kernel's last one, the one in events, the process's.
 */
Test(weave_buffers, names)
{
	unsigned int with_user;

	for (with_user = 0; with_user < 2; with_user++) {
		struct both b;
		struct seen *seen;

		both_begin(&b, 1, 1);
		fake_log_thread(&b.w.log, 1001, "own");
		b.processes[0].log = b.w.log.data;
		b.processes[0].log_size = b.w.log.size;
		b.kernel.cmdlines = (struct weave_text)TEXT("\n1000 renamed\n0 <idle>\n1001 k1\n1002 k two\nbroken\n"
							    "5 saved\n6 <...>\n");
		put_switch(&b, 0, 100, 5, "said", 1003, "worker\x01");
		put_switch(&b, 0, 200, 6, "sleepy", 0, "swapper/0");
		put_switch(&b, 0, 300, 7, "", 1003, "worker/2");
		if (with_user) {
			fake_put(b.w.fake, 0, 0, 400, ID_A, 1002, 1, FAKE_SIZE);
			fake_put(b.w.fake, 0, 0, 401, ID_A, 1004, 1, FAKE_SIZE);
		}
		seen = weave(&b.w);
		cr_assert_str_eq(seen->cmdlines, with_user ? "5 saved\n6 sleepy\n1000 prog\n1001 own\n1002 k two\n"
							     "1003 worker/2\n1004 prog\n" :
							     "5 saved\n6 sleepy\n1000 prog\n1001 own\n1002 k two\n"
							     "1003 worker/2\n");
		weaving_end(&b.w, seen);
	}
}

/* The last name is that of the latest event, whichever CPU it is on. */
Test(weave_buffers, names_by_time)
{
	unsigned int with_user;

	for (with_user = 0; with_user < 2; with_user++) {
		struct both b;
		struct seen *seen;

		both_begin(&b, 1, 2);
		put_switch(&b, 0, 100, 5, "bash", 6, "bash");
		put_switch(&b, 0, 300, 5, "ls", 0, "swapper/0");
		put_switch(&b, 1, 50, 6, "parent", 7, "seven");
		put_switch(&b, 1, 200, 5, "bash", 0, "swapper/1");
		put_switch(&b, 1, 400, 6, "cat", 0, "swapper/1");
		if (with_user)
			fake_put(b.w.fake, 0, 0, 250, ID_A, PID, 1, FAKE_SIZE);
		seen = weave(&b.w);
		cr_assert_str_eq(seen->cmdlines, "5 ls\n6 cat\n7 seven\n1000 prog\n");
		weaving_end(&b.w, seen);
	}
}

/* A format whose fields lie outside of its event, in more than one way, names no thread. */
Test(weave_buffers, names_out_of_bounds)
{
	static const char *const fields[] = {
		"\tfield:char comm[16];\toffset:4294967288;\tsize:16;\tsigned:0;\n"
		"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n",
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:pid_t pid;\toffset:4294967292;\tsize:4;\tsigned:1;\n",
		"\tfield:char comm[16];\toffset:9;\tsize:16;\tsigned:0;\n"
		"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n",
	};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		const struct fake_event event = { { 310, 0, 0, 77 }, UINT64_C(0x4141414100000005) };
		struct weave_format format = { "sched", { NULL, 0 } };
		struct both b;
		struct seen *seen;
		char text[512];

		format.text.size = (size_t)snprintf(text, sizeof(text),
						    "name: odd\nID: 310\nformat:\n%s\nprint fmt: \"\"\n", fields[i]);
		format.text.data = text;
		both_begin(&b, 1, 1);
		b.kernel.formats = &format;
		b.kernel.nr_formats = 1;
		fake_put_bytes(b.w.fake, 1, 0, 100, &event, sizeof(event));
		fake_put_bytes(b.w.fake, 1, 0, 200, &event, sizeof(event));
		fake_put(b.w.fake, 0, 0, 250, ID_A, PID, 1, FAKE_SIZE);
		seen = weave(&b.w);
		cr_assert_str_eq(seen->cmdlines, "1000 prog\n");
		weaving_end(&b.w, seen);
	}
}

/*
 * If there are more names than the weave left room for before the pages, it moves the pages, and nothing else changes.
 */
Test(weave_buffers, more_names_than_expected)
{
	unsigned int version, split;

	for (version = 6; version <= 7; version++)
		for (split = 0; split < 2; split++) {
			struct both b;
			struct seen *seen;
			const char *line;
			int32_t i, nr = 0;

			both_begin(&b, 1, 2);
			b.w.params.version = version;
			b.w.params.buffers = split ? WEAVE_SPLIT : WEAVE_WOVEN;
			b.processes[1].clock = REC_CLOCK_TSC;
			b.kernel.clock = "x86-tsc";
			for (i = 0; i < 15000; i++) {
				put_switch(&b, (unsigned int)i % 2, 1000 + (uint64_t)i * 10, 100000 + i,
					   "a name of these", 200000 + i, "and one of those");
				if (i % 100 == 0)
					fake_put(b.w.fake, 0, (unsigned int)i / 100 % 2, 1005 + (uint64_t)i * 10, ID_A,
						 PID, (uint64_t)i, FAKE_SIZE);
			}
			seen = weave(&b.w);
			cr_assert_eq(seen->nr, 15150);
			for (i = 0; i < 15150; i++) {
				const int32_t block = i / 101, place = i % 101;

				if (place == 1)
					check_event(&seen->events[i], "t:a", (uint32_t)block % 2,
						    1005 + (uint64_t)block * 1000, (uint64_t)block * 100);
				else
					cr_assert_eq(seen->events[i].common.pid,
						     100000 + block * 100 + place - (place > 1));
			}
			for (line = seen->cmdlines; *line; line = strchr(line, '\n') + 1)
				nr++;
			cr_assert_eq(nr, 30001);
			weaving_end(&b.w, seen);
		}
}

/* The file has the kernel's texts unchanged, then ours; each format once, those of ftrace first. */
Test(weave_buffers, texts)
{
	static const struct weave_text stats[] = { TEXT("entries: 9\nread events: 1234\n") };
	struct both b;
	struct seen *seen;
	struct dat_error error;
	struct dat_file *file;

	both_begin(&b, 1, 2);
	fake_log_printf(&b.w.log, 0x55, "f", "x=%d\n");
	b.processes[0].log = b.w.log.data;
	b.processes[0].log_size = b.w.log.size;
	b.kernel.printk = (struct weave_text)TEXT("0xffffffff81000000 : \"kernel\\n\"\n");
	b.kernel.kallsyms = (struct weave_text)TEXT("ffffffff81000000 T start_kernel");
	b.kernel.uname = "Linux box 6.18 x86_64";
	b.kernel.cpu_stats = stats;
	b.kernel.nr_cpu_stats = 1;
	both_put(&b, 0, 100, 1);
	both_put(&b, 1, 100, 2);
	both_put_user(&b, 0, 0, 101, 3);
	seen = weave(&b.w);
	cr_assert_str_eq(seen->kallsyms, "ffffffff81000000 T start_kernel\n7265630000000000 t f\n");
	cr_assert_str_eq(seen->printk, "0xffffffff81000000 : \"kernel\\n\"\n0x7265630000000000 : \"x=%d\\n\"\n");
	cr_assert_eq(dat_open(b.w.params.output, NULL, &file, &error), 0);
	cr_assert_str_eq(dat_option(file, DAT_UNAME)->data, "Linux box 6.18 x86_64");
	cr_assert_str_eq(file->formats[0].system, "ftrace");
	cr_assert_not_null(strstr(file->formats[0].text.text, "name: print\n"));
	/* print, rec_printf's, three of the function graph, sched_switch, tick, t:a, t:b */
	cr_assert_eq(file->nr_formats, 9);
	cr_assert_not_null(strstr(dat_option(file, DAT_CPUSTAT)->data,
				  "CPU: 0\nentries: 9\nread events: 1234\n\nCPU: 0, programs\n"));
	cr_assert_not_null(strstr(dat_option(file, DAT_CPUSTAT)->data, "read events: 1\n"));
	dat_close(file);
	weaving_end(&b.w, seen);
}

/* Weave two buffers of the kernel with a program. */
static void weave_two(unsigned int version, bool raw, bool tsc, enum weave_buffers buffers)
{
	static const struct rec_anchor anchors[] = { { 0, 0, 0, 1 }, { 2 << 28, 1 << 28, 0, 1 } };
	const char *program = raw ? "lanes" : buffers == WEAVE_SPLIT ? "prog-1000" : "";
	struct weave_process processes[3];
	struct weave_kernel other;
	struct both b;
	struct seen *seen;

	/* Two CPUs of one kernel, then two of the other. */
	both_begin(&b, 1, 4);
	memcpy(processes, b.processes, sizeof(b.processes));
	other = b.kernel;
	other.buffer = "other";
	if (tsc) {
		b.kernel.clock = other.clock = "x86-tsc";
		processes[0].clock = processes[1].clock = REC_CLOCK_TSC;
		b.w.params.anchors = anchors;
		b.w.params.nr_anchors = 2;
	}
	processes[2] = processes[1];
	processes[2].kernel = &other;
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		b.w.fake->described[3 + cpu] = (struct weave_stream){ .process = 2, .cpu = cpu };
	b.w.params.processes = processes;
	b.w.params.nr_processes = 3;
	for (uint64_t i = 0; i < 3000; i++) {
		if (i % 5)
			both_put(&b, (unsigned int)(i % 4), (1000 + i) << tsc, i);
		else
			both_put_user(&b, 0, (unsigned int)(i % 2), (1000 + i) << tsc, i);
	}
	b.w.params.version = version;
	b.w.params.raw = raw;
	b.w.params.buffers = buffers;
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 3000);
	cr_assert_eq(b.w.stats.kernel_events, 2400);
	for (uint64_t i = 0; i < 3000; i++) {
		const struct seen_event *event = &seen->events[i];

		cr_assert_eq(event->number, i);
		cr_assert_str_eq(event->name, i % 5 ? "sched:tick" : "t:a");
		cr_assert_str_eq(event->buffer, !(i % 5) ? program : i % 4 < 2 ? "" : "other");
	}
	weaving_end(&b.w, seen);
}

Test(weave_buffers, the_kernel_in_two_buffers)
{
	for (unsigned int version = 6; version <= 7; version++)
		for (unsigned int tsc = 0; tsc < 2; tsc++) {
			weave_two(version, false, tsc, WEAVE_WOVEN);
			weave_two(version, false, tsc, WEAVE_SPLIT);
			weave_two(version, true, tsc, WEAVE_WOVEN);
		}
}

Test(weave_buffers, kernels_that_cannot_be)
{
	struct weave_process processes[3];
	struct weave_kernel other;
	struct both b;

	both_begin(&b, 1, 1);
	memcpy(processes, b.processes, sizeof(b.processes));
	processes[2] = processes[1];
	other = b.kernel;
	processes[2].kernel = &other;
	b.w.params.processes = processes;
	b.w.params.nr_processes = 3;
	/* Refused: both kernels in the top buffer; both in other buffers; kernels with different clocks. */
	cr_assert_eq(weave_to_dat(&b.w.params, &b.w.stats), -EINVAL);
	other.buffer = b.kernel.buffer = "other";
	cr_assert_eq(weave_to_dat(&b.w.params, &b.w.stats), -EINVAL);
	b.kernel.buffer = NULL;
	other.clock = "boot";
	cr_assert_eq(weave_to_dat(&b.w.params, &b.w.stats), -EINVAL);
	/* A recorder was killed before it had noted the clock. */
	other.clock = NULL;
	cr_assert_eq(weave_to_dat(&b.w.params, &b.w.stats), 0);
	fake_free(b.w.fake);
	blob_free(&b.w.log);
	unlink(b.w.params.output);
}
