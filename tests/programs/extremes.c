/* SPDX-License-Identifier: MIT */
/*
 * extremes: writes edge:number with the numbers 0 to 4, which are the lowest one, -1, 0, 1 and the highest one; and
 * edge:list with 40,000 elements, -128, -127 and so on, in a sub-buffer that has room for it.
 */
#include <librecorder/event.h>

#include <stdint.h>

#define ELEMENTS 40000

REC_EVENT(edge, number, u32(n), s64(value));
REC_EVENT(edge, list, array(s8, items, ELEMENTS));

int main(void)
{
	static const int64_t numbers[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
	static int8_t items[ELEMENTS];

	for (unsigned int i = 0; i < 5; i++)
		REC(edge, number, i, numbers[i]);
	for (unsigned int i = 0; i < ELEMENTS; i++)
		items[i] = (int8_t)((int)(i % 256) - 128);
	REC(edge, list, items);
	return 0;
}
