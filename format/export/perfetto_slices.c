/* SPDX-License-Identifier: MIT */
/*
 * What events mean, as track events: spans are slices, counters have tracks, states and tasks have tracks with a slice
 * for each.
 *
 * A span of a thread, or of a CPU, is begun and ended in time order on the thread's track, where slices nest. All
 * others are written when they have ended, on tracks of their own, none of which has two slices at a time: keyed spans,
 * spans that were written at their end, spans whose begin was not seen, and those of export_span_is_apart(). A slice
 * that is open where the trace ends has no end. One that is open where its thread ended ends there.
 *
 * Perfetto nests a limited number of slices on a track. Deeper spans are written when they have ended, too. A slice
 * ends only after those inside it, so that of a span that the model gave up ends with the last one inside it.
 */
#include "format/export/perfetto_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 320u
#define POOLS_MAX      65536u /* see find_pool() */

/*
 * The most slices that nest on a track: kMaxDepth in Perfetto's slice_tracker.h (v55.3). A deeper slice never ends
 * there, and its end ends another slice.
 */
#define NEST_MAX 512u

/*
 * Tracks of the same name below the same parent, as many as there were slices at a time. `least` is a binary tree in an
 * array: its leaf `room + i` is the end of the last slice of track i, UINT64_MAX if there is no such track; each node i
 * has the least of its children 2 i and 2 i + 1. So a free track is found in as many steps as the tree has levels.
 */
struct perfetto_pool {
	uint64_t parent;
	uint32_t nr, room; /* a power of two, or 0 */
	uint64_t *tracks;
	uint64_t *least; /* 2 * room; the first is not used */
};

struct perfetto_pools {
	struct string_table keys; /* numbers for pools, counters and states */
	struct perfetto_pool *pools; /* by number minus one */
	uint32_t room;
};

int perfetto_slices_open(struct perfetto *p)
{
	p->pools = calloc(1, sizeof(*p->pools));
	if (!p->pools)
		return -ENOMEM;
	p->pools->keys.max = POOLS_MAX;
	return 0;
}

static void free_pools(struct perfetto_pools *pools)
{
	for (uint32_t i = 0; i < pools->keys.used; i++) {
		free(pools->pools[i].tracks);
		free(pools->pools[i].least);
	}
	string_table_clear(&pools->keys);
}

void perfetto_slices_free(struct perfetto *p)
{
	number_map_free(&p->nests);
	if (!p->pools)
		return;
	free_pools(p->pools);
	free(p->pools->pools);
	string_table_free(&p->pools->keys);
	free(p->pools);
}

/* -------------------------------------------------------------------------------------------------------- tracks */

enum pool_kind { POOL_KEYED, POOL_OWN, POOL_COUNTER, POOL_STATE, POOL_TASK };

struct pool_key {
	uint64_t kind;
	uint64_t owner; /* id of the event or of the task */
	uint64_t parent;
	uint64_t nr_keys;
	uint64_t keys[MODEL_KEYS_MAX];
};

/*
 * Each key of a state, and each task, has a pool of its own. If there are too many, all are forgotten: the next slice
 * of a key is on another track of the same name.
 */
static struct perfetto_pool *find_pool(struct perfetto *p, const struct pool_key *key)
{
	struct perfetto_pools *pools = p->pools;
	bool is_new;
	uint32_t number = string_table_number(&pools->keys, key, sizeof(*key), &is_new);
	struct perfetto_pool *more;

	if (!number && pools->keys.used == POOLS_MAX) {
		free_pools(pools);
		number = string_table_number(&pools->keys, key, sizeof(*key), &is_new);
	}
	if (!number)
		return NULL;
	if (number > pools->room) {
		more = reallocarray(pools->pools, 2 * (size_t)number, sizeof(*more));
		if (!more)
			return NULL;
		pools->pools = more;
		pools->room = 2 * number;
	}
	if (is_new)
		pools->pools[number - 1] = (struct perfetto_pool){ .parent = key->parent };
	return &pools->pools[number - 1];
}

static void set_end(struct perfetto_pool *pool, uint32_t track, uint64_t end)
{
	uint32_t at = pool->room + track;

	pool->least[at] = end;
	for (at /= 2; at; at /= 2) {
		const uint64_t left = pool->least[2 * at], right = pool->least[2 * at + 1];

		pool->least[at] = left < right ? left : right;
	}
}

/* Doubles the number of tracks, or makes the first one. 0; -ENOMEM. */
static int grow_pool(struct perfetto_pool *pool)
{
	const uint32_t room = pool->room ? 2 * pool->room : 1;
	uint64_t *tracks = reallocarray(pool->tracks, room, sizeof(*tracks));
	uint64_t *least = calloc(2 * (size_t)room, sizeof(*least)), *old = pool->least;

	if (tracks)
		pool->tracks = tracks;
	if (!tracks || !least) {
		free(least);
		return -ENOMEM;
	}
	memset(least, 0xff, 2 * (size_t)room * sizeof(*least));
	pool->least = least;
	pool->room = room;
	for (uint32_t i = 0; i < pool->nr; i++)
		set_end(pool, i, old[room / 2 + i]);
	free(old);
	return 0;
}

/* The first track that is free from `begin` on, used until `end`; 0: out of memory. */
static uint64_t pool_track(struct perfetto *p, struct perfetto_pool *pool, const char *name, bool is_counter,
			   uint64_t begin, uint64_t end)
{
	uint32_t at = 1;

	if (pool->nr && pool->least[1] <= begin) {
		while (at < pool->room)
			at = pool->least[2 * at] <= begin ? 2 * at : 2 * at + 1;
		at -= pool->room;
	} else {
		if (pool->nr == pool->room && grow_pool(pool))
			return 0;
		at = pool->nr++;
		pool->tracks[at] = perfetto_track(p, pool->parent, name, is_counter);
	}
	set_end(pool, at, end);
	return pool->tracks[at];
}

static const struct export_event *event_of(const struct perfetto *p, const struct model_rule *rule)
{
	return export_event(p->trace->fields, rule->type->event->id);
}

static void set_name(char *text, const struct model_rule *rule)
{
	snprintf(text, NAME_MAX_BYTES, "%s:%s", rule->system, rule->name);
}

/* --------------------------------------------------------------------------------------------------------- spans */

static void put_incomplete(struct perfetto *p, const struct export_event *first, const struct export_event *last,
			   const char *text)
{
	const bool is_field = export_has_field(first, "incomplete") || export_has_field(last, "incomplete");

	perfetto_argument_text(p, is_field ? "span.incomplete" : "incomplete", text);
}

static int put_begin(struct perfetto *p, const struct model_span *span, uint64_t track, const char *incomplete)
{
	const struct model_record *record = span->first.data ? &span->first : &span->last;
	const struct export_event *type = event_of(p, span->rule);
	const struct perfetto_names *names = perfetto_names(p, type);
	const size_t event = perfetto_event_begin(p, span->begin, TYPE_BEGIN, track);

	if (!names)
		return -ENOMEM;
	proto_uint(&p->packet, EVENT_CATEGORY, names->category);
	proto_uint(&p->packet, EVENT_NAME,
		   span->name == span->rule->name
			   ? names->name
			   : perfetto_intern(p, &p->names, INTERNED_NAME, span->name, strlen(span->name)));
	perfetto_arguments(p, type, NULL, 0, record->data, record->size);
	if (!span->rule->is_of_cpu && !export_is_namesake(p->trace, span->rule->is_program, span->tid))
		perfetto_contexts(p, span->tid, span->begin);
	if (span->task)
		perfetto_argument_uint(p, export_has_field(type, "task") ? "span.task" : "task", span->task);
	if (incomplete)
		put_incomplete(p, type, NULL, incomplete);
	return perfetto_event_end(p, event);
}

/* Ends a slice. The keys were already arguments of its begin. */
static int put_end(struct perfetto *p, const struct model_span *span, uint64_t track, const char *incomplete)
{
	const bool is_pair = span->first.data && span->last.data && span->first.data != span->last.data;
	const size_t event = perfetto_event_begin(p, span->end, TYPE_END, track);
	const struct export_event *first = event_of(p, span->rule), *last = NULL;

	if (is_pair) {
		last = export_event(p->trace->fields, span->last.type->event->id);
		perfetto_arguments(p, last, first, span->nr_keys, span->last.data, span->last.size);
	}
	if (incomplete)
		put_incomplete(p, first, last, incomplete);
	return perfetto_event_end(p, event);
}

static uint64_t track_of(struct perfetto *p, const struct model_span *span)
{
	if (span->rule->is_of_cpu)
		return perfetto_cpu_track(p, span->cpu);
	if (export_is_namesake(p->trace, span->rule->is_program, span->tid))
		return perfetto_namesake(p, span->tid);
	return perfetto_thread(p, span->tid, span->cpu);
}

/* The open spans of a track where slices nest, the outermost first. */
struct nest {
	uint64_t given_up; /* their slices are open */
	uint64_t open;	   /* their slices are open, too */
	uint64_t deep;	   /* they get a slice at their end */
};

static struct nest nest_of(const struct perfetto *p, uint64_t track)
{
	const uint64_t value = number_map_get(&p->nests, track);

	return (struct nest){ value >> 1 & 0xffff, value >> 17 & 0xffff, value >> 33 };
}

/* 0; -ENOMEM. The lowest bit is set, because a value of the map is not 0. */
static int set_nest(struct perfetto *p, uint64_t track, struct nest nest)
{
	return number_map_set(&p->nests, track, nest.deep << 33 | nest.open << 17 | nest.given_up << 1 | 1);
}

/* Whether a span nests on its track, if its begin was seen. */
static bool is_nested(const struct perfetto *p, const struct model_span *span)
{
	return !span->rule->is_keyed && !span->is_beside && !export_span_is_apart(p->trace, span);
}

static int on_span_begin(void *arg, const struct model_span *span)
{
	struct perfetto *p = arg;
	struct nest nest;
	uint64_t track;
	bool is_deep;

	if (!is_nested(p, span))
		return 0;
	track = track_of(p, span);
	if (!track)
		return -ENOMEM;
	nest = nest_of(p, track);
	is_deep = nest.given_up + nest.open == NEST_MAX;
	if (is_deep)
		nest.deep++;
	else
		nest.open++;
	if (set_nest(p, track, nest))
		return -ENOMEM;
	return is_deep ? 0 : put_begin(p, span, track, NULL);
}

/*
 * Writes a span on a track of its own, below that of its thread. Keyed spans belong to no thread, so their tracks are
 * at the top.
 */
static int put_whole(struct perfetto *p, const struct model_span *span, const char *incomplete)
{
	struct pool_key key = { .kind = span->rule->is_keyed ? POOL_KEYED : POOL_OWN, .owner = span->rule->pair };
	const bool is_open = export_span_is_open(p->trace, span);
	struct perfetto_pool *pool;
	char name[NAME_MAX_BYTES];
	uint64_t track;
	int err;

	key.parent = span->rule->is_keyed ? 0 : track_of(p, span);
	pool = find_pool(p, &key);
	if (!pool || (!key.parent && !span->rule->is_keyed))
		return -ENOMEM;
	set_name(name, span->rule);
	track = pool_track(p, pool, name, false, span->begin, is_open ? UINT64_MAX : span->end);
	if (!track)
		return -ENOMEM;
	err = put_begin(p, span, track, incomplete);
	return err || is_open ? err : put_end(p, span, track, NULL);
}

/* The last slice inside those that were given up has ended. */
static int end_given_up(struct perfetto *p, uint64_t track, uint64_t ts, struct nest *nest)
{
	int err = 0;

	for (; !err && nest->given_up; nest->given_up--) {
		const size_t event = perfetto_event_begin(p, ts, TYPE_END, track);

		perfetto_argument_text(p, "incomplete", "cut: too many spans were open");
		err = perfetto_event_end(p, event);
	}
	return err;
}

/* Ends a span of a track where slices nest. */
static int end_nested(struct perfetto *p, const struct model_span *span, uint64_t track)
{
	struct nest nest = nest_of(p, track);
	const bool is_given_up = span->is_given_up && nest.open;
	int err = 0;

	if (is_given_up) {
		nest.open--;
		nest.given_up++;
	} else if (nest.deep) {
		nest.deep--;
		err = put_whole(p, span, export_incomplete(span));
	} else {
		nest.open--;
		/* Open at the end of the trace: it gets no end. Open at the end of its thread: it ended then. */
		if (!export_span_is_open(p->trace, span))
			err = put_end(p, span, track, export_incomplete(span));
	}
	if (!err && !nest.open && !nest.deep && !export_span_is_open(p->trace, span))
		err = end_given_up(p, track, span->end, &nest);
	return err || set_nest(p, track, nest) ? -ENOMEM : 0;
}

static int on_span(void *arg, const struct model_span *span)
{
	struct perfetto *p = arg;
	uint64_t track;

	if (!is_nested(p, span) || !span->first.data || span->rule->meaning == MODEL_TIMED)
		return put_whole(p, span, export_incomplete(span));
	track = track_of(p, span);
	return track ? end_nested(p, span, track) : -ENOMEM;
}

/* --------------------------------------------------------------------------------------------------- other items */

/* Perfetto links only slices, so a counter with a flow is an instant of its thread, too. */
static int put_flow(struct perfetto *p, const struct model_counter *counter)
{
	const struct export_event *type = event_of(p, counter->rule);
	const struct model_record *record = &counter->record;
	const struct perfetto_names *names = perfetto_names(p, type);
	const struct dat_event event = {
		.ts = counter->ts, .cpu = counter->cpu, .data = record->data, .size = record->size
	};
	struct export_value flow;

	if (!names)
		return -ENOMEM;
	if (names->flow < 0 || !export_value(&type->fields[names->flow], record->data, record->size, &flow) || !flow.u)
		return 0;
	return perfetto_point(p, type, &event, counter->tid);
}

static int on_counter(void *arg, const struct model_counter *counter)
{
	struct perfetto *p = arg;
	const bool is_large = counter->value < 0 && !(counter->rule->value->flags & TEP_FIELD_IS_SIGNED);
	struct pool_key key = { .kind = POOL_COUNTER, .owner = counter->rule->pair };
	struct perfetto_pool *pool;
	char name[NAME_MAX_BYTES];
	uint64_t track;
	size_t event;
	int err;

	key.parent = perfetto_process(p, counter->tid);
	pool = find_pool(p, &key);
	if (!key.parent || !pool)
		return -ENOMEM;
	set_name(name, counter->rule);
	track = pool_track(p, pool, name, true, counter->ts, 0);
	if (!track)
		return -ENOMEM;
	event = perfetto_event_begin(p, counter->ts, TYPE_COUNTER, track);
	if (is_large)
		proto_double(&p->packet, EVENT_COUNTER_REAL, (double)(uint64_t)counter->value);
	else
		proto_int(&p->packet, EVENT_COUNTER, counter->value);
	perfetto_arguments(p, event_of(p, counter->rule), NULL, 1, counter->record.data, counter->record.size);
	err = perfetto_event_end(p, event);
	return err ? err : put_flow(p, counter);
}

static int put_slice(struct perfetto *p, uint64_t track, struct export_slice slice)
{
	size_t event = perfetto_event_begin(p, slice.begin, TYPE_BEGIN, track);
	int err;

	proto_uint(&p->packet, EVENT_CATEGORY,
		   perfetto_intern(p, &p->categories, INTERNED_CATEGORY, slice.category, strlen(slice.category)));
	proto_text(&p->packet, EVENT_NAME_TEXT, slice.name);
	perfetto_argument_int(p, "tid", slice.tid);
	if (slice.rule)
		perfetto_arguments(p, event_of(p, slice.rule), NULL, slice.first, slice.record->data,
				   slice.record->size);
	err = perfetto_event_end(p, event);
	if (err || slice.is_open)
		return err;
	event = perfetto_event_begin(p, slice.end, TYPE_END, track);
	return perfetto_event_end(p, event);
}

static int on_state(void *arg, const struct model_state *state)
{
	struct perfetto *p = arg;
	struct pool_key key = { .kind = POOL_STATE, .owner = state->rule->pair, .nr_keys = state->nr_keys };
	struct perfetto_pool *pool;
	char name[NAME_MAX_BYTES];
	uint64_t track;

	memcpy(key.keys, state->keys, state->nr_keys * sizeof(key.keys[0]));
	pool = find_pool(p, &key);
	if (!pool)
		return -ENOMEM;
	model_state_title(state, name, sizeof(name));
	track = pool_track(p, pool, name, false, state->begin,
			   state->is_open && p->trace->is_ending ? UINT64_MAX : state->end);
	if (!track)
		return -ENOMEM;
	return put_slice(p, track, export_state_slice(p->trace, state, name, sizeof(name)));
}

/* Shows on a task's track which threads worked for it. */
static int on_task(void *arg, const struct model_task *task)
{
	struct perfetto *p = arg;
	struct pool_key key = { .kind = POOL_TASK, .owner = task->task };
	struct perfetto_pool *pool = find_pool(p, &key);
	char name[NAME_MAX_BYTES];
	uint64_t track;

	if (!pool)
		return -ENOMEM;
	snprintf(name, sizeof(name), "task %" PRIu64 "%s%.200s", task->task, task->name && task->name[0] ? " " : "",
		 task->name ? task->name : "");
	track = pool_track(p, pool, name, false, task->begin, task->end);
	if (!track)
		return -ENOMEM;
	return put_slice(p, track, export_task_slice(p->trace, task));
}

static int on_point(void *arg, const struct model_record *record, const struct dat_event *event, int32_t tid,
		    uint64_t span)
{
	struct perfetto *p = arg;
	const struct export_event *type = record->type ? export_event(p->trace->fields, record->type->event->id) : NULL;

	(void)span;
	return type && type->is_program ? perfetto_point(p, type, event, tid) : 0;
}

struct model_sink perfetto_sink(struct perfetto *p)
{
	return (struct model_sink){
		.arg = p,
		.span = on_span,
		.counter = on_counter,
		.state = on_state,
		.task = on_task,
		.point = on_point,
		.span_begin = on_span_begin,
		.given_up = &p->trace->given_up,
	};
}
