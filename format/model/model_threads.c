/* SPDX-License-Identifier: MIT */
/*
 * The threads of a trace, by their numbers. A hostile file may have any number of threads: if MODEL_KNOWN_MAX are
 * known, half of them are given up, those whose last events, or states, are the oldest. Most of these threads have
 * ended and have no open spans. Threads that are running are kept, because their CPUs refer to them, and so are those
 * that the file lists.
 */
#include "format/model/model_private.h"

#include <errno.h>
#include <stdlib.h>

/* Part of the key of a program's thread whose id is that of another thread for the kernel. */
#define OF_PROGRAM (UINT64_C(1) << 32)

/* Make room for one more thread in both lists. */
static int grow(struct model *model)
{
	const size_t room = model->room_list ? 2 * model->room_list : 64;
	struct model_thread **more;

	if (model->nr_list < model->room_list)
		return 0;
	more = reallocarray(model->list, room, sizeof(struct model_thread *));
	if (!more)
		return -ENOMEM;
	model->list = more;
	more = reallocarray(model->live, room, sizeof(struct model_thread *));
	if (!more)
		return -ENOMEM;
	model->live = more;
	model->room_list = room;
	return 0;
}

static struct model_thread *add(struct model *model, int32_t tid, uint64_t key)
{
	struct model_thread *thread;

	if (grow(model))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread || number_map_set(&model->threads, key, (uint64_t)(uintptr_t)thread)) {
		free(thread);
		return NULL;
	}
	thread->tid = tid;
	thread->key = key;
	thread->is_ambiguous = event_is_ambiguous(model_rules_table(model->rules), tid);
	/* The thread may have been known before, and given up: so its events may be missing until then. */
	thread->program_loss_ts = thread->kernel_loss_ts = model->given_up_ts;
	model->list[model->nr_list++] = thread;
	return thread;
}

static struct model_thread *find(struct model *model, int32_t tid, uint64_t key)
{
	const uint64_t known = number_map_get(&model->threads, key);
	struct model_thread *thread = known ? (struct model_thread *)(uintptr_t)known : add(model, tid, key);

	if (thread && !thread->is_live) {
		thread->is_live = true;
		model->live[model->nr_live++] = thread;
	}
	return thread;
}

struct model_thread *model_thread(struct model *model, int32_t tid)
{
	return find(model, tid, (uint32_t)tid);
}

struct model_thread *model_program_thread(struct model *model, int32_t tid)
{
	const bool is_ambiguous = event_is_ambiguous(model_rules_table(model->rules), tid);

	return find(model, tid, is_ambiguous ? (uint32_t)tid | OF_PROGRAM : (uint32_t)tid);
}

static uint64_t last_of(const struct model_thread *thread)
{
	if (thread->is_listed || (thread->has_state && thread->state.state == MODEL_RUNNING))
		return UINT64_MAX;
	return later(thread->last_ts, thread->has_state ? thread->state.begin : 0);
}

static int newest_first(const void *a, const void *b)
{
	const struct model_thread *x = *(struct model_thread *const *)a, *y = *(struct model_thread *const *)b;

	if (last_of(x) != last_of(y))
		return last_of(x) < last_of(y) ? 1 : -1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* The thread's open spans, its task and its state end at the last event. */
static int give_up(struct model *m, struct model_thread *thread)
{
	const uint64_t ts = m->last_ts;
	int err;

	if (thread->stack.top || thread->beside || thread->task ||
	    (thread->has_state && thread->state.state != MODEL_DEAD))
		model_count_given_up(m);
	for (struct model_open *open = thread->stack.top; open; open = open->outer)
		open->span.flags |= MODEL_CUT;
	err = model_thread_stop(m, thread, ts);
	if (!err)
		err = model_task_stop(m, thread, ts);
	if (!err)
		err = model_sched_forget(m, thread, ts);
	return err;
}

int model_threads_bound(struct model *model)
{
	const size_t kept = MODEL_KNOWN_MAX / 2;
	int err = 0;

	qsort(model->list, model->nr_list, sizeof(struct model_thread *), newest_first);
	for (size_t i = kept; !err && i < model->nr_list; i++)
		err = give_up(model, model->list[i]);
	if (err)
		return err;
	for (size_t i = kept; i < model->nr_list; i++) {
		free(model->list[i]->stack.ended);
		free(model->list[i]);
	}
	model->nr_list = kept;
	model->nr_live = 0;
	for (size_t i = 0; i < kept; i++) {
		if (model->list[i]->is_live)
			model->live[model->nr_live++] = model->list[i];
	}
	model->given_up_ts = model->last_ts;
	number_map_free(&model->threads);
	for (size_t i = 0; !err && i < kept; i++)
		err = number_map_set(&model->threads, model->list[i]->key, (uint64_t)(uintptr_t)model->list[i]);
	return err;
}

void model_threads_free(struct model *model)
{
	for (size_t i = 0; i < model->nr_list; i++)
		free(model->list[i]);
	free(model->list);
	free(model->live);
	number_map_free(&model->threads);
}
