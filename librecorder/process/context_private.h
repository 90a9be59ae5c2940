/* SPDX-License-Identifier: MIT */
/* What the code of the lanes reports to context.c. All of this is signal-safe and preserves errno. */
#ifndef CONTEXT_PRIVATE_H
#define CONTEXT_PRIVATE_H

#include <stdint.h>

struct rec_context;
struct rec_handle;

/* The calling thread's values; NULL: it never had any. */
extern __thread struct rec_context *rec_thread_context __attribute__((tls_model("initial-exec")));

/* For struct rec_handle, `leave` and `entered`, of a thread that has values: write them again. */
void rec_context_repeat(struct rec_handle *handle);

/*
 * The calling thread gave back a shared lane, which had entered this number of its `nr_subbufs` sub-buffers: write the
 * values again, unless they are near in this lane. `slot` is the lane's place among the shared ones.
 */
void rec_context_repeat_shared(uint32_t slot, uint32_t lane, uint64_t entered, uint32_t nr_subbufs);

/*
 * The process has another buffer: nothing is in its lanes, and the event can be declared if it could not be before.
 * Only the calling thread uses the buffer.
 */
void rec_context_moved(void);

/* The calling thread ends: its values end, too. It may still have its lane. */
void rec_context_end(void);

#endif
