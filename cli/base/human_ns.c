/* SPDX-License-Identifier: MIT */
#include "cli/base/human_ns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *human_ns(uint64_t ns, char to[HUMAN_NS_SIZE])
{
	if (ns < 1000)
		snprintf(to, HUMAN_NS_SIZE, "%7" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(to, HUMAN_NS_SIZE, "%3" PRIu64 ".%03" PRIu64 " us", ns / 1000, ns % 1000);
	else if (ns < 1000000000)
		snprintf(to, HUMAN_NS_SIZE, "%3" PRIu64 ".%03" PRIu64 " ms", ns / 1000000, ns / 1000 % 1000);
	else
		snprintf(to, HUMAN_NS_SIZE, "%3" PRIu64 ".%03" PRIu64 " s ", ns / 1000000000, ns / 1000000 % 1000);
	return to;
}

const char *human_ns_trimmed(uint64_t ns, char to[HUMAN_NS_SIZE])
{
	size_t blanks, size;

	human_ns(ns, to);
	blanks = strspn(to, " ");
	size = strlen(to) - blanks;
	while (size && to[blanks + size - 1] == ' ')
		size--;
	memmove(to, to + blanks, size);
	to[size] = '\0';
	return to;
}
