/* SPDX-License-Identifier: MIT */
#include "cli/record/record_lanes.h"

#include <inttypes.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>

/* Unless the user requests otherwise, a program may have this number of lanes of the requested size. */
#define LANES_ALLOWED 64u

/* A lane has no more sub-buffers than a link can name; see REC_LINK_ID. */
#define SUBBUFS_MAX 65000u

bool record_lanes_check(const struct message_sink *sink, const struct record_lanes *lanes)
{
	const uint64_t subbuf = lanes->subbuf_kb ? lanes->subbuf_kb : REC_SUBBUF_MIN / 1024;

	if (subbuf & (subbuf - 1) || subbuf < REC_SUBBUF_MIN / 1024 || subbuf > REC_SUBBUF_MAX / 1024) {
		message(sink, "option '--subbuf-size' takes 4, 8, 16, 32, 64, 128, 256 or 512 (KB), not '%" PRIu64 "'",
			lanes->subbuf_kb);
		return false;
	}
	if (lanes->lane_kb && lanes->lane_kb < 2 * subbuf) {
		message(sink,
			"a lane of %" PRIu64 " KB is too small for sub-buffers of %" PRIu64
			" KB: it needs at least two (-b)",
			lanes->lane_kb, subbuf);
		return false;
	}
	if (lanes->lane_kb / subbuf > SUBBUFS_MAX) {
		message(sink,
			"a lane of %" PRIu64 " KB has more sub-buffers than %u: make them larger with --subbuf-size",
			lanes->lane_kb, SUBBUFS_MAX);
		return false;
	}
	return true;
}

void record_lanes_env(struct record_lanes *lanes, const char *dir, const char *enable,
		      struct child_env env[RECORD_LANES_ENV])
{
	unsigned int nr = 0;

	env[nr++] = (struct child_env){ "RECORDER_DIR", dir };
	env[nr++] = (struct child_env){ "RECORDER_KEEP", "1" };
	env[nr++] = (struct child_env){ "RECORDER_ENABLE", enable };
	if (lanes->lane_kb) {
		snprintf(lanes->numbers[0], sizeof(lanes->numbers[0]), "%" PRIu64, lanes->lane_kb);
		env[nr++] = (struct child_env){ "RECORDER_BUFFER_KB", lanes->numbers[0] };
	}
	if (lanes->lane_kb && !getenv("RECORDER_MAX_KB")) {
		snprintf(lanes->numbers[1], sizeof(lanes->numbers[1]), "%" PRIu64, lanes->lane_kb * LANES_ALLOWED);
		env[nr++] = (struct child_env){ "RECORDER_MAX_KB", lanes->numbers[1] };
	}
	if (lanes->subbuf_kb) {
		snprintf(lanes->numbers[2], sizeof(lanes->numbers[2]), "%" PRIu64, lanes->subbuf_kb);
		env[nr++] = (struct child_env){ "RECORDER_SUBBUF_KB", lanes->numbers[2] };
	}
	if (lanes->mode)
		env[nr++] = (struct child_env){ "RECORDER_MODE", lanes->mode };
	if (lanes->clock)
		env[nr++] = (struct child_env){ "RECORDER_CLOCK", lanes->clock };
	env[nr] = (struct child_env){ NULL, NULL };
}
