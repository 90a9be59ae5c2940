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
#define READ_ERROR   "clocks read within "
#define DAY_ERROR    "time of day within "
#define BOOT	     "boot "
#define MERGED	     "merged within "
#define MERGE_OPEN   " and errors that are not stated"
#define LOSSES	     "events lost from "

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

/* Appends the largest of the errors; nothing if one of them is not known. */
static void put_error(struct blob *text, const char *what, uint64_t one, uint64_t other)
{
	if (one && other)
		blob_printf(text, "; %s%" PRIu64 " ns", what, one > other ? one : other);
}

static void put_readings(struct blob *text, const struct dat_notes *notes)
{
	const struct clock_reading *first = &notes->readings[0], *last = first;

	for (unsigned int i = 0; i < notes->nr_readings; i++) {
		const struct clock_reading *reading = &notes->readings[i];

		blob_printf(text, "%smonotonic %" PRIu64 " realtime %" PRIu64 " boottime %" PRIu64 " ns",
			    i ? ", " : "; " CLOCKS, reading->mono, reading->realtime, reading->boottime);
		last = reading;
	}
	if (!notes->nr_readings)
		return;
	put_error(text, READ_ERROR, first->error, last->error);
	put_error(text, DAY_ERROR, first->day_error, last->day_error);
}

/* Read the readings of the clocks. Readings whose times do not rise, which only a damaged file has, are left out. */
static void read_readings(const char *at, struct dat_notes *notes)
{
	struct clock_reading reading = { 0 };
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

/* Appends a list of threads, unless it is empty. */
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
	if (notes->some_threads && notes->listed && strpbrk(notes->listed, "0123456789"))
		put_threads(text, SOME_THREADS ":", notes->listed);
	else if (notes->some_threads)
		blob_printf(text, "; " SOME_THREADS);
	put_threads(text, HIDDEN, notes->hidden);
	put_threads(text, OTHER_PIDS, notes->other_pids);
	if (notes->processes && *notes->processes)
		blob_printf(text, "; " PROCESSES " %s", notes->processes);
	if (notes->time_error != DAT_TIME_ERROR_UNKNOWN)
		blob_printf(text, "; " TIME_ERROR "%" PRIu64 " ns", notes->time_error);
	put_readings(text, notes);
	if (notes->boot && *notes->boot)
		blob_printf(text, "; " BOOT "%.*s", (int)DAT_BOOT_ID, notes->boot);
	if (notes->is_merged)
		blob_printf(text, "; " MERGED "%" PRIu64 " ns%s", notes->merge_error,
			    notes->merge_is_open ? MERGE_OPEN : "");
	if (notes->losses && *notes->losses)
		blob_printf(text, "; " LOSSES "%s", notes->losses);
}

/* The text after `what`; NULL: `what` does not occur. */
static const char *value_after(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	return at ? at + strlen(what) : NULL;
}

void dat_notes_put_some(struct blob *text, const char *notes)
{
	const char *some = strstr(notes, "; " SOME_THREADS);
	const size_t before = some ? (size_t)(some - notes) : strcspn(notes, ";");
	const char *rest = notes + before;

	rest += some ? 1 + strcspn(rest + 1, ";") : 0;
	blob_put(text, notes, before);
	blob_printf(text, "; " SOME_THREADS "%s", rest);
}

/* The number after `what`; 0: `what` does not occur. */
static uint64_t number_after(const char *text, const char *what)
{
	const char *value = value_after(text, what);

	return value ? strtoull(value, NULL, 10) : 0;
}

/* The boot id; NULL: the text has none, or one of another size. */
static const char *read_boot(const char *text)
{
	const char *boot = value_after(text, "; " BOOT);

	return boot && strspn(boot, "0123456789abcdef-") == DAT_BOOT_ID ? boot : NULL;
}

static void read_merged(const char *text, struct dat_notes *notes)
{
	notes->is_merged = strstr(text, "; " MERGED);
	notes->merge_error = number_after(text, "; " MERGED);
	notes->merge_is_open = strstr(text, MERGE_OPEN);
}

bool dat_notes_read(const char *text, struct dat_notes *ret_notes)
{
	const char *error;

	*ret_notes = (struct dat_notes){ .time_error = DAT_TIME_ERROR_UNKNOWN };
	if (!text)
		return false;
	ret_notes->offsets = value_after(text, OFFSETS);
	ret_notes->some_threads = strstr(text, SOME_THREADS);
	ret_notes->listed = value_after(text, SOME_THREADS ":");
	ret_notes->hidden = value_after(text, HIDDEN);
	ret_notes->other_pids = value_after(text, OTHER_PIDS);
	ret_notes->processes = value_after(text, PROCESSES);
	error = value_after(text, TIME_ERROR);
	if (error)
		ret_notes->time_error = strtoull(error, NULL, 10);
	read_readings(value_after(text, CLOCKS), ret_notes);
	for (unsigned int i = 0; i < ret_notes->nr_readings; i++) {
		ret_notes->readings[i].error = number_after(text, READ_ERROR);
		ret_notes->readings[i].day_error = number_after(text, DAY_ERROR);
	}
	ret_notes->boot = read_boot(text);
	read_merged(text, ret_notes);
	ret_notes->losses = value_after(text, LOSSES);
	return !strncmp(text, "recorder ", 9) || !strncmp(text, "librecorder ", 12);
}
