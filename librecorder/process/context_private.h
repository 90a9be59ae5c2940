/* SPDX-License-Identifier: MIT */
/* Functions by which the code of the lanes notifies context.c. All of this is signal-safe and preserves errno. */
#ifndef CONTEXT_PRIVATE_H
#define CONTEXT_PRIVATE_H

#include <stdint.h>

struct rec_context;
struct rec_handle;

/* The calling thread's values; NULL: it never had any. */
extern __thread struct rec_context *rec_thread_context __attribute__((tls_model("initial-exec")));

/*
 * Writes the values of the calling thread again. The members `leave` and `entered` of struct rec_handle point to this
 * function if the thread has values.
 */
void rec_context_repeat(struct rec_handle *handle);

/*
 * Call it when the calling thread has given back a shared lane, which had entered `entered` of its `nr_subbufs`
 * sub-buffers by then: writes the values again, unless the thread wrote them a short distance before in this lane.
 * `slot` is the lane's place among the shared ones.
 */
void rec_context_repeat_shared(uint32_t slot, uint32_t lane, uint64_t entered, uint32_t nr_subbufs);

/*
 * Call it when the process has got another buffer: no values are in the new lanes yet, and a declaration of the event
 * that failed before may succeed now. Only the calling thread uses the buffer.
 */
void rec_context_moved(void);

/* The calling thread ends: its values end, too. It may still have its lane. */
void rec_context_end(void);

#endif
