/* SPDX-License-Identifier: MIT */
#include "format/dat/dat_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/blob.h"

#define OFFSETS	     "kernel - programs: "
#define SOME_THREADS "switches of some threads alone"
#define HIDDEN	     "hidden threads:"
#define OTHER_PIDS   "threads of other pid namespaces:"
#define PROCESSES    "processes:"
#define TIME_ERROR   "time error at most "
#define CLOCKS	     "clocks: "

void clock_offset_join(struct clock_offset *known, const struct clock_offset *found)
{
	const bool is_none = known->rounds && known->low > known->high;

	if (!known->rounds || (!is_none && found->low > found->high)) {
		known->low = found->low;
		known->high = found->high;
	} else if (!is_none) {
		known->low = found->low < known->low ? found->low : known->low;
		known->high = found->high > known->high ? found->high : known->high;
	}
	known->rounds += found->rounds;
}

char *clock_offsets_text(const struct clock_offset *offsets, unsigned int nr)
{
	struct blob text = BLOB_INIT;
	const char *between = OFFSETS;

	for (unsigned int i = 0; i < nr; i++) {
		if (!offsets[i].rounds)
			continue;
		blob_printf(&text, "%sCPU %u %" PRId64 " to %" PRId64 " ns in %u rounds", between, offsets[i].cpu,
			    offsets[i].low, offsets[i].high, offsets[i].rounds);
		between = ", ";
	}
	blob_put(&text, "", 1);
	if (!text.error)
		return (char *)text.data;
	blob_free(&text);
	return NULL;
}

bool clock_offsets_next(const char **at, struct clock_offset *ret_offset)
{
	struct clock_offset offset;
	const char *text = strstr(*at, "CPU ");
	int size = 0;

	if (!text ||
	    sscanf(text, "CPU %u %" SCNd64 " to %" SCNd64 " ns in %u rounds%n", &offset.cpu, &offset.low,
		   &offset.high, &offset.rounds, &size) != 4 ||
	    !size)
		return false;
	*at = text + size;
	*ret_offset = offset;
	return true;
}

bool dat_notes_next_thread(const char **at, int32_t *ret_tid)
{
	char *end;
	const unsigned long tid = strtoul(*at, &end, 10);

	if (end == *at)
		return false;
	*at = end;
	*ret_tid = (int32_t)tid;
	return true;
}

bool dat_notes_next_member(const char **at, int32_t *pid, int32_t *ret_tid)
{
	if (**at == ',') {
		++*at;
		*pid = 0;
	}
	if (!dat_notes_next_thread(at, ret_tid))
		return false;
	if (!*pid)
		*pid = *ret_tid;
	return true;
}

static void put_readings(struct blob *text, const struct dat_notes *notes)
{
	for (unsigned int i = 0; i < notes->nr_readings; i++) {
		const struct clock_reading *reading = &notes->readings[i];

		blob_printf(text, "%smonotonic %" PRIu64 " realtime %" PRIu64 " boottime %" PRIu64 " ns",
			    i ? ", " : "; " CLOCKS, reading->mono, reading->realtime, reading->boottime);
	}
}

/* Readings that do not go forward, as only a damaged file has them, are left out. */
static void read_readings(const char *at, struct dat_notes *notes)
{
	struct clock_reading reading;
	int size = 0;

	while (at && notes->nr_readings < CLOCK_READINGS &&
	       sscanf(at, "monotonic %" SCNu64 " realtime %" SCNu64 " boottime %" SCNu64 " ns%n", &reading.mono,
		      &reading.realtime, &reading.boottime, &size) == 3 &&
	       size) {
		if (!notes->nr_readings || reading.mono > notes->readings[0].mono)
			notes->readings[notes->nr_readings++] = reading;
		at += size;
		at = !strncmp(at, ", ", 2) ? at + 2 : NULL;
		size = 0;
	}
}

/* A list of threads, if there are any. */
static void put_threads(struct blob *text, const char *what, const char *threads)
{
	const char *at = threads ? threads : "";
	int32_t tid;

	if (*at)
		blob_printf(text, "; %s", what);
	while (dat_notes_next_thread(&at, &tid))
		blob_printf(text, " %" PRId32, tid);
}

void dat_notes_put(struct blob *text, const struct dat_notes *notes)
{
	blob_printf(text, "%s", notes->program);
	if (notes->offsets)
		blob_printf(text, "; %s", notes->offsets);
	if (notes->some_threads)
		blob_printf(text, "; " SOME_THREADS);
	put_threads(text, HIDDEN, notes->hidden);
	put_threads(text, OTHER_PIDS, notes->other_pids);
	if (notes->processes && *notes->processes)
		blob_printf(text, "; " PROCESSES " %s", notes->processes);
	if (notes->time_error != DAT_TIME_ERROR_UNKNOWN)
		blob_printf(text, "; " TIME_ERROR "%" PRIu64 " ns", notes->time_error);
	put_readings(text, notes);
}

/* What follows `what`; NULL: it is not there. */
static const char *value_after(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	return at ? at + strlen(what) : NULL;
}

bool dat_notes_read(const char *text, struct dat_notes *ret_notes)
{
	const char *error;

	*ret_notes = (struct dat_notes){ .time_error = DAT_TIME_ERROR_UNKNOWN };
	if (!text)
		return false;
	ret_notes->offsets = value_after(text, OFFSETS);
	ret_notes->some_threads = strstr(text, SOME_THREADS);
	ret_notes->hidden = value_after(text, HIDDEN);
	ret_notes->other_pids = value_after(text, OTHER_PIDS);
	ret_notes->processes = value_after(text, PROCESSES);
	error = value_after(text, TIME_ERROR);
	if (error)
		ret_notes->time_error = strtoull(error, NULL, 10);
	read_readings(value_after(text, CLOCKS), ret_notes);
	return !strncmp(text, "recorder ", 9) || !strncmp(text, "librecorder ", 12);
}
