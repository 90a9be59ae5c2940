/* SPDX-License-Identifier: MIT */
/*
 * Threads whose own kernel events are left out of the file: those of the recorder. Events that concern another thread
 * stay: switches, and those by which a hidden thread wakes, creates or waits for another thread. Events of interrupts
 * that came while such a thread ran stay, too.
 */
#ifndef FORMAT_HIDDEN_THREADS_H
#define FORMAT_HIDDEN_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "format/weave/kernel_tasks.h"

struct hidden_threads {
	uint64_t mask; /* bit `tid % 64` is set for each of them, so most events of other threads need no search */
	int32_t *tids;
	unsigned int nr;
};

/* Read the numbers of threads, separated by blanks. `text` NULL: no threads. 0, -ENOMEM. */
int hidden_threads_parse(const char *text, struct hidden_threads *ret_hidden);
void hidden_threads_free(struct hidden_threads *hidden);

/* The part of hidden_threads_leave_out() that is rarely needed. */
bool hidden_threads_search(const struct hidden_threads *hidden, const struct kernel_tasks *tasks, unsigned int id,
			   int32_t tid, const void *payload, uint32_t size);

/* Whether an event of the kernel is left out; `size` is at least that of its common fields. */
static inline bool hidden_threads_leave_out(const struct hidden_threads *hidden, const struct kernel_tasks *tasks,
					    unsigned int id, const void *payload, uint32_t size)
{
	int32_t tid;

	memcpy(&tid, (const unsigned char *)payload + 4, sizeof(tid));
	return (hidden->mask >> (tid & 63) & 1) && hidden_threads_search(hidden, tasks, id, tid, payload, size);
}

#endif
