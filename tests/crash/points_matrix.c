/* SPDX-License-Identifier: MIT */
#include "points_matrix.h"
#include "tests/unit/repeat.h"
#include "tests/unit/tell.h"

#if defined(__x86_64__)

unsigned int kills_wanted = 1;
struct matrix matrix;

bool can_be_met(unsigned int point, bool overwrite)
{
	return overwrite ? !is_named(point, "refuse_full") : !is_named(point, "head_") && !is_named(point, "settle_");
}

void check_matrix(const char *victim, bool (*whose)(unsigned int point), unsigned int few)
{
	static const char *const modes[] = { "discard", "overwrite" };
	unsigned int point, mode, covered[2] = { 0, 0 }, missed = 0;

	for (point = 0; point < points.count; point++) {
		for (mode = 0; mode < 2 && whose(point); mode++) {
			covered[mode] += matrix.met[mode][point] > 0;
			if (!matrix.met[mode][point] && can_be_met(point, mode))
				tell("no %s was killed at %s, %s", victim, points.names[point], modes[mode]);
		}
		missed += whose(point) && !matrix.met[0][point] && !matrix.met[1][point];
	}
	tell("{\"killed\": \"%s at test points\", \"kills\": %u, \"lives\": %u, \"points_discard\": %u, "
	     "\"points_overwrite\": %u, \"events\": %u, \"read\": %u, \"lost\": %u, \"lost_committed\": 0, \"torn\": "
	     "%u, "
	     "\"read_twice\": %u, \"corrupt_pages\": 0, \"seed\": %llu}",
	     victim, figures.kills, figures.lives, covered[0], covered[1], figures.events,
	     figures.events - figures.lost, figures.lost, figures.torn, figures.again, (unsigned long long)first_seed);
	repeat_by("RECORDER_SEED=%llu RECORDER_KILLS=%u", (unsigned long long)first_seed, kills_wanted);
	cr_assert_leq(missed, few, "%u test points were not met", missed);
	draw_end();
}

#endif
