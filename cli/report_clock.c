/* SPDX-License-Identifier: MIT */
/* What a file says of its times. */
#include "cli/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "format/dat/dat_notes.h"

int report_clock(struct report *r)
{
	const struct dat_option *version = dat_option(r->file, DAT_VERSION);
	struct clock_offset offset;
	struct dat_notes notes;
	char name[64];

	dat_notes_read(version ? version->data : NULL, &notes);
	printf("clock: %s\n", dat_clock_name(r->file, name, sizeof(name)) ? name : "not stated in the file");
	if (notes.time_error != DAT_TIME_ERROR_UNKNOWN)
		printf("time error: at most %" PRIu64 " ns from CLOCK_MONOTONIC\n", notes.time_error);
	else
		printf("time error: not stated in the file\n");
	if (!notes.offsets)
		printf("kernel - programs: not measured (no kernel events were recorded, or not by recorder)\n");
	while (notes.offsets && clock_offsets_next(&notes.offsets, &offset))
		printf("CPU %u: kernel - programs between %" PRId64 " and %" PRId64 " ns, 0 %s; %u rounds\n", offset.cpu,
		       offset.low, offset.high, clock_offset_contains_zero(&offset) ? "included" : "excluded", offset.rounds);
	return 0;
}
