/* SPDX-License-Identifier: MIT */
/*
 * Weaves a generated recording and prints the lines that a viewer must show:
 *
 *	mkweave FILE VERSION woven|raw [PAGE-SIZE]
 *
 * Two processes on the TSC, five threads that move between four CPUs, events of equal name and different shape, call
 * sites of rec_printf, losses at the start, in the middle, of unknown number, and at the end. Standard output: one line
 * an event, "TID [CPU] SECONDS.MICROSECONDS: NAME: FIELDS", with a loss before it in trace-cmd's form.
 */
#include "tests/unit/weave_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS	 20000u
#define STREAMS	 5u
#define TICKS(t) ((t) * 5 / 2) /* 2.5 GHz */
#define START	 UINT64_C(7000000000000)
#define ID(n)	 ((uint16_t)(REC_EVENT_ID_FIRST + (n)))

struct printf_event {
	struct rec_event_common common;
	uint64_t ip;
	uint64_t site;
	uint32_t number;
};

/* The number of events lost before the event with this number. */
static uint64_t loss_before(uint64_t number)
{
	if (number == 0)
		return 3;
	if (number % 4001 == 0)
		return REC_LOST_UNKNOWN;
	return number % 997 == 0 ? number : 0;
}

static void say_loss(unsigned int cpu, uint64_t lost)
{
	if (lost == REC_LOST_UNKNOWN)
		printf("CPU:%u [EVENTS DROPPED]\n", cpu);
	else if (lost)
		printf("CPU:%u [%" PRIu64 " EVENTS DROPPED]\n", cpu, lost);
}

static void say(int32_t tid, unsigned int cpu, uint64_t ns, const char *what, uint64_t number)
{
	/* trace-cmd rounds to the nearest microsecond. */
	const uint64_t us = (ns + 500) / 1000;

	printf("%d [%03u] %" PRIu64 ".%06" PRIu64 ": %s%" PRIu64 "\n", tid, cpu, us / 1000000, us % 1000000, what,
	       number);
}

static void put(struct fake *fake, uint64_t number, bool raw)
{
	const unsigned int stream = (unsigned int)(number * 3 % STREAMS);
	const uint32_t cpu = (uint32_t)(number / 50 + stream) % 4;
	/* Times are 100 ns past a microsecond, so that an error of the conversion of less than that does not show. */
	const uint64_t ns = number * 3000 + 100 + (number > EVENTS / 2 ? UINT64_C(600000000) : 0);
	const int32_t tid = 500 + (int32_t)stream;
	const unsigned int process = stream >= 3;
	const unsigned int kind = (unsigned int)(number % 3);
	const uint64_t lost = loss_before(number);
	const struct printf_event text = { { ID(0), 0, 0, tid }, 1, 0x77, (uint32_t)number };

	if (lost)
		fake_lose(fake, stream, lost);
	say_loss(raw ? stream : cpu, lost);
	if (kind == 2)
		fake_put_bytes(fake, stream, cpu, TICKS(ns), &text, sizeof(text));
	else
		fake_put(fake, stream, cpu, TICKS(ns), process ? ID(2 - kind) : ID(1 + kind), tid, number, 16);
	say(tid, raw ? stream : cpu, START + ns,
	    kind == 2 ? (process ? "bprint: g: \"quoted\" " : "bprint: f: n=") : kind ? "odd: n=" : "even: n=", number);
}

int main(int argc, char **argv)
{
	const bool raw = argc > 3 && !strcmp(argv[3], "raw");
	const uint64_t end = EVENTS * 3000 + 700000000;
	const struct rec_anchor anchors[] = { { 0, START, 0, 20 }, { TICKS(end), START + end, 0, 20 } };
	struct blob logs[2] = { BLOB_INIT, BLOB_INIT };
	struct weave_process processes[2];
	struct weave_params params;
	struct weave_stats stats;
	struct fake *fake;
	uint64_t number;
	unsigned int i;
	int err;

	if (argc < 4)
		return 2;
	fake_log_event(&logs[0], ID(1), "t", "even", "u64(n)", 16);
	fake_log_event(&logs[0], ID(2), "t", "odd", "u64(n)", 16);
	fake_log_event(&logs[1], ID(1), "t", "odd", "u64(n)", 16);
	fake_log_event(&logs[1], ID(2), "t", "even", "s64(n)", 16);
	fake_log_printf(&logs[0], 0x77, "f", "n=%d\n");
	fake_log_printf(&logs[1], 0x77, "g", "\"quoted\" %d");
	fake_log_thread(&logs[0], 501, "a name with blanks");
	for (i = 0; i < 2; i++)
		processes[i] = (struct weave_process){
			.pid = 500 + 3 * i,
			.clock = REC_CLOCK_TSC,
			.subbuf_size = 4096,
			.comm = i ? "other" : "first",
			.log = logs[i].data,
			.log_size = logs[i].size,
			.anchors = anchors,
			.nr_anchors = 2,
		};
	fake = fake_new(STREAMS, 4096);
	for (i = 0; i < STREAMS; i++)
		fake->described[i].process = i >= 3;
	for (number = 0; number < EVENTS; number++)
		put(fake, number, raw);
	params = (struct weave_params){
		.source = &fake->source,
		.streams = fake->described,
		.processes = processes,
		.nr_processes = 2,
		.output = argv[1],
		.version = (unsigned int)atoi(argv[2]),
		.raw = raw,
		.page_size = argc > 4 ? (uint32_t)atoi(argv[4]) : 0,
		.nr_cpus = 4,
	};
	/* This loss is after the last event of all, so that only one order is right. */
	fake->described[(EVENTS - 1) * 3 % STREAMS].lost = 17;
	err = weave_to_dat(&params, &stats);
	if (err) {
		fprintf(stderr, "mkweave: %s: %s\n", argv[1], strerror(-err));
		return 1;
	}
	printf("CPU:end [17 EVENTS DROPPED]\nend: lost=17 no_lane=0\n");
	return 0;
}
