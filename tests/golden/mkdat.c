/* SPDX-License-Identifier: MIT */
/*
 * mkdat: lists the files that dat_make.c can make; mkdat --latency: those that have the text of a latency tracer
 * instead of events. mkdat NAME: writes one to standard output, also one that is not listed (MAKE_UNLISTED).
 */
#include "dat_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int list(unsigned int latency)
{
	for (const struct dat_make *what = dat_makes; what->name; what++)
		if ((what->flags & (MAKE_LATENCY | MAKE_UNLISTED)) == latency)
			puts(what->name);
	return 0;
}

int main(int argc, char **argv)
{
	const struct dat_make *what;
	unsigned char *data;
	size_t size;
	int err;

	if (argc < 2)
		return list(0);
	if (!strcmp(argv[1], "--latency"))
		return list(MAKE_LATENCY);
	what = dat_make_find(argv[1]);
	if (!what) {
		fprintf(stderr, "mkdat: no file is called %s\n", argv[1]);
		return 2;
	}
	data = dat_make(what, &size, NULL);
	err = fwrite(data, 1, size, stdout) != size || fflush(stdout);
	free(data);
	return err;
}
