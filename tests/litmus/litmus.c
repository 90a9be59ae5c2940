/* SPDX-License-Identifier: MIT */
#include "tests/litmus/litmus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for this many different states; a case with more is too big. */
#define STATES_MAX (1u << 12)

/*
 * For each location, the oldest value that a thread, or the reader of a value, may still read: an index into the
 * location's values.
 */
struct view {
	uint8_t at[LITMUS_LOCATIONS];
};

struct value {
	uint8_t value;
	bool stuck; /* an exchange stored it: no value comes between it and the one before */
	struct view view; /* what a thread knows that reads the value with acquire */
};

struct location {
	uint8_t nr;
	struct value values[LITMUS_VALUES]; /* in the order of modifications */
};

struct thread {
	uint16_t done; /* a bit for each operation */
	uint8_t reg[LITMUS_REGISTERS];
	struct view now;      /* the oldest values that it may read */
	struct view acquired; /* what `now` becomes with an acquire fence */
	struct view released; /* `now` at the last release fence; every later store carries it */
};

/* It has no padding, and all bytes are set: states are equal if their memory is. */
struct state {
	struct location locations[LITMUS_LOCATIONS];
	struct thread threads[LITMUS_THREADS];
	struct view fences; /* passed from each full fence to the next one */
};

struct known {
	struct state state;
	uint64_t executions;
	bool bad;
	bool used;
};

struct search {
	const struct litmus *litmus;
	struct known *known;
	struct litmus_result result;
};

static void join(struct view *view, const struct view *other)
{
	unsigned int i;

	for (i = 0; i < LITMUS_LOCATIONS; i++)
		if (other->at[i] > view->at[i])
			view->at[i] = other->at[i];
}

static bool acquires(enum litmus_order order)
{
	return order == ACQUIRE || order == ACQ_REL || order == SEQ_CST;
}

static bool releases(enum litmus_order order)
{
	return order == RELEASE || order == ACQ_REL || order == SEQ_CST;
}

static bool is_exchange(const struct litmus_op *op)
{
	return op->kind == LITMUS_CAS || op->kind == LITMUS_OR || op->kind == LITMUS_AND;
}

/* ---------------------------------------------------------------------------------------------------- one step */

static void shift_view(struct view *view, unsigned int location, unsigned int index)
{
	if (view->at[location] >= index)
		view->at[location]++;
}

/* Make room for a value at `index`, and adjust all views, whose indexes count from the beginning. */
static void insert(struct state *state, unsigned int location, unsigned int index)
{
	struct location *at = &state->locations[location];
	unsigned int i, j;

	if (at->nr == LITMUS_VALUES) {
		fprintf(stderr, "litmus: too many values\n");
		abort();
	}
	memmove(&at->values[index + 1], &at->values[index], (at->nr - index) * sizeof(at->values[0]));
	at->nr++;
	for (i = 0; i < LITMUS_LOCATIONS; i++)
		for (j = 0; j < state->locations[i].nr; j++)
			shift_view(&state->locations[i].values[j].view, location, index);
	for (i = 0; i < LITMUS_THREADS; i++) {
		shift_view(&state->threads[i].now, location, index);
		shift_view(&state->threads[i].acquired, location, index);
		shift_view(&state->threads[i].released, location, index);
	}
	shift_view(&state->fences, location, index);
}

static void see(struct state *state, struct thread *thread, const struct litmus_op *op, unsigned int index)
{
	const struct value *value = &state->locations[op->at].values[index];

	thread->now.at[op->at] = (uint8_t)index;
	join(&thread->acquired, &thread->now);
	join(&thread->acquired, &value->view);
	if (acquires(op->order))
		join(&thread->now, &value->view);
	if (op->reg)
		thread->reg[op->reg - 1] = value->value;
}

/* Store at `index`; an exchange has read the value before it. */
static void put(struct state *state, struct thread *thread, const struct litmus_op *op, unsigned int index,
		uint8_t number)
{
	const bool exchange = is_exchange(op) && op->order != SPLIT;
	struct value *value;

	insert(state, op->at, index);
	thread->now.at[op->at] = (uint8_t)index;
	join(&thread->acquired, &thread->now);
	value = &state->locations[op->at].values[index];
	*value = (struct value){ .value = number, .stuck = exchange };
	value->view = releases(op->order) ? thread->now : thread->released;
	if (exchange)
		join(&value->view, &state->locations[op->at].values[index - 1].view);
	value->view.at[op->at] = (uint8_t)index;
}

static void fence(struct state *state, struct thread *thread, enum litmus_order order)
{
	if (acquires(order))
		thread->now = thread->acquired;
	if (order == SEQ_CST) {
		join(&thread->now, &state->fences);
		join(&thread->acquired, &thread->now);
		state->fences = thread->now;
	}
	if (releases(order))
		thread->released = thread->now;
}

/* ------------------------------------------------------------------------------------------------ all the steps */

static bool explore(struct search *search, const struct state *state, uint64_t *ret_executions);

/* Explore what may come next, and add its executions to the sum. */
static bool next(struct search *search, const struct state *state, uint64_t *executions)
{
	uint64_t more = 0;
	const bool bad = explore(search, state, &more);

	*executions = more > UINT64_MAX - *executions ? UINT64_MAX : *executions + more;
	return bad;
}

/* Store at every position after the thread's view. */
static bool try_stores(struct search *search, const struct state *before, unsigned int t, const struct litmus_op *op,
		       uint8_t number, uint64_t *executions)
{
	const struct location *at = &before->locations[op->at];
	unsigned int index;
	bool bad = false;

	for (index = before->threads[t].now.at[op->at] + 1u; index <= at->nr; index++) {
		struct state state = *before;

		if (index < at->nr && at->values[index].stuck)
			continue;
		put(&state, &state.threads[t], op, index, number);
		bad |= next(search, &state, executions);
	}
	return bad;
}

static uint8_t exchanged(const struct litmus_op *op, uint8_t found)
{
	return op->kind == LITMUS_OR ? found | op->value : op->kind == LITMUS_AND ? found & op->value : op->value;
}

/* Load every value that is not older than the thread's view. */
static bool try_loads(struct search *search, const struct state *before, unsigned int t, const struct litmus_op *op,
		      uint64_t *executions)
{
	const struct location *at = &before->locations[op->at];
	unsigned int index = before->threads[t].now.at[op->at];
	bool bad = false;

	for (; index < at->nr; index++) {
		const uint8_t found = at->values[index].value;
		const bool stores = is_exchange(op) && (op->kind != LITMUS_CAS || found == op->expect);
		struct state state = *before;

		if (stores && op->order != SPLIT && index + 1u < at->nr && at->values[index + 1].stuck)
			continue;
		see(&state, &state.threads[t], op, index);
		if (!stores) {
			bad |= next(search, &state, executions);
		} else if (op->order == SPLIT) {
			bad |= try_stores(search, &state, t, op, exchanged(op, found), executions);
		} else {
			put(&state, &state.threads[t], op, index + 1, exchanged(op, found));
			bad |= next(search, &state, executions);
		}
	}
	return bad;
}

static bool is_wanted(const struct thread *thread, const struct litmus_op *op)
{
	return !op->if_reg || (thread->reg[op->if_reg - 1] == op->if_value) != op->unless;
}

/* Whether the thread may execute this operation now, before earlier ones. Only relaxed loads can be overtaken. */
static bool may_go(const struct litmus_op *ops, const struct thread *thread, unsigned int n)
{
	const struct litmus_op *op = &ops[n];
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct litmus_op *waits = &ops[i];

		if (thread->done & (1u << i))
			continue;
		if (waits->kind != LITMUS_LOAD || waits->order != RELAXED)
			return false;
		if (op->kind == LITMUS_FENCE || releases(op->order) || op->at == waits->at)
			return false;
		/*
		 * This operation needs the register of the earlier one, or it is not known yet whether the earlier one
		 * is executed at all.
		 */
		if ((op->if_reg && op->if_reg == waits->reg) || waits->if_reg)
			return false;
	}
	return !(thread->done & (1u << n));
}

static bool step(struct search *search, const struct state *before, unsigned int t, unsigned int n,
		 uint64_t *executions)
{
	const struct litmus_op *op = &search->litmus->threads[t][n];
	struct state state = *before;
	struct thread *thread = &state.threads[t];

	thread->done |= (uint16_t)(1u << n);
	if (is_wanted(thread, op) && op->kind == LITMUS_FENCE)
		fence(&state, thread, op->order);
	else if (is_wanted(thread, op) && op->kind == LITMUS_STORE)
		return try_stores(search, &state, t, op, op->value, executions);
	else if (is_wanted(thread, op))
		return try_loads(search, &state, t, op, executions);
	return next(search, &state, executions);
}

static struct known *look_up(struct search *search, const struct state *state)
{
	const uint8_t *bytes = (const uint8_t *)state;
	uint64_t hash = UINT64_C(14695981039346656037);
	size_t i;

	for (i = 0; i < sizeof(*state); i++)
		hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
	for (i = (hash ^ hash >> 32) % STATES_MAX; search->known[i].used; i = (i + 1) % STATES_MAX)
		if (memcmp(&search->known[i].state, state, sizeof(*state)) == 0)
			break;
	return &search->known[i];
}

static bool is_bad_end(const struct litmus *litmus, const struct state *state)
{
	struct litmus_end end;
	unsigned int i;

	for (i = 0; i < LITMUS_THREADS; i++)
		memcpy(end.reg[i], state->threads[i].reg, sizeof(end.reg[i]));
	for (i = 0; i < LITMUS_LOCATIONS; i++)
		end.last[i] = state->locations[i].values[state->locations[i].nr - 1].value;
	return litmus->is_bad(&end);
}

static bool explore(struct search *search, const struct state *state, uint64_t *ret_executions)
{
	struct known *known = look_up(search, state);
	uint64_t executions = 0;
	bool bad = false, over = true;
	unsigned int t, n;

	if (!known->used) {
		for (t = 0; t < LITMUS_THREADS; t++) {
			for (n = 0; search->litmus->threads[t][n].kind != LITMUS_END; n++) {
				over = over && (state->threads[t].done & (1u << n));
				if (may_go(search->litmus->threads[t], &state->threads[t], n))
					bad |= step(search, state, t, n, &executions);
			}
		}
		if (over) {
			bad = is_bad_end(search->litmus, state);
			executions = 1;
		}
		/* Its slot in the table may have been taken meanwhile. */
		known = look_up(search, state);
		*known = (struct known){ .state = *state, .executions = executions, .bad = bad, .used = true };
		if (++search->result.states > STATES_MAX / 2) {
			fprintf(stderr, "litmus: %s is too big\n", search->litmus->name);
			abort();
		}
	}
	*ret_executions = known->executions;
	return known->bad;
}

struct litmus_result litmus_run(const struct litmus *litmus)
{
	struct search search = { .litmus = litmus, .known = calloc(STATES_MAX, sizeof(struct known)) };
	struct state state;
	unsigned int i;

	if (!search.known)
		abort();
	memset(&state, 0, sizeof(state));
	for (i = 0; i < LITMUS_LOCATIONS; i++) {
		state.locations[i].nr = 1;
		state.locations[i].values[0].value = litmus->init[i];
	}
	search.result.bad = explore(&search, &state, &search.result.executions);
	free(search.known);
	return search.result;
}
