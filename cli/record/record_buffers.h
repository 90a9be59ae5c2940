/* SPDX-License-Identifier: MIT */
/*
 * The buffers of 'recorder record' (-B): each is an instance of its own in the kernel and a buffer of its own in the
 * file. Options that set one apply to the last -B before them, or to the top buffer.
 */
#ifndef CLI_RECORD_BUFFERS_H
#define CLI_RECORD_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/common/opts.h"
#include "cli/kernel/kernel.h"
#include "cli/kernel/kernel_drain.h"

/* The settings of one buffer, and the instance that records it. */
struct record_buffer {
	const char *name; /* NULL: the top one */
	struct kernel_request request;
	struct opt_list functions; /* -l, -n, -g */
	struct opt_list options;   /* -O */
	const char *size;	   /* -b; NULL: not given */
	bool grow;		   /* its rings may grow: no size was given, or -b auto */
	bool has_pids;		   /* -P */
	struct kernel *kernel;	   /* NULL: not recorded */
	struct kernel_drain *drain;
};

/* The maximum number of buffers in a recording, not counting the top one. */
#define RECORD_BUFFERS_MAX 63u

/* On the command line: `now` is the buffer that options set, `before` are those before it, the top one first. */
struct record_buffers {
	struct record_buffer now;
	struct record_buffer *before;
	unsigned int nr;
	struct opt_list *events;     /* the list of -e, -f, -R and -v, which gets -B as well */
	const char *const *programs; /* the argument of -P */
	const char *programs_before; /* the value of `attach` at the last -B */
};

/* For OPT_CALL: `buffers` is a struct record_buffers. */
bool record_buffers_begin(void *buffers, const struct opt *opt, const char *name);

/*
 * Call it once the command line was read: `now` is then the top buffer, and `before` has the others. Settings that
 * apply to all buffers are copied from one to the others. False: no memory; one line was printed.
 */
bool record_buffers_end(struct record_buffers *buffers);

/* The buffer with number `i`; 0 is the top one. NULL: no buffer has this number. */
struct record_buffer *record_buffers_get(struct record_buffers *buffers, unsigned int i);

/* Whether anything is requested from the kernel, for any of them. */
bool record_buffers_any(const struct record_buffers *buffers);

/* Frees what was stored for the command line. */
void record_buffers_free(struct record_buffers *buffers);

#endif
