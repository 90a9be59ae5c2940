/* SPDX-License-Identifier: MIT */
/* Prints the data in a file about its times. */
#include "cli/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "format/dat/dat_notes.h"

#define NS_PER_S UINT64_C(1000000000)

/* Prints a date in the local time zone. */
static void print_reading(const struct clock_reading *reading)
{
	const time_t seconds = (time_t)(reading->realtime / NS_PER_S);
	char date[64] = "";
	struct tm day;

	if (localtime_r(&seconds, &day))
		strftime(date, sizeof(date), " (%Y-%m-%d %H:%M:%S %z)", &day);
	printf("MONOTONIC %" PRIu64 ".%09" PRIu64 ": REALTIME %" PRIu64 ".%09" PRIu64 "%s, ", reading->mono / NS_PER_S,
	       reading->mono % NS_PER_S, reading->realtime / NS_PER_S, reading->realtime % NS_PER_S, date);
	printf("BOOTTIME %" PRIu64 ".%09" PRIu64 "\n", reading->boottime / NS_PER_S, reading->boottime % NS_PER_S);
}

int report_clock(struct report *r)
{
	struct clock_offset offset;
	struct dat_notes notes;
	char name[64];

	dat_notes_of(r->file, &notes);
	printf("clock: %s\n", dat_clock_name(r->file, name, sizeof(name)) ? name : "not stated in the file");
	if (notes.time_error != DAT_TIME_ERROR_UNKNOWN)
		printf("time error: at most %" PRIu64 " ns from CLOCK_MONOTONIC\n", notes.time_error);
	else
		printf("time error: not stated in the file\n");
	if (!notes.offsets)
		printf("kernel - programs: not measured (no kernel events were recorded, or not by recorder)\n");
	while (notes.offsets && clock_offsets_next(&notes.offsets, &offset))
		printf("CPU %u: kernel - programs between %" PRId64 " and %" PRId64 " ns, 0 %s; %u rounds\n",
		       offset.cpu, offset.low, offset.high,
		       clock_offset_contains_zero(&offset) ? "included" : "excluded", offset.rounds);
	if (notes.is_merged)
		printf("merged from several clocks: times of different files within %" PRIu64 " ns%s\n",
		       notes.merge_error, notes.merge_is_open ? ", plus errors that the files do not state" : "");
	for (unsigned int i = 0; i < notes.nr_readings; i++)
		print_reading(&notes.readings[i]);
	return 0;
}
