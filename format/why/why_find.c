/* SPDX-License-Identifier: MIT */
/* Finds things in what is kept of a trace: threads and CPUs by number, items by time, texts. */
#include "format/why/why_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ lists */

struct why_thread *why_thread(const struct why *why, int32_t tid)
{
	const uint64_t place = number_map_get(&why->by_tid, (uint32_t)tid);

	return place ? &why->threads[place - 1] : NULL;
}

const struct why_cpu *why_cpu(const struct why *why, uint32_t cpu)
{
	return cpu < why->nr_cpus ? &why->cpus[cpu] : NULL;
}

const char *why_text(struct why *why, const char *format, ...)
{
	const struct pooled_text *text;
	char room[512];
	va_list args;

	va_start(args, format);
	vsnprintf(room, sizeof(room), format, args);
	va_end(args);
	text = text_pool_add(&why->pool, room, strlen(room));
	if (!text)
		why->error = -ENOMEM;
	return text ? text->text : "";
}

const char *why_thread_name(struct why *why, int32_t tid)
{
	const uint64_t known = number_map_get(&why->names, (uint32_t)tid);
	const char *comm = known ? NULL : tep_data_comm_from_pid(why->table->tep, tid);
	const char *name;

	if (known)
		return (const char *)(uintptr_t)known;
	name = why_text(why, "%s-%d", comm ? comm : "<...>", tid);
	if (*name)
		number_map_set(&why->names, (uint32_t)tid, (uint64_t)(uintptr_t)name);
	return *name ? name : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- search */

size_t why_state_from(const struct blob *states, uint64_t ts)
{
	size_t nr, low = 0;
	const struct why_state *list = why_items(struct why_state, states, nr);

	while (low < nr) {
		const size_t middle = low + (nr - low) / 2;

		if (list[middle].end <= ts)
			low = middle + 1;
		else
			nr = middle;
	}
	return low;
}

size_t why_run_from(const struct blob *runs, uint64_t ts)
{
	size_t nr, low = 0;
	const struct why_run *list = why_items(struct why_run, runs, nr);

	while (low < nr) {
		const size_t middle = low + (nr - low) / 2;

		if (list[middle].end <= ts)
			low = middle + 1;
		else
			nr = middle;
	}
	return low;
}

size_t why_loss_from(const struct blob *losses, uint64_t ts)
{
	size_t nr, low = 0;
	const struct why_loss *list = why_items(struct why_loss, losses, nr);

	while (low < nr) {
		const size_t middle = low + (nr - low) / 2;

		if (list[middle].end <= ts)
			low = middle + 1;
		else
			nr = middle;
	}
	return low;
}

const struct why_inner *why_innermost(const struct blob *inner, uint64_t ts, uint64_t since, uint64_t *until)
{
	size_t nr, low = 0, high;
	const struct why_inner *list = why_items(struct why_inner, inner, nr), *found;

	for (high = nr; low < high;) {
		const size_t middle = low + (high - low) / 2;

		if (list[middle].begin <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	if (until && low < nr && list[low].begin < *until)
		*until = list[low].begin;
	if (!low)
		return NULL;
	for (found = &list[low - 1]; found && found->end <= ts;)
		found = found->outer ? found - found->outer : NULL;
	if (found && until && found->end < *until)
		*until = found->end;
	return found && found->begin >= since ? found : NULL;
}

const char *why_span_name(struct why *why, const struct why_span *span)
{
	return why_text(why, "%s:%s", span->rule->system, span->rule->name);
}

const char *why_inner_name(struct why *why, const struct why_inner *inner)
{
	const struct model_rule *rule = inner->rule;
	const bool is_named = inner->name != rule->name;

	if (!rule->is_kernel)
		return why_text(why, "%s:%s", rule->system, rule->name);
	if (rule->naming == MODEL_NAME_CALL && !is_named)
		return why_text(why, "system call %lld", (long long)inner->number);
	return rule->is_call || is_named ? why_text(why, "%s()", inner->name) : rule->name;
}
