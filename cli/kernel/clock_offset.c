/* SPDX-License-Identifier: MIT */
#include "cli/kernel/clock_offset.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <librecorder/clock.h>
#include <librecorder/lane.h>
#include <librecorder/page.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/kernel/kernel_clock.h"
#include "cli/kernel/kernel_instance.h"
#include "cli/kernel/kernel_settings.h"
#include "cli/base/message.h"
#include "format/weave/time_map.h"

/* A round takes some 40 bytes in the ring, so all rounds fit into an instance's ring of the default size. */
#define ROUNDS_MAX 10000u

/* Offset of the text in an event of trace_marker: after the common fields and the writer's address. */
#define TEXT_OFFSET (sizeof(struct rec_event_common) + sizeof(long))

/* The first rounds on a CPU are not used, because its caches are cold. */
#define ROUNDS_AHEAD 8u

struct round {
	uint64_t before, after;
};

struct clock_probe {
	struct instance instance;
	const char *clock_name;
	uint32_t clock; /* the programs' clock */
	int marker;
	struct clock_offset *offsets;
	unsigned int nr;
	struct round *rounds;
	unsigned char *page;
	struct rec_anchor *anchors; /* one before and after each measurement */
	unsigned int nr_anchors;
};

/* ----------------------------------------------------------------------------------------------------- one CPU */

static int write_rounds(const struct clock_probe *probe, unsigned int nr)
{
	char text[16];

	for (unsigned int i = 0; i < nr; i++) {
		const int size = snprintf(text, sizeof(text), "%u", i);

		probe->rounds[i].before = rec_clock_read(probe->clock);
		if (write(probe->marker, text, (size_t)size) < 0)
			return -errno;
		probe->rounds[i].after = rec_clock_read(probe->clock);
	}
	return 0;
}

struct interval {
	int64_t low, high; /* in units of the clock */
	unsigned int rounds;
};

static void take_page(const struct clock_probe *probe, unsigned int nr, struct interval *interval)
{
	struct rec_page_iter iter;
	struct rec_record record;
	char text[16];

	rec_page_iter_init(&iter, probe->page, rec_page_size(probe->page));
	while (rec_page_next(&iter, &record) > 0) {
		unsigned long number;

		if (record.size <= TEXT_OFFSET)
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)(record.size - TEXT_OFFSET),
			 (const char *)record.payload + TEXT_OFFSET);
		number = strtoul(text, NULL, 10);
		if (number < ROUNDS_AHEAD || number >= nr)
			continue;
		if ((int64_t)(record.time - probe->rounds[number].after) > interval->low)
			interval->low = (int64_t)(record.time - probe->rounds[number].after);
		if ((int64_t)(record.time - probe->rounds[number].before) < interval->high)
			interval->high = (int64_t)(record.time - probe->rounds[number].before);
		interval->rounds++;
	}
}

/* Reads the pages that the rounds have written on the CPU. */
static int read_rounds(const struct clock_probe *probe, uint32_t cpu, unsigned int nr, struct interval *interval)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char name[64];
	ssize_t n;
	int fd, err;

	snprintf(name, sizeof(name), "per_cpu/cpu%" PRIu32 "/trace_pipe_raw", cpu);
	fd = tracefs_instance_file_open(probe->instance.tracefs, name, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return errno ? -errno : -EIO;
	while ((n = read(fd, probe->page, size)) > (ssize_t)REC_SUBBUF_HEADER_SIZE)
		take_page(probe, nr, interval);
	err = n < 0 && errno != EAGAIN ? -errno : 0;
	close(fd);
	return err;
}

static int64_t divide(__int128 number, uint64_t by, bool up)
{
	const __int128 quotient = number / by;

	if (quotient * by == number || (number > 0) != up)
		return (int64_t)quotient;
	return (int64_t)(up ? quotient + 1 : quotient - 1);
}

/*
 * Converts an interval in ticks to nanoseconds, by the first and the last anchor. The result must not be narrower than
 * the measured interval. So both the highest and the lowest rate that these anchors allow are used, and the ends are
 * rounded outwards.
 */
static void scale(const struct clock_probe *probe, struct interval *interval)
{
	const struct rec_anchor *first = &probe->anchors[0], *last = &probe->anchors[probe->nr_anchors - 1];
	const int64_t ns = (int64_t)(last->mono - first->mono), error = (int64_t)(first->error + last->error);

	if (probe->clock == REC_CLOCK_MONO || last->clock <= first->clock)
		return;
	interval->low = divide((__int128)interval->low * (interval->low < 0 ? ns + error : ns - error),
			       last->clock - first->clock, false);
	interval->high = divide((__int128)interval->high * (interval->high < 0 ? ns - error : ns + error),
				last->clock - first->clock, true);
}

static int take_anchor(struct clock_probe *probe)
{
	struct rec_anchor *anchors = realloc(probe->anchors, (probe->nr_anchors + 1) * sizeof(*anchors));
	int err;

	if (!anchors)
		return -ENOMEM;
	probe->anchors = anchors;
	err = rec_clock_anchor(probe->clock, &anchors[probe->nr_anchors]);
	probe->nr_anchors += !err;
	return err;
}

static int measure_cpu(struct clock_probe *probe, struct clock_offset *offset, unsigned int rounds)
{
	struct interval found = { INT64_MIN, INT64_MAX, 0 };
	const unsigned int nr = rounds + ROUNDS_AHEAD;
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	CPU_SET(offset->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return errno == EINVAL ? -ENXIO : -errno;
	err = take_anchor(probe);
	if (!err)
		err = write_rounds(probe, nr);
	if (!err)
		err = take_anchor(probe);
	if (!err)
		err = read_rounds(probe, offset->cpu, nr, &found);
	if (!err && !found.rounds)
		err = -EPROTO;
	if (err)
		return err;
	scale(probe, &found);
	clock_offset_join(offset, &(struct clock_offset){ offset->cpu, found.rounds, found.low, found.high });
	return 0;
}

int clock_probe_measure(struct clock_probe *probe, uint32_t cpu, unsigned int rounds)
{
	cpu_set_t before;
	int err = cpu == CLOCK_ALL_CPUS ? 0 : -ENXIO;

	if (sched_getaffinity(0, sizeof(before), &before) < 0)
		return -errno;
	if (rounds > ROUNDS_MAX)
		rounds = ROUNDS_MAX;
	for (unsigned int i = 0; i < probe->nr; i++) {
		const unsigned int at = probe->offsets[i].cpu;

		if (!CPU_ISSET(at, &before) || (cpu != CLOCK_ALL_CPUS && at != cpu))
			continue;
		err = measure_cpu(probe, &probe->offsets[i], rounds);
		/* A CPU that went offline meanwhile is not measured, which is not a failure. */
		if (err == -ENXIO && cpu == CLOCK_ALL_CPUS)
			err = 0;
		if (err)
			break;
	}
	sched_setaffinity(0, sizeof(before), &before);
	return err;
}

/* ----------------------------------------------------------------------------------------------- open and close */

static int find_cpus(struct clock_probe *probe)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	probe->offsets = calloc((size_t)CPU_COUNT(&set), sizeof(*probe->offsets));
	probe->rounds = calloc(ROUNDS_MAX + ROUNDS_AHEAD, sizeof(*probe->rounds));
	probe->page = malloc((size_t)sysconf(_SC_PAGESIZE));
	if (!probe->offsets || !probe->rounds || !probe->page)
		return -ENOMEM;
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			probe->offsets[probe->nr++].cpu = cpu;
	return 0;
}

static int set_up(const struct message_sink *sink, struct clock_probe *probe)
{
	struct tracefs_instance *tracefs = probe->instance.tracefs;
	int err = find_cpus(probe);

	if (err) {
		message(sink, "%s", strerror(-err));
		return err;
	}
	err = kernel_settings_clear_options(sink, &probe->instance);
	if (err)
		return err;
	if (!kernel_settings_has_clock(sink, &probe->instance, probe->clock_name))
		return -EINVAL;
	if (tracefs_instance_file_write(tracefs, "trace_clock", probe->clock_name) < 0) {
		err = errno ? -errno : -EINVAL;
		message(sink, "cannot set the clock '%s': %s", probe->clock_name, strerror(-err));
		return err;
	}
	if (tracefs_trace_on(tracefs) < 0) {
		err = errno ? -errno : -EIO;
		message(sink, "cannot switch tracing on in the instance '%s': %s", probe->instance.name,
			strerror(-err));
		return err;
	}
	probe->marker = tracefs_instance_file_open(tracefs, "trace_marker", O_WRONLY);
	if (probe->marker < 0) {
		err = errno ? -errno : -EIO;
		message(sink, "cannot write markers: %s", strerror(-err));
	}
	return probe->marker < 0 ? err : 0;
}

static void choose_clock(struct clock_probe *probe, const char *kernel_clock)
{
	const struct kernel_request request = { .clock = kernel_clock };

	probe->clock_name = kernel_settings_clock(&probe->instance, &request);
	probe->clock = kernel_clock_program(probe->clock_name);
}

int clock_probe_open(const struct message_sink *sink, const char *kernel_clock, struct clock_probe **ret_probe)
{
	struct clock_probe *probe = calloc(1, sizeof(*probe));
	int err;

	if (!probe) {
		message(sink, "out of memory");
		return -ENOMEM;
	}
	probe->marker = -1;
	err = instance_create(sink, "-clock", &probe->instance);
	if (!err) {
		choose_clock(probe, kernel_clock);
		err = set_up(sink, probe);
	}
	if (err) {
		clock_probe_close(sink, probe);
		return err;
	}
	*ret_probe = probe;
	return 0;
}

bool clock_probe_close(const struct message_sink *sink, struct clock_probe *probe)
{
	bool good;

	if (!probe)
		return true;
	if (probe->marker >= 0)
		close(probe->marker);
	good = instance_destroy(sink, &probe->instance);
	free(probe->offsets);
	free(probe->rounds);
	free(probe->page);
	free(probe->anchors);
	free(probe);
	return good;
}

/* ------------------------------------------------------------------------------------------------ what was found */

const struct clock_offset *clock_probe_offsets(const struct clock_probe *probe, unsigned int *ret_nr)
{
	*ret_nr = probe->nr;
	return probe->offsets;
}

const char *clock_probe_name(const struct clock_probe *probe)
{
	return probe->clock_name;
}

uint64_t clock_probe_error(const struct clock_probe *probe)
{
	struct time_map map;
	uint64_t error;

	if (time_map_init(&map, probe->clock, probe->anchors, probe->nr_anchors))
		return UINT64_MAX;
	error = probe->nr_anchors ? time_map_error(&map, probe->anchors[probe->nr_anchors - 1].clock) : UINT64_MAX;
	time_map_free(&map);
	return error;
}
