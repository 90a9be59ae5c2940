/* SPDX-License-Identifier: MIT */
/*
 * recorder clock: measures on each CPU the offset of the kernel's clock from that of programs, and the error of the
 * programs' clock against CLOCK_MONOTONIC (clock_offset.h).
 */
#include "cli/kernel/clock_offset.h"
#include "cli/cmd.h"
#include "cli/kernel/kernel_instance.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "clock"

static const struct message_sink sink = COMMAND_SINK(COMMAND);

struct measuring {
	uint64_t cpu;
	uint64_t rounds;
	const char *kernel_clock;
	bool json;
};

static bool is_tsc(const struct clock_probe *probe)
{
	return !strcmp(clock_probe_name(probe), "x86-tsc");
}

static void print_text(const struct clock_probe *probe)
{
	unsigned int nr;
	const struct clock_offset *offsets = clock_probe_offsets(probe, &nr);
	const uint64_t error = clock_probe_error(probe);

	printf("the kernel's %s minus the programs' %s:\n", clock_probe_name(probe), is_tsc(probe) ? "tsc" : "mono");
	for (unsigned int i = 0; i < nr; i++) {
		const struct clock_offset *offset = &offsets[i];

		if (!offset->rounds)
			continue;
		printf("CPU %u: between %" PRId64 " and %" PRId64 " ns, ", offset->cpu, offset->low, offset->high);
		if (clock_offset_contains_zero(offset))
			printf("0 included: the clocks differ by at most %" PRIu64 " ns", clock_offset_bound(offset));
		else if (offset->low > offset->high)
			printf("no offset fits all rounds: the clocks run at different rates");
		else
			printf("0 excluded: the clocks differ");
		printf("; %u rounds\n", offset->rounds);
	}
	if (is_tsc(probe) && error != UINT64_MAX)
		printf("tsc converted to CLOCK_MONOTONIC: within %" PRIu64 " ns, by the anchors taken meanwhile\n",
		       error);
}

static void print_json(const struct clock_probe *probe)
{
	unsigned int nr;
	const struct clock_offset *offsets = clock_probe_offsets(probe, &nr);
	const uint64_t error = clock_probe_error(probe);
	const char *between = "";

	printf("{\"kernel\":\"%s\",\"programs\":\"%s\",\"cpus\":[", clock_probe_name(probe),
	       is_tsc(probe) ? "tsc" : "mono");
	for (unsigned int i = 0; i < nr; i++) {
		const struct clock_offset *offset = &offsets[i];

		if (!offset->rounds)
			continue;
		printf("%s{\"cpu\":%u,\"low_ns\":%" PRId64 ",\"high_ns\":%" PRId64
		       ",\"holds_zero\":%s,\"bound_ns\":%" PRIu64 ",\"rounds\":%u}",
		       between, offset->cpu, offset->low, offset->high,
		       clock_offset_contains_zero(offset) ? "true" : "false", clock_offset_bound(offset),
		       offset->rounds);
		between = ",";
	}
	if (error == UINT64_MAX)
		printf("],\"error_ns\":null}\n");
	else
		printf("],\"error_ns\":%" PRIu64 "}\n", error);
}

static bool agree(const struct clock_probe *probe)
{
	unsigned int nr;
	const struct clock_offset *offsets = clock_probe_offsets(probe, &nr);

	for (unsigned int i = 0; i < nr; i++)
		if (offsets[i].rounds && !clock_offset_contains_zero(&offsets[i]))
			return false;
	return true;
}

static int measure(const struct measuring *m, struct clock_probe *probe)
{
	const int err = clock_probe_measure(probe, (uint32_t)m->cpu, (unsigned int)m->rounds);

	if (err == -ENXIO && m->cpu != CLOCK_ALL_CPUS)
		complain(COMMAND, "CPU %" PRIu64 " does not exist, or this process may not use it", m->cpu);
	else if (err)
		complain(COMMAND, "cannot measure: %s", strerror(-err));
	if (err)
		return EXIT_FAILURE;
	if (m->json)
		print_json(probe);
	else
		print_text(probe);
	return agree(probe) ? 0 : EXIT_FAILURE;
}

static int run(const struct measuring *m)
{
	struct clock_probe *probe;
	int status;

	if (instance_find_tracefs(&sink, false))
		return EXIT_FAILURE;
	instance_sweep(&sink, true);
	if (clock_probe_open(&sink, m->kernel_clock, &probe))
		return EXIT_FAILURE;
	status = measure(m, probe);
	if (!clock_probe_close(&sink, probe))
		status = EXIT_FAILURE;
	return status;
}

int cmd_clock(int argc, char **argv)
{
	struct measuring m = { .cpu = CLOCK_ALL_CPUS, .rounds = 1000 };
	const struct opt table[] = {
		OPT_NUMBER(0, "cpu", "N", 0, UINT32_MAX - 1, "measure on this CPU only (all)", &m.cpu),
		OPT_NUMBER('n', NULL, "ROUNDS", 1, 10000, "number of rounds on each CPU (1000)", &m.rounds),
		OPT_STRING('C', "clock", "CLOCK",
			   "the kernel's clock, one of the words in trace_clock (the one that programs use)",
			   &m.kernel_clock),
		OPT_FLAG(0, "json", "print one line of JSON", &m.json),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "",
		.about =
			"Measure the offset between the kernel's clock and that of programs on each CPU: the\n"
			"kernel stamps events between two readings of the programs' clock. Exit status 1 if the\n"
			"clocks differ or cannot be measured.\n",
		.table = table,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	/* The same words as for record. */
	if (m.kernel_clock && !strcmp(m.kernel_clock, "tsc"))
		m.kernel_clock = "x86-tsc";
	return run(&m);
}
