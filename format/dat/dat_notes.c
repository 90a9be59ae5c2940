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
#define KERNEL_LOST  "events of the kernel lost from "
#define PROGRAM_LOST "events of programs lost from "
#define LISTED_ONLY  " and no others"
#define SOME_TIMES   " from "
#define NO_CPUS	     "CPUs not recorded: "
#define NO_SWITCHES  "no switches from "
#define NO_KERNEL    "no events of the kernel from "
#define NO_PROGRAMS  "no events of programs from "
#define WHOLE	     "nothing left out from "
#define MACHINES     "several machines"

#define CPUS_MAX (1u << 20) /* the limit of the reader */

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

bool dat_notes_next_cpus(const char **at, uint32_t *ret_first, uint32_t *ret_last)
{
	unsigned long first, last;
	char *end;

	*at += strspn(*at, ", ");
	if (**at < '0' || **at > '9')
		return false;
	first = last = strtoul(*at, &end, 10);
	if (*end == '-')
		last = strtoul(end + 1, &end, 10);
	*at = end;
	if (last < first || last >= CPUS_MAX)
		return false;
	*ret_first = (uint32_t)first;
	*ret_last = (uint32_t)last;
	return true;
}

void dat_notes_put_cpus(struct blob *text, const bool *set, uint32_t nr)
{
	const char *between = "";

	for (uint32_t cpu = 0; cpu < nr; cpu++) {
		const uint32_t first = cpu;

		if (!set[cpu])
			continue;
		while (cpu + 1 < nr && set[cpu + 1])
			cpu++;
		blob_printf(text, "%s%" PRIu32, between, first);
		if (cpu > first)
			blob_printf(text, "-%" PRIu32, cpu);
		between = ",";
	}
}

uint32_t dat_notes_cpus(const char *no_cpus, bool *set, uint32_t nr)
{
	uint32_t first, last, need = 0;

	while (no_cpus && dat_notes_next_cpus(&no_cpus, &first, &last)) {
		for (uint32_t cpu = first; cpu <= last && cpu < nr; cpu++)
			set[cpu] = true;
		need = last + 1 > need ? last + 1 : need;
	}
	return need;
}

/* Appends a value, up to the note after it; nothing if it is NULL or empty. */
static void put_value(struct blob *text, const char *what, const char *value)
{
	const int size = value ? (int)strcspn(value, ";") : 0;

	if (size)
		blob_printf(text, "; %s%.*s", what, size, value);
}

static void put_some_threads(struct blob *text, const struct dat_notes *notes)
{
	const bool has_list = notes->listed && strcspn(notes->listed, "0123456789") < strcspn(notes->listed, ";");

	if (has_list)
		put_threads(text, SOME_THREADS ":", notes->listed);
	else
		blob_printf(text, "; " SOME_THREADS);
	if (has_list && notes->is_listed_only)
		blob_printf(text, LISTED_ONLY);
	if (notes->some_times && *notes->some_times)
		blob_printf(text, SOME_TIMES "%.*s", (int)strcspn(notes->some_times, ";"), notes->some_times);
}

void dat_notes_put(struct blob *text, const struct dat_notes *notes)
{
	blob_printf(text, "%.*s", (int)strcspn(notes->program, ";"), notes->program);
	/* dat_notes_read() returns the offsets without their first words; then these are put in front again. */
	if (notes->offsets)
		put_value(text, strncmp(notes->offsets, OFFSETS, strlen(OFFSETS)) ? OFFSETS : "", notes->offsets);
	if (notes->some_threads)
		put_some_threads(text, notes);
	put_threads(text, HIDDEN, notes->hidden);
	put_threads(text, OTHER_PIDS, notes->other_pids);
	put_value(text, PROCESSES " ", notes->processes ? notes->processes + strspn(notes->processes, " ") : NULL);
	if (notes->time_error != DAT_TIME_ERROR_UNKNOWN)
		blob_printf(text, "; " TIME_ERROR "%" PRIu64 " ns", notes->time_error);
	put_readings(text, notes);
	if (notes->boot && *notes->boot)
		blob_printf(text, "; " BOOT "%.*s", (int)DAT_BOOT_ID, notes->boot);
	if (notes->is_merged)
		blob_printf(text, "; " MERGED "%" PRIu64 " ns%s", notes->merge_error,
			    notes->merge_is_open ? MERGE_OPEN : "");
	put_value(text, KERNEL_LOST, notes->kernel_losses);
	put_value(text, PROGRAM_LOST, notes->program_losses);
	put_value(text, NO_CPUS, notes->no_cpus);
	put_value(text, NO_SWITCHES, notes->no_switches);
	put_value(text, NO_KERNEL, notes->no_kernel);
	put_value(text, NO_PROGRAMS, notes->no_programs);
	put_value(text, WHOLE, notes->whole);
	if (notes->several_machines)
		blob_printf(text, "; " MACHINES);
}

/* The text after `what`; NULL: `what` does not occur. */
static const char *value_after(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	return at ? at + strlen(what) : NULL;
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

static void read_some_threads(const char *text, struct dat_notes *notes)
{
	const char *at = value_after(text, SOME_THREADS);

	notes->some_threads = at;
	if (!at)
		return;
	if (*at == ':') {
		notes->listed = ++at;
		at += strspn(at, " 0123456789");
		at -= at[-1] == ' ';
	}
	if (!strncmp(at, LISTED_ONLY, strlen(LISTED_ONLY))) {
		notes->is_listed_only = true;
		at += strlen(LISTED_ONLY);
	}
	if (!strncmp(at, SOME_TIMES, strlen(SOME_TIMES)))
		notes->some_times = at + strlen(SOME_TIMES);
}

bool dat_notes_read(const char *text, struct dat_notes *ret_notes)
{
	const char *error;

	*ret_notes = (struct dat_notes){ .time_error = DAT_TIME_ERROR_UNKNOWN };
	if (!text)
		return false;
	ret_notes->offsets = value_after(text, OFFSETS);
	read_some_threads(text, ret_notes);
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
	ret_notes->kernel_losses = value_after(text, "; " KERNEL_LOST);
	ret_notes->program_losses = value_after(text, "; " PROGRAM_LOST);
	ret_notes->no_cpus = value_after(text, "; " NO_CPUS);
	ret_notes->no_switches = value_after(text, "; " NO_SWITCHES);
	ret_notes->no_kernel = value_after(text, "; " NO_KERNEL);
	ret_notes->no_programs = value_after(text, "; " NO_PROGRAMS);
	ret_notes->whole = value_after(text, "; " WHOLE);
	ret_notes->several_machines = strstr(text, "; " MACHINES);
	return !strncmp(text, "recorder ", 9) || !strncmp(text, "librecorder ", 12);
}
