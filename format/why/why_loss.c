/* SPDX-License-Identifier: MIT */
/*
 * Marks states as unknown if losses make them doubtful. While events of a CPU are missing, a thread may have been woken
 * there, have run there and slept again, whatever the events of other CPUs show. Within a loss, only a thread that runs
 * on another CPU is known to run; all else is unknown. For the time after a loss, the model has already marked what is
 * unknown.
 */
#include "format/why/why_private.h"

#include <errno.h>
#include <stdlib.h>

static int by_begin(const void *a, const void *b)
{
	const struct why_loss *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void merge(struct blob *losses)
{
	struct why_loss *list = (struct why_loss *)(void *)losses->data;
	const size_t nr = losses->size / sizeof(*list);
	size_t kept = 0;

	if (nr)
		qsort(list, nr, sizeof(*list), by_begin);
	for (size_t i = 0; i < nr; i++) {
		if (kept && list[i].begin <= list[kept - 1].end)
			list[kept - 1].end = list[i].end > list[kept - 1].end ? list[i].end : list[kept - 1].end;
		else
			list[kept++] = list[i];
	}
	losses->size = kept * sizeof(*list);
}

static struct why_state lost_state(const struct why_loss *loss, uint64_t begin, uint64_t end)
{
	return (struct why_state){
		.begin = begin,
		.end = end,
		.run = MODEL_UNKNOWN,
		.cpu = loss->cpu,
		.waker = -1,
		.is_lost = true,
	};
}

/*
 * Keeps the parts of a state that are outside losses. A sleep that a loss cuts short has no known waker. A state that
 * is known only from its end becomes unknown as a whole if a loss overlaps it.
 */
static void cut_state(const struct blob *losses, struct why_state state, struct blob *to)
{
	size_t nr;
	const struct why_loss *list = why_items(struct why_loss, losses, nr);

	for (size_t i = why_loss_from(losses, state.begin); i < nr && list[i].begin < state.end; i++) {
		struct why_state part = state;

		if (state.is_inferred) {
			state = lost_state(&list[i], state.begin, state.end);
			break;
		}
		part.end = list[i].begin;
		part.waker = -1;
		part.is_open = false;
		if (part.end > part.begin)
			blob_put(to, &part, sizeof(part));
		part = lost_state(&list[i], list[i].begin > state.begin ? list[i].begin : state.begin,
				  list[i].end < state.end ? list[i].end : state.end);
		blob_put(to, &part, sizeof(part));
		state.begin = part.end;
	}
	if (state.end > state.begin)
		blob_put(to, &state, sizeof(state));
}

static int cut_thread(struct why *why, struct why_thread *thread)
{
	struct blob to = BLOB_INIT;
	size_t nr;
	const struct why_state *states = why_items(struct why_state, &thread->states, nr);

	for (size_t i = 0; i < nr; i++) {
		const struct why_cpu *cpu = states[i].run == MODEL_RUNNING ? why_cpu(why, states[i].cpu) : NULL;

		/* A state that is unknown for a known reason stays whole: a state for each loss would take memory. */
		if (states[i].run == MODEL_UNKNOWN &&
		    (states[i].is_lost || states[i].absent != MODEL_RECORDED))
			blob_put(&to, &states[i], sizeof(states[i]));
		else
			cut_state(cpu ? &cpu->losses : &why->losses, states[i], &to);
	}
	blob_free(&thread->states);
	thread->states = to;
	return to.error;
}

int why_cut_losses(struct why *why)
{
	int err = 0;

	if (!why->losses.size)
		return 0;
	merge(&why->losses);
	for (uint32_t i = 0; i < why->nr_cpus; i++)
		merge(&why->cpus[i].losses);
	for (size_t i = 0; !err && i < why->nr_threads; i++)
		err = cut_thread(why, &why->threads[i]);
	return err;
}
