/* SPDX-License-Identifier: MIT */
/*
 * The smallest recorded program: declare an event, write it where it happens.
 *
 *	cc 01_first_event.c $(pkg-config --cflags --libs librecorder) -o 01_first_event
 *	recorder record ./01_first_event
 *	recorder report
 *
 * Without recorder, the program does the same work; an event that is off costs two loads, a test and a branch.
 */
#include <librecorder/event.h>

REC_EVENT(greeting, hello, u32(number), string(whom));

int main(void)
{
	for (uint32_t i = 0; i < 3; i++)
		REC(greeting, hello, i, "world");
	return 0;
}
