/* SPDX-License-Identifier: MIT */
/*
 * The data that the plugin for KernelShark draws: the spans of each thread in lines without overlap, and counters as
 * curves. There are no graphics here. Times are those that KernelShark shows.
 */
#ifndef KERNELSHARK_MARKS_H
#define KERNELSHARK_MARKS_H

#include "format/model/span_state.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mark_span {
	int64_t begin, end;
	const char *system, *name;
	uint32_t color; /* 0xrrggbb, the same for all spans of this name */
	enum model_span_state state;
};

/* The spans of a line do not overlap. They are sorted by begin, and so by end, too. */
struct mark_line {
	const struct mark_span *spans;
	size_t nr;
};

struct mark_value {
	int64_t ts;
	int64_t value;
};

/* Values in the order of time; at least one. */
struct mark_curve {
	const char *system, *name;
	const struct mark_value *values;
	size_t nr;
	int64_t least, most;
	uint32_t color;
};

/* A thread. A counter is shown at the thread that wrote it first, with the values of all threads of its process. */
struct mark_row {
	const struct mark_line *lines; /* the first has the outermost spans */
	const struct mark_curve *curves;
	size_t nr_lines, nr_curves;
};

struct marks;

/* Reads the whole file. 0; -errno, and a line in `error`, whose size is MARKS_ERROR. */
#define MARKS_ERROR 192
int marks_open(const char *path, struct marks **ret_marks, char error[MARKS_ERROR]);

/* Takes NULL. Returns NULL. */
struct marks *marks_close(struct marks *marks);

/* The number of spans and states whose ends were not awaited, because too many were open: as in struct model_sink. */
uint64_t marks_given_up(const struct marks *marks);

/* The row of a thread; NULL: it has nothing to draw. Valid until marks_close(). */
const struct mark_row *marks_row(const struct marks *marks, int32_t tid);

/* Threads are numbered from 0 in the order in which the first of their spans ended. False: there are no more. */
int marks_next(const struct marks *marks, size_t number, int32_t *ret_tid);

#ifdef __cplusplus
}
#endif
#endif
