/* SPDX-License-Identifier: MIT */
/* Marks: tracks that a picture of a trace shows beside what the trace itself has. */
#ifndef FORMAT_MARK_H
#define FORMAT_MARK_H

#include <stddef.h>
#include <stdint.h>

struct mark {
	uint64_t begin, end;
	const char *class; /* what it is; its colour follows from this */
	char *task;
	char *by, *what;  /* "": nothing */
	int32_t tid, cpu; /* cpu -1: none */
};

/* Its marks do not overlap, and are in order of time. */
struct mark_track {
	char *name;
	struct mark *marks;
	size_t nr;
};

struct marks {
	char *name; /* the heading of the tracks */
	struct mark_track *tracks;
	size_t nr;
};

#endif
