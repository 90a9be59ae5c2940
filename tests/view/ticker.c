/* SPDX-License-Identifier: MIT */
/* ticker: for each letter on its standard input, writes ten events with the time at which they were written. */
#include <librecorder/event.h>
#include <stdio.h>
#include <time.h>

REC_EVENT(ticker, tick, u32(number), u64(ns));

int main(void)
{
	struct timespec now;
	uint32_t number = 0;
	int letter;

	while ((letter = getchar()) != EOF)
		for (int i = 0; letter == 'x' && i < 10; i++) {
			clock_gettime(CLOCK_MONOTONIC, &now);
			REC(ticker, tick, number++, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
		}
	return 0;
}
