/* SPDX-License-Identifier: MIT */
/*
 * export_load points|spans EVENTS: what bench/export.sh exports. Points: three of four events have one number, the
 * fourth has two and a text. Spans: two nested ones in turn, of which the outer has a text and a result.
 */
#include <librecorder/event.h>
#include <stdlib.h>
#include <string.h>

REC_EVENT(io, submit, u64(id), s32(fd), string(path));
REC_EVENT(io, tick, u64(n));
REC_EVENT(io, request_begin, u64(id), string(path));
REC_EVENT(io, request_end, s32(result));
REC_EVENT(io, step_begin, u32(n));
REC_EVENT(io, step_end);

static const char *const paths[] = { "/var/lib/a", "/etc/passwd", "/tmp/x/y/z" };

int main(int argc, char **argv)
{
	const uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	if (!events || (strcmp(argv[1], "points") != 0 && strcmp(argv[1], "spans") != 0))
		return 2;
	for (uint64_t i = 0; i < events; i += 4) {
		if (argv[1][0] == 'p') {
			REC(io, submit, i, (int32_t)(i & 127), paths[i % 3]);
			REC(io, tick, i + 1);
			REC(io, tick, i + 2);
			REC(io, tick, i + 3);
		} else {
			REC(io, request_begin, i, paths[i % 3]);
			REC(io, step_begin, (uint32_t)i & 7);
			REC(io, step_end);
			REC(io, request_end, (int32_t)i & 3);
		}
	}
	return 0;
}
