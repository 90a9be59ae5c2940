/* SPDX-License-Identifier: MIT */
#include "format/weave/hidden_threads.h"

#include <errno.h>
#include <stdlib.h>

#include "format/dat/dat_notes.h"

/* common_flags: in a hard, a soft or a non-maskable interrupt (facts trace-dat 1.7). */
#define IN_INTERRUPT 0x58

int hidden_threads_parse(const char *text, struct hidden_threads *ret_hidden)
{
	struct hidden_threads hidden = { .mask = 0 };
	const char *at = text;
	int32_t tid;

	while (at && dat_notes_next_thread(&at, &tid))
		hidden.nr++;
	hidden.tids = calloc(hidden.nr + 1u, sizeof(*hidden.tids));
	if (!hidden.tids)
		return -ENOMEM;
	hidden.nr = 0;
	for (at = text; at && dat_notes_next_thread(&at, &tid); hidden.nr++) {
		hidden.tids[hidden.nr] = tid;
		hidden.mask |= UINT64_C(1) << (tid & 63);
	}
	*ret_hidden = hidden;
	return 0;
}

void hidden_threads_free(struct hidden_threads *hidden)
{
	free(hidden->tids);
	*hidden = (struct hidden_threads){ .mask = 0 };
}

static bool has(const struct hidden_threads *hidden, int32_t tid)
{
	unsigned int i;

	for (i = 0; i < hidden->nr; i++)
		if (hidden->tids[i] == tid)
			return true;
	return false;
}

/* Whether the event concerns another thread. */
static bool names_another(const struct hidden_threads *hidden, const struct task_fields *fields, const void *payload,
			  uint32_t size)
{
	int32_t tid;

	/* A switch names both threads. It is kept even between two hidden threads, so that the CPU has no gap. */
	if (fields->nr > 1)
		return true;
	if (!fields->nr || (uint64_t)fields->at[0].pid + sizeof(tid) > size)
		return false;
	memcpy(&tid, (const unsigned char *)payload + fields->at[0].pid, sizeof(tid));
	return !has(hidden, tid);
}

bool hidden_threads_search(const struct hidden_threads *hidden, const struct kernel_tasks *tasks, unsigned int id,
			   int32_t tid, const void *payload, uint32_t size)
{
	const unsigned int place = tasks->by_id[id];

	/* An interrupt is the CPU's, whatever thread it interrupts: a timer that wakes another thread, for example. */
	if (((const unsigned char *)payload)[2] & IN_INTERRUPT)
		return false;
	return has(hidden, tid) && !(place && names_another(hidden, &tasks->fields[place - 1], payload, size));
}
