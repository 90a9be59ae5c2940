/* SPDX-License-Identifier: MIT */
/* Searches the data kept of a trace: threads and CPUs by number, items by time; and makes their texts. */
#include "format/why/why_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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
	char room[512], *longer = NULL;
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(room, sizeof(room), format, args);
	va_end(args);
	/* The cause at the end of a long chain of wake-ups must not be cut off. */
	if (size >= (int)sizeof(room)) {
		va_start(args, format);
		size = vasprintf(&longer, format, args);
		va_end(args);
		longer = size < 0 ? NULL : longer;
	}
	text = size < 0 ? NULL : text_pool_add(&why->pool, longer ? longer : room, (size_t)size);
	free(longer);
	if (!text)
		why->error = -ENOMEM;
	return text ? text->text : "";
}

const char *why_thread_name(struct why *why, int32_t tid)
{
	const uint64_t known = number_map_get(&why->names, (uint32_t)tid);
	const char *name;

	if (known)
		return (const char *)(uintptr_t)known;
	name = why_text(why, "%s-%d", event_comm_shown(why->table, tid), tid);
	if (*name)
		number_map_set(&why->names, (uint32_t)tid, (uint64_t)(uintptr_t)name);
	return *name ? name : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- search */

/* The first of the items, of `size` bytes each, whose end, at `offset`, is later than `ts`. */
static size_t first_after(const struct blob *items, size_t size, size_t offset, uint64_t ts)
{
	size_t low = 0, high = items->size / size;
	uint64_t end;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		memcpy(&end, items->data + middle * size + offset, sizeof(end));
		if (end <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t why_state_from(const struct blob *states, uint64_t ts)
{
	return first_after(states, sizeof(struct why_state), offsetof(struct why_state, end), ts);
}

size_t why_run_from(const struct blob *runs, uint64_t ts)
{
	return first_after(runs, sizeof(struct why_run), offsetof(struct why_run, end), ts);
}

size_t why_loss_from(const struct blob *losses, uint64_t ts)
{
	return first_after(losses, sizeof(struct why_loss), offsetof(struct why_loss, end), ts);
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
