/* SPDX-License-Identifier: MIT */
/* The lines of tasks, with their sums and stacks. Also combines tasks of the same name. */
#include "cli/report/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Marks an empty chain in a map from hashes to chains. */
#define NO_CHAIN 1u

uint64_t profile_hash(const struct profile_kind *kind, uint64_t value)
{
	return ((uint64_t)(uintptr_t)kind + value) * UINT64_C(0x9e3779b97f4a7c15);
}

void *profile_chain(const struct number_map *map, uint64_t hash)
{
	const uint64_t chain = number_map_get(map, hash);

	return chain == NO_CHAIN ? NULL : (void *)(uintptr_t)chain;
}

void profile_set_chain(struct profile *p, struct number_map *map, uint64_t hash, const void *first)
{
	if (number_map_set(map, hash, first ? (uint64_t)(uintptr_t)first : NO_CHAIN))
		p->is_short_of_memory = true;
}

/* ------------------------------------------------------------------------------------------------- lines and totals */

struct profile_line *profile_line(struct profile *p, struct profile_task *task, const struct profile_kind *kind,
				  uint64_t value)
{
	const uint64_t hash = profile_hash(kind, value);
	struct profile_line *first = profile_chain(&task->by_line, hash), *line = first;
	struct profile_line **more;

	while (line && (line->kind != kind || line->value != value))
		line = line->chained;
	if (line)
		return line;
	line = calloc(1, sizeof(*line));
	more = line ? reallocarray(task->lines, task->nr_lines + 1, sizeof(struct profile_line *)) : NULL;
	if (!more) {
		free(line);
		p->is_short_of_memory = true;
		return NULL;
	}
	task->lines = more;
	line->kind = kind;
	line->value = value;
	line->chained = first;
	profile_set_chain(p, &task->by_line, hash, line);
	task->lines[task->nr_lines++] = line;
	return line;
}

void profile_add_time(struct profile_total *total, uint64_t ns, uint64_t ts)
{
	total->time += ns;
	if (!total->count++ || ns < total->min) {
		total->min = ns;
		total->min_ts = ts;
	}
	if (ns > total->max) {
		total->max = ns;
		total->max_ts = ts;
	}
}

struct profile_total *profile_stack(struct profile *p, struct profile_line *line, const struct pooled_text *addresses)
{
	const uint64_t place = number_map_get(&line->by_addresses, (uint64_t)(uintptr_t)addresses);
	struct profile_stack *more;

	if (place)
		return &line->stacks[place - 1].total;
	more = reallocarray(line->stacks, line->nr_stacks + 1, sizeof(*more));
	if (more)
		line->stacks = more;
	if (!more || number_map_set(&line->by_addresses, (uint64_t)(uintptr_t)addresses, line->nr_stacks + 1)) {
		p->is_short_of_memory = true;
		return NULL;
	}
	more[line->nr_stacks] = (struct profile_stack){ .addresses = addresses };
	return &more[line->nr_stacks++].total;
}

void profile_task_free(struct profile_task *task)
{
	for (size_t i = 0; i < task->nr_lines; i++) {
		number_map_free(&task->lines[i]->by_addresses);
		free(task->lines[i]->stacks);
		free(task->lines[i]);
	}
	number_map_free(&task->by_line);
	number_map_free(&task->by_open);
	free(task->lines);
	free(task->comm);
}

/* ----------------------------------------------------------------------------------------------------------- groups */

void profile_merge_total(struct profile_total *to, const struct profile_total *from)
{
	if (!to->count || from->min < to->min) {
		to->min = from->min;
		to->min_ts = from->min_ts;
	}
	if (from->max > to->max) {
		to->max = from->max;
		to->max_ts = from->max_ts;
	}
	to->count += from->count;
	to->time += from->time;
}

static void merge_task(struct profile *p, struct profile_task *group, const struct profile_task *task)
{
	for (size_t i = 0; i < task->nr_lines; i++) {
		const struct profile_line *from = task->lines[i];
		/* For a wake-up, the value is the task. */
		struct profile_line *to =
			profile_line(p, group, from->kind, from->kind->act == PROFILE_WAKE ? 0 : from->value);

		if (to)
			profile_merge_total(&to->total, &from->total);
		for (size_t k = 0; to && k < from->nr_stacks; k++) {
			struct profile_total *total = profile_stack(p, to, from->stacks[k].addresses);

			if (total)
				profile_merge_total(total, &from->stacks[k].total);
		}
	}
}

/* Find the group of this name, or add one at the end. `by_name` has places plus one. NULL: no memory. */
static struct profile_task *group_of(struct profile *p, const char *comm, struct number_map *by_name,
				     struct profile_task *groups, size_t *nr)
{
	const struct pooled_text *name = text_pool_add(&p->pool, comm, strlen(comm));
	const uint64_t place = number_map_get(by_name, (uint64_t)(uintptr_t)name);

	if (name && place)
		return &groups[place - 1];
	if (!name || number_map_set(by_name, (uint64_t)(uintptr_t)name, *nr + 1))
		return NULL;
	groups[*nr].comm = strdup(comm);
	return groups[*nr].comm ? &groups[(*nr)++] : NULL;
}

int profile_group(struct profile *p, struct profile_task **ret_groups, size_t *ret_nr)
{
	struct profile_task *groups = calloc(p->nr_tasks + 1, sizeof(*groups));
	struct number_map by_name = { 0 };
	size_t nr = 0;

	for (size_t i = 0; groups && i < p->nr_tasks && !p->is_short_of_memory; i++) {
		struct profile_task *task = p->tasks[i], *group;

		if (!task->comm)
			continue;
		group = group_of(p, task->comm, &by_name, groups, &nr);
		if (group)
			merge_task(p, group, task);
		task->is_in_group = group != NULL;
		p->is_short_of_memory |= !group;
	}
	number_map_free(&by_name);
	*ret_groups = groups;
	*ret_nr = nr;
	return groups && !p->is_short_of_memory ? 0 : -ENOMEM;
}
