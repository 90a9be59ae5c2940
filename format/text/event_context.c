/* SPDX-License-Identifier: MIT */
/* See event_context.h. Values are collected in the order of their events, and then sorted by thread and key. */
#include "format/text/event_context.h"

#include <errno.h>
#include <stdlib.h>

#include "format/dat/dat_merge.h"
#include "format/io/bytes.h"
#include "format/text/event_field.h"

/* The fields of recorder:context. */
struct shape {
	int id;
	const struct tep_format_field *age, *key, *value;
	bool big;
};

/* Finds the event, if the file has one with these fields. */
static bool find_shape(const struct event_table *table, struct shape *ret_shape)
{
	struct tep_event *event = tep_find_event_by_name(table->tep, "recorder", "context");

	/* The id comes from the file, and may be any number. */
	if (!event || event->id < 0 || event->id >= (int)EVENT_NR_IDS)
		return false;
	*ret_shape = (struct shape){ event->id, tep_find_field(event, "age"), tep_find_field(event, "key"),
				     tep_find_field(event, "value"), table->big };
	return ret_shape->age && ret_shape->age->size == 8 && ret_shape->key && ret_shape->value &&
	       ret_shape->key->flags & TEP_FIELD_IS_DYNAMIC && ret_shape->value->flags & TEP_FIELD_IS_DYNAMIC;
}

/* The group of a thread and a key, or a new one. NULL: not enough memory. */
static struct event_context_group *get_group(struct event_contexts *contexts, int32_t tid,
					     const struct pooled_text *key)
{
	const size_t first = number_map_get(&contexts->groups_of, (uint32_t)tid);
	size_t at = first;

	while (at && contexts->groups[at - 1].key != key)
		at = contexts->groups[at - 1].next;
	if (at)
		return &contexts->groups[at - 1];
	if (contexts->nr_groups == contexts->groups_room) {
		const size_t room = contexts->groups_room ? 2 * contexts->groups_room : 64;
		struct event_context_group *more = reallocarray(contexts->groups, room, sizeof(*more));

		if (!more)
			return NULL;
		contexts->groups = more;
		contexts->groups_room = room;
	}
	contexts->groups[contexts->nr_groups++] = (struct event_context_group){ .tid = tid, .key = key, .next = first };
	if (number_map_set(&contexts->groups_of, (uint32_t)tid, contexts->nr_groups))
		return NULL;
	return &contexts->groups[contexts->nr_groups - 1];
}

static int add(struct event_contexts *contexts, const struct event_context *context)
{
	if (contexts->nr == contexts->room) {
		const size_t room = contexts->room ? 2 * contexts->room : 256;
		struct event_context *more = reallocarray(contexts->list, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		contexts->list = more;
		contexts->room = room;
	}
	contexts->list[contexts->nr] = *context;
	contexts->list[contexts->nr].number = contexts->nr;
	contexts->nr++;
	return 0;
}

/*
 * Take an event of a key. Its value began `age` before the event, but not before the last event with another value. If
 * the key already has this value, the event only repeats it.
 */
static int take_value(struct event_contexts *contexts, struct event_context *context, uint64_t age)
{
	struct event_context_group *group = get_group(contexts, context->tid, context->key);
	struct event_context *last;

	if (!group)
		return -ENOMEM;
	last = group->nr ? &contexts->list[group->last] : NULL;
	if (last && last->value == context->value) {
		last->seen = context->seen;
		return 0;
	}
	context->begin = age < context->seen ? context->seen - age : 0;
	context->end = UINT64_MAX;
	context->group = (size_t)(group - contexts->groups);
	if (last) {
		context->begin = context->begin > last->seen ? context->begin : last->seen;
		last->end = context->begin;
	}
	group->last = contexts->nr;
	group->nr++;
	return add(contexts, context);
}

static int compare(const void *a, const void *b)
{
	const struct event_context *one = a, *other = b;

	if (one->group != other->group)
		return one->group < other->group ? -1 : 1;
	return one->number < other->number ? -1 : 1;
}

static void sort(struct event_contexts *contexts)
{
	size_t first = 0;

	if (contexts->nr)
		qsort(contexts->list, contexts->nr, sizeof(*contexts->list), compare);
	for (size_t i = 0; i < contexts->nr_groups; i++) {
		contexts->groups[i].first = first;
		first += contexts->groups[i].nr;
	}
}

static int take_event(struct event_contexts *contexts, const struct event_table *table, const struct shape *shape,
		      const struct dat_event *event)
{
	struct event_context context = { .tid = event_pid(table, event->data, event->size), .seen = event->ts };
	uint32_t key_size = 0, value_size = 0;
	const char *key = event_field_text(shape->key, event->data, event->size, shape->big, &key_size);
	const char *value = event_field_text(shape->value, event->data, event->size, shape->big, &value_size);
	const uint32_t age_at = (uint32_t)shape->age->offset;

	if (!key || !value || event->size < 8 || age_at > event->size - 8)
		return 0;
	context.key = text_pool_add(&contexts->pool, key, key_size);
	context.value = text_pool_add(&contexts->pool, value, value_size);
	if (!context.key || !context.value)
		return -ENOMEM;
	return take_value(contexts, &context, bytes_get64((const char *)event->data + age_at, shape->big));
}

static int read_all(struct event_contexts *contexts, const struct event_table *table, const struct shape *shape,
		    struct dat_merge *merge, bool (*ends)(void *arg), void *arg)
{
	struct dat_event event;
	int err = 0;

	while (!err && dat_merge_next(merge, &event)) {
		if (ends && ends(arg))
			err = -EINTR;
		else if (event_id(table, event.data, event.size) == shape->id)
			err = take_event(contexts, table, shape, &event);
	}
	return err;
}

int event_contexts_open_until(const struct dat_file *file, const struct dat_time *time, const struct event_table *table,
			      bool (*ends)(void *arg), void *arg, struct event_contexts *ret_contexts)
{
	struct dat_merge *merge;
	struct shape shape;
	bool *types;
	int err;

	*ret_contexts = (struct event_contexts){ 0 };
	if (!find_shape(table, &shape))
		return 0;
	types = calloc(EVENT_NR_IDS, sizeof(*types));
	if (!types)
		return -ENOMEM;
	types[shape.id] = true;
	err = dat_merge_open(file, time, NULL, NULL, &merge);
	if (!err) {
		if (event_ids_lead(table))
			dat_merge_only(merge, types);
		err = read_all(ret_contexts, table, &shape, merge, ends, arg);
		dat_merge_close(merge);
		sort(ret_contexts);
	}
	free(types);
	if (err)
		event_contexts_close(ret_contexts);
	return err;
}

int event_contexts_open(const struct dat_file *file, const struct dat_time *time, const struct event_table *table,
			struct event_contexts *ret_contexts)
{
	return event_contexts_open_until(file, time, table, NULL, NULL, ret_contexts);
}

void event_contexts_close(struct event_contexts *contexts)
{
	text_pool_close(&contexts->pool);
	number_map_free(&contexts->groups_of);
	free(contexts->groups);
	free(contexts->list);
	*contexts = (struct event_contexts){ 0 };
}

/* The last of a group's values that began at `ts` or before. NULL: all began later. */
static const struct event_context *find(const struct event_contexts *contexts, const struct event_context_group *group,
					uint64_t ts)
{
	const struct event_context *list = contexts->list + group->first;
	size_t low = 0, high = group->nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (list[middle].begin <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &list[low - 1] : NULL;
}

const struct event_context *event_contexts_next(const struct event_contexts *contexts, int32_t tid, uint64_t ts,
						size_t *next)
{
	size_t at = *next ? contexts->groups[*next - 1].next : number_map_get(&contexts->groups_of, (uint32_t)tid);
	const struct event_context *found;

	for (; at; at = contexts->groups[at - 1].next) {
		*next = at;
		found = find(contexts, &contexts->groups[at - 1], ts);
		if (found && found->value->size)
			return found;
	}
	return NULL;
}
