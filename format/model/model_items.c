/* SPDX-License-Identifier: MIT */
/* Counters, states, flows, and the logical tasks that threads work for. */
#include "format/model/model_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The last state of each keyed thing. */
struct last_state {
	struct model_state state;
	struct last_state *next;  /* in its chain */
	struct last_state *later; /* the state that was added after it */
	unsigned char *bytes;	  /* copy of the record; NULL: there was none yet */
	uint32_t room;
};

/* The last event with a flow number. */
struct last_flow {
	uint64_t ts;
	uint64_t span;
	int32_t tid;
};

/* Flow numbers that were seen, up to MODEL_KNOWN_MAX / 2. */
struct flows {
	struct number_map places; /* place in `all` plus one */
	struct last_flow *all;
	size_t nr, room;
};

/* The last name of a task that was not empty. */
struct task_name {
	struct task_name *next;
	char *name;
};

struct model_items {
	struct last_state **chains;
	size_t nr_chains; /* a power of two, or 0 */
	size_t nr_states;
	uint64_t state_bytes; /* allocated for their records */
	struct last_state *first, *newest;
	struct flows flows[2];	      /* the newest flow numbers, and the same number of older ones */
	struct number_map task_names; /* by task: address of struct task_name */
	struct task_name *first_name;
	size_t nr_names;
};

static void forget_flows(struct flows *flows)
{
	number_map_free(&flows->places);
	free(flows->all);
	*flows = (struct flows){ 0 };
}

static void forget_names(struct model_items *items)
{
	while (items->first_name) {
		struct task_name *first = items->first_name;

		items->first_name = first->next;
		free(first->name);
		free(first);
	}
	number_map_free(&items->task_names);
	items->nr_names = 0;
}

int model_items_open(struct model *model)
{
	model->items = calloc(1, sizeof(*model->items));
	return model->items ? 0 : -ENOMEM;
}

void model_items_free(struct model *model)
{
	struct model_items *items = model->items;

	while (items->first) {
		struct last_state *last = items->first;

		items->first = last->later;
		free(last->bytes);
		free(last);
	}
	forget_names(items);
	free(items->chains);
	for (unsigned int i = 0; i < 2; i++)
		forget_flows(&items->flows[i]);
	free(items);
}

/* --------------------------------------------------------------------------------------------------------- counters */

int model_counter_event(struct model *model, const struct model_step *step)
{
	const struct model_counter counter = {
		.rule = step->rule,
		.ts = step->event->ts,
		.tid = step->thread->tid,
		.cpu = step->event->cpu,
		.value = model_number(step->rule->value, &step->record),
		.record = step->record,
	};

	return model->sink.counter ? model->sink.counter(model->sink.arg, &counter) : 0;
}

/* ----------------------------------------------------------------------------------------------------------- states */

static uint64_t hash_of(const struct model_state *state)
{
	return model_hash(state->rule->pair, state->keys, state->nr_keys);
}

static bool are_same(const struct model_state *a, const struct model_state *b)
{
	return a->rule->pair == b->rule->pair && a->nr_keys == b->nr_keys &&
	       !memcmp(a->keys, b->keys, a->nr_keys * sizeof(a->keys[0]));
}

static int grow(struct model_items *items)
{
	const size_t nr = items->nr_chains ? 2 * items->nr_chains : 64;
	struct last_state **chains = calloc(nr, sizeof(*chains));

	if (!chains)
		return -ENOMEM;
	for (size_t i = 0; i < items->nr_chains; i++) {
		while (items->chains[i]) {
			struct last_state *last = items->chains[i];
			struct last_state **to = &chains[hash_of(&last->state) & (nr - 1)];

			items->chains[i] = last->next;
			last->next = *to;
			*to = last;
		}
	}
	free(items->chains);
	items->chains = chains;
	items->nr_chains = nr;
	return 0;
}

/* Find or make the entry for the last state with the keys of `like`. NULL: out of memory. */
static struct last_state *last_of(struct model_items *items, const struct model_state *like)
{
	struct last_state **chain, *last;

	if (items->nr_states >= items->nr_chains && grow(items))
		return NULL;
	chain = &items->chains[hash_of(like) & (items->nr_chains - 1)];
	for (last = *chain; last; last = last->next) {
		if (are_same(&last->state, like))
			return last;
	}
	last = calloc(1, sizeof(*last));
	if (last) {
		last->state.rule = like->rule;
		last->state.nr_keys = like->nr_keys;
		memcpy(last->state.keys, like->keys, sizeof(like->keys));
		last->next = *chain;
		*chain = last;
		*(items->first ? &items->newest->later : &items->first) = last;
		items->newest = last;
		items->nr_states++;
	}
	return last;
}

/*
 * Copy the record, which must outlive the event. Most records of a state have the same size, so memory is seldom
 * allocated after the first.
 */
static int keep_record(struct model_items *items, struct last_state *last, const struct model_record *record)
{
	if (!last->bytes || last->room < record->size) {
		unsigned char *more = realloc(last->bytes, record->size ? record->size : 1);

		if (!more)
			return -ENOMEM;
		items->state_bytes += record->size - last->room;
		last->bytes = more;
		last->room = record->size;
	}
	memcpy(last->bytes, record->data, record->size);
	last->state.record = (struct model_record){ .type = record->type, .data = last->bytes, .size = record->size };
	return 0;
}

/* Give the state that was known first to the sink, and forget it: its end is not known. */
static int give_up(struct model *model, uint64_t ts)
{
	struct model_items *items = model->items;
	struct last_state *last = items->first, **at = &items->chains[hash_of(&last->state) & (items->nr_chains - 1)];
	int err = 0;

	while (*at != last)
		at = &(*at)->next;
	*at = last->next;
	items->first = last->later;
	items->nr_states--;
	items->state_bytes -= last->room;
	last->state.end = ts;
	last->state.is_open = true;
	model_count_given_up(model);
	if (last->bytes && model->sink.state)
		err = model->sink.state(model->sink.arg, &last->state);
	free(last->bytes);
	free(last);
	return err;
}

int model_state_event(struct model *model, const struct model_step *step)
{
	struct model_state state = { .rule = step->rule, .begin = step->event->ts, .nr_keys = step->rule->nr_keys };
	struct model_items *items = model->items;
	struct last_state *last;
	int err = 0;

	for (unsigned int i = 0; i < state.nr_keys; i++)
		state.keys[i] = (uint64_t)model_number(step->rule->keys[i], &step->record);
	state.value = model_number(step->rule->value, &step->record);
	state.tid = step->thread->tid;
	last = last_of(items, &state);
	if (!last)
		return -ENOMEM;
	if (last->bytes && model->sink.state) {
		last->state.end = step->event->ts;
		err = model->sink.state(model->sink.arg, &last->state);
	}
	last->state = state;
	err = err ? err : keep_record(items, last, &step->record);
	while (!err && items->nr_states > 1 &&
	       (items->nr_states > MODEL_KNOWN_MAX || items->state_bytes > MODEL_BYTES_MAX))
		err = give_up(model, step->event->ts);
	return err;
}

int model_states_stop(struct model *model, uint64_t ts)
{
	int err = 0;

	for (struct last_state *last = model->items->first; !err && last; last = last->later) {
		last->state.end = ts;
		last->state.is_open = true;
		if (last->bytes && model->sink.state)
			err = model->sink.state(model->sink.arg, &last->state);
	}
	return err;
}

/* ------------------------------------------------------------------------------------------------------------ flows */

static struct last_flow *known_flow(struct flows *flows, uint64_t flow)
{
	const uint64_t place = number_map_get(&flows->places, flow);

	return place ? &flows->all[place - 1] : NULL;
}

static struct last_flow *add_flow(struct flows *flows, uint64_t flow)
{
	if (flows->nr == flows->room) {
		const size_t room = flows->room ? 2 * flows->room : 64;
		struct last_flow *more = reallocarray(flows->all, room, sizeof(*more));

		if (!more)
			return NULL;
		flows->all = more;
		flows->room = room;
	}
	if (number_map_set(&flows->places, flow, flows->nr + 1))
		return NULL;
	flows->all[flows->nr] = (struct last_flow){ 0 };
	return &flows->all[flows->nr++];
}

/* The last event of a flow, all zeros if none is known; NULL: out of memory. */
static struct last_flow *flow_of(struct model_items *items, uint64_t flow)
{
	struct last_flow *last = known_flow(&items->flows[0], flow);
	const struct last_flow *before;

	if (last)
		return last;
	if (items->flows[0].nr >= MODEL_KNOWN_MAX / 2) {
		forget_flows(&items->flows[1]);
		items->flows[1] = items->flows[0];
		items->flows[0] = (struct flows){ 0 };
	}
	last = add_flow(&items->flows[0], flow);
	before = known_flow(&items->flows[1], flow);
	if (last && before)
		*last = *before;
	return last;
}

int model_flow_event(struct model *model, const struct model_step *step)
{
	struct model_flow flow = {
		.flow = (uint64_t)model_number(step->rule->flow, &step->record),
		.ts = step->event->ts,
		.tid = step->thread->tid,
		.cpu = step->event->cpu,
		.span = step->span,
		.record = step->record,
	};
	struct last_flow *last;

	/* The flow number 0 links no events. */
	if (!flow.flow || !model->sink.flow)
		return 0;
	last = flow_of(model->items, flow.flow);
	if (!last)
		return -ENOMEM;
	flow.from_ts = last->ts;
	flow.from_tid = last->tid;
	flow.from_span = last->span;
	*last = (struct last_flow){ .ts = flow.ts, .tid = flow.tid, .span = flow.span };
	return model->sink.flow(model->sink.arg, &flow);
}

/* ------------------------------------------------------------------------------------------------------------ tasks */

static const struct task_name *name_of_task(const struct model *model, uint64_t task)
{
	return (const struct task_name *)(uintptr_t)number_map_get(&model->items->task_names, task);
}

static int give_task(const struct model *model, const struct model_thread *thread, uint64_t ts, bool is_open)
{
	const struct task_name *name = name_of_task(model, thread->task);
	const struct model_task task = {
		.task = thread->task,
		.name = name ? name->name : NULL,
		.tid = thread->tid,
		.begin = thread->task_begin,
		.end = ts,
		.is_open = is_open,
	};

	return thread->task && model->sink.task ? model->sink.task(model->sink.arg, &task) : 0;
}

int model_task_stop(struct model *model, struct model_thread *thread, uint64_t ts)
{
	const int err = give_task(model, thread, ts, true);

	thread->task = 0;
	return err;
}

/* The text of the field "name"; NULL: the event has no such field, or it is empty. -ENOMEM through *ret_error. */
static char *name_of(const struct model_record *record, int *ret_error)
{
	struct tep_format_field *field = tep_find_field(record->type->event, "name");
	uint32_t size = 0;
	const char *text = field ? model_text(field, record, &size) : NULL;
	char *name;

	if (!size)
		return NULL;
	name = strndup(text, size);
	if (!name)
		*ret_error = -ENOMEM;
	return name;
}

/* Takes ownership of the name, which may be NULL, also on failure. 0; -ENOMEM. */
static int set_name(struct model_items *items, uint64_t task, char *name)
{
	struct task_name *known = (struct task_name *)(uintptr_t)number_map_get(&items->task_names, task);

	if (!name || !task) {
		free(name);
		return 0;
	}
	if (!known) {
		/*
		 * All names are dropped. The name of a current task is stored again with the task's next event that has
		 * one.
		 */
		if (items->nr_names >= MODEL_KNOWN_MAX)
			forget_names(items);
		known = calloc(1, sizeof(*known));
		if (!known || number_map_set(&items->task_names, task, (uint64_t)(uintptr_t)known)) {
			free(known);
			free(name);
			return -ENOMEM;
		}
		known->next = items->first_name;
		items->first_name = known;
		items->nr_names++;
	}
	free(known->name);
	known->name = name;
	return 0;
}

int model_task_event(struct model *model, const struct model_step *step)
{
	struct model_thread *thread = step->thread;
	const uint64_t task = (uint64_t)model_number(step->rule->value, &step->record);
	int err = give_task(model, thread, step->event->ts, false);
	char *name = err ? NULL : name_of(&step->record, &err);

	if (!err)
		err = set_name(model->items, task, name);
	thread->task = task;
	thread->task_begin = step->event->ts;
	return err;
}
