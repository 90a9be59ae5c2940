/* SPDX-License-Identifier: MIT */
#include "cli/kernel/clock_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/io/blob.h"

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
	const char *between = CLOCK_OFFSETS_BEGIN;

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
