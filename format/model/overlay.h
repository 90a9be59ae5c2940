/* SPDX-License-Identifier: MIT */
/* An overlay: tracks that a picture of a trace shows in addition to what the trace has. */
#ifndef FORMAT_OVERLAY_H
#define FORMAT_OVERLAY_H

#include <stddef.h>
#include <stdint.h>

struct overlay_piece {
	uint64_t begin, end;
	const char *class; /* the class of the piece, which determines its colour */
	char *task;
	char *by, *what;  /* "": nothing */
	int32_t tid, cpu; /* cpu -1: none */
};

/* The pieces of a track do not overlap, and are in time order. */
struct overlay_track {
	char *name;
	struct overlay_piece *pieces;
	size_t nr;
};

struct overlay {
	char *name; /* the heading of the tracks */
	struct overlay_track *tracks;
	size_t nr;
};

#endif
