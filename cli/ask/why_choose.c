/* SPDX-License-Identifier: MIT */
/* See why_choose.h. */
#include "cli/ask/why_choose.h"

#include "cli/common/opts.h"
#include "format/dat/dat_compress.h"

#include <stdlib.h>
#include <string.h>

int why_trace_open(const char *command, const char *path, unsigned int time_flags, struct why_trace *t)
{
	struct dat_error error = { .text = "" };
	int err = dat_open_rest(path, dat_compress_zstd(), &t->file, &error);

	if (!err)
		err = dat_check_events(t->file, &error);
	if (!err)
		err = dat_time_open(t->file, time_flags, &t->time, &error);
	if (!err)
		err = event_table_open(t->file, EVENT_FUNCTIONS_LATER | EVENT_NAMES, &t->table);
	if (!err)
		err = why_open(t->file, &t->time, t->table, &t->why);
	if (err)
		complain(command, "%s: %s", path, error.text[0] ? error.text : strerror(-err));
	return err ? EXIT_FAILURE : 0;
}

void why_trace_close(struct why_trace *t)
{
	why_close(t->why);
	event_table_close(t->table);
	if (t->file)
		dat_time_close(&t->time);
	dat_close(t->file);
}

/* Whether a span has this name: "system:name", "system/name", or only the name. */
static bool is_named(const struct why_span *span, const char *name)
{
	const size_t system = strlen(span->rule->system);

	if (!strcmp(span->rule->name, name))
		return true;
	return !strncmp(name, span->rule->system, system) && (name[system] == ':' || name[system] == '/') &&
	       !strcmp(name + system + 1, span->rule->name);
}

/* Whether a span has this id. An unsigned id cannot match a negative number. */
static bool has_id(const struct why_span *span, const char *id)
{
	if (*id == '-')
		return span->is_signed && span->id == (uint64_t)strtoll(id, NULL, 10);
	return span->id == strtoull(id, NULL, 10) && !(span->is_signed && (int64_t)span->id < 0);
}

static int by_duration(const void *a, const void *b)
{
	const struct why_span *x = *(const struct why_span *const *)a, *y = *(const struct why_span *const *)b;
	const uint64_t left = x->end - x->begin, right = y->end - y->begin;

	if (left != right)
		return left > right ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

int why_choose(const char *command, const struct why *why, const struct why_wanted *o, struct why_chosen *ret_chosen)
{
	size_t nr;
	const struct why_span *spans = why_spans(why, &nr);
	struct why_chosen chosen = { .spans = calloc(nr + 1, sizeof(struct why_span *)) };
	const uint64_t slowest = o->slowest || o->id || o->is_over ? o->slowest : 1;
	bool is_known = false, has_wanted_id = false;

	if (!chosen.spans) {
		complain(command, "not enough memory");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < nr; i++) {
		if (!is_named(&spans[i], o->span))
			continue;
		is_known = true;
		if (o->id && !has_id(&spans[i], o->id))
			continue;
		has_wanted_id = true;
		if (o->is_over && spans[i].end - spans[i].begin <= o->over)
			continue;
		chosen.spans[chosen.nr++] = &spans[i];
	}
	if (chosen.nr)
		qsort(chosen.spans, chosen.nr, sizeof(struct why_span *), by_duration);
	if (slowest && chosen.nr > slowest)
		chosen.nr = slowest;
	*ret_chosen = chosen;
	if (chosen.nr)
		return 0;
	if (!is_known)
		complain(
			command,
			"the trace has no span '%s'; 'recorder sql FILE \"SELECT system, name, count(*) FROM spans "
			"GROUP BY 1, 2\"' "
			"lists them",
			o->span);
	else
		complain(command, "no span '%s' %s", o->span,
			 o->id && !has_wanted_id ? "has this id" : "took longer than that");
	return EXIT_FAILURE;
}
