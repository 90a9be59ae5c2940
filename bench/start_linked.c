/* SPDX-License-Identifier: MIT */
/* For bench_start: as start_plain.c, with an event. */
#include <librecorder/event.h>

#include <stdlib.h>

REC_EVENT(bench, start, u64(number));

int main(void)
{
	char *volatile memory = malloc(1);

	REC(bench, start, 1);
	free(memory);
	return 0;
}
