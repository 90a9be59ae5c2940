/* SPDX-License-Identifier: MIT */
/*
 * Finds the events that the names of a series mean. A name may mean several types of event: from different systems, or
 * with different fields.
 */
#include "format/series/series_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/text/syscall_names.h"

#define NR_IDS 65536

static int wrong(struct series_error *ret_error, enum series_word word, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int wrong(struct series_error *ret_error, enum series_word word, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	ret_error->word = word;
	vsnprintf(ret_error->reason, sizeof(ret_error->reason), format, args);
	va_end(args);
	return -EINVAL;
}

/* Whether a word is "system:name", "system/name", or only the name. */
static bool is_named(const char *system, const char *name, const char *word)
{
	const size_t size = strlen(system);

	if (!strcmp(word, name))
		return true;
	return !strncmp(word, system, size) && (word[size] == ':' || word[size] == '/') &&
	       !strcmp(word + size + 1, name);
}

/* Add a tap; the taps of an event stay in the order in which they were added. */
static int add_tap(struct series_set *set, const struct tep_event *type, struct series *series, enum series_role role,
		   const struct export_field *field)
{
	const struct model_rule *rule = model_rule(set->rules, type->id);
	struct series_tap **at = &set->taps[type->id];
	struct series_tap *tap = calloc(1, sizeof(*tap));

	if (!tap)
		return -ENOMEM;
	series->has_programs |= rule->is_program;
	series->has_kernel |= !rule->is_program;
	series->has_switches |= rule->meaning == MODEL_SWITCH;
	*tap = (struct series_tap){ .series = series, .role = role, .system = type->system, .field = field };
	while (*at)
		at = &(*at)->next;
	*at = tap;
	return 0;
}

/* Type number i of the table; NULL: no record can have it. */
static const struct tep_event *type_at(const struct series_set *set, uint32_t i)
{
	const struct tep_event *type = set->table->all[i].event;

	return type->id >= 0 && type->id < NR_IDS && export_event(set->fields, type->id) ? type : NULL;
}

/* ------------------------------------------------------------------------------------------------------------ spans */

static int find_wakeups(struct series_set *set, struct series *series, struct series_error *ret_error)
{
	bool has_switch = false, has_wake = false;

	for (uint32_t i = 0; i < set->table->nr_events; i++) {
		const struct tep_event *type = type_at(set, i);
		const enum model_meaning meaning = type ? model_rule(set->rules, type->id)->meaning : MODEL_POINT;

		has_switch |= meaning == MODEL_SWITCH;
		has_wake |= meaning == MODEL_WAKE;
	}
	if (!has_switch || !has_wake)
		return wrong(ret_error, SERIES_NAME,
			     "the trace has no sched_switch or no sched_waking; record them with -e sched");
	series->is_wakeup = set->needs_model = true;
	return 0;
}

static bool is_span(const struct model_rule *rule)
{
	return rule->meaning == MODEL_BEGIN || rule->meaning == MODEL_END || rule->meaning == MODEL_TIMED;
}

static int find_spans(struct series_set *set, struct series *series, const char *name, struct series_error *ret_error)
{
	bool is_found = false, is_event = false;
	int err = 0;

	set->needs_model = true;
	for (uint32_t i = 0; !err && i < set->table->nr_events; i++) {
		const struct tep_event *type = type_at(set, i);
		const struct model_rule *rule = type ? model_rule(set->rules, type->id) : NULL;

		if (!type)
			continue;
		is_event |= is_named(type->system, type->name, name);
		if (!is_span(rule) || !is_named(rule->system, rule->name, name))
			continue;
		is_found = true;
		err = add_tap(set, type, series, ROLE_SPAN, NULL);
	}
	if (err || is_found)
		return err;
	if (is_event)
		return wrong(ret_error, SERIES_NAME, "'%s' is an event, not a span: give the event that ends it, too",
			     name);
	return wrong(ret_error, SERIES_NAME, "the trace has no span '%s'", name);
}

/* ----------------------------------------------------------------------------------------------------------- events */

static const struct export_field *field_named(const struct series_set *set, const struct tep_event *type,
					      const char *name)
{
	const struct export_event *event = export_event(set->fields, type->id);

	for (uint32_t i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->fields[i].name, name))
			return &event->fields[i];
	return NULL;
}

/* The events of "sys_read": those of raw_syscalls with the number of this call, and those of syscalls with its name. */
static int find_calls(struct series_set *set, struct series *series, const char *name, struct series_error *ret_error)
{
	bool is_found = false;
	int err = 0;

	series->is_call = true;
	series->call = syscall_number(name);
	for (uint32_t i = 0; !err && i < set->table->nr_events; i++) {
		const struct tep_event *type = type_at(set, i);
		const struct model_rule *rule = type ? model_rule(set->rules, type->id) : NULL;
		const bool is_raw = type && !strcmp(rule->system, "raw_syscalls");
		const struct export_field *number = is_raw ? field_named(set, type, "id") : NULL;

		if (!type || !is_span(rule) || !rule->is_kernel)
			continue;
		if (is_raw ? !number || series->call < 0
			   : strcmp(rule->system, "syscalls") || strcmp(rule->name, name) != 0)
			continue;
		is_found = true;
		err = add_tap(set, type, series, rule->meaning == MODEL_BEGIN ? ROLE_BEGIN : ROLE_END, number);
	}
	if (err || is_found)
		return err;
	return wrong(ret_error, SERIES_NAME,
		     series->call < 0 ? "there is no system call '%s'"
				      : "the trace has no system calls such as '%s'; record them with -e raw_syscalls",
		     name);
}

/* What an event of a series must have. */
struct wanted {
	const char *name;
	enum series_word word; /* the word of the specification that names the event */
	enum series_role role;
	const char *field; /* NULL: none */
	bool is_key;	   /* the field may be a text */
};

static int check_field(const struct wanted *wanted, const struct tep_event *type, const struct export_field *field,
		       struct series_error *ret_error)
{
	if (!field)
		return wrong(ret_error, SERIES_FIELD_NAME, "%s:%s has no field '%s'", type->system, type->name,
			     wanted->field);
	if (field->kind == EXPORT_REAL && !wanted->is_key)
		return wrong(ret_error, SERIES_FIELD_NAME,
			     "%s:%s: '%s' has decimals; only whole numbers can be measured", type->system, type->name,
			     wanted->field);
	if (field->kind == EXPORT_ARRAY || field->kind == EXPORT_BYTES ||
	    (field->kind == EXPORT_TEXT && !wanted->is_key))
		return wrong(ret_error, SERIES_FIELD_NAME, "%s:%s: '%s' is not a number", type->system, type->name,
			     wanted->field);
	return 0;
}

static int find_events(struct series_set *set, struct series *series, const struct wanted *wanted,
		       struct series_error *ret_error)
{
	bool is_found = false;
	int err = 0;

	for (uint32_t i = 0; !err && i < set->table->nr_events; i++) {
		const struct tep_event *type = type_at(set, i);
		const struct export_field *field;

		if (!type || !is_named(type->system, type->name, wanted->name))
			continue;
		is_found = true;
		field = wanted->field ? field_named(set, type, wanted->field) : NULL;
		err = wanted->field ? check_field(wanted, type, field, ret_error) : 0;
		if (!err)
			err = add_tap(set, type, series, wanted->role, field);
	}
	return err || is_found ? err :
				 wrong(ret_error, wanted->word, "the trace describes no event '%s'", wanted->name);
}

/* Whether each event that begins a pair also ends one, and the other way round. */
static bool are_same_events(const struct series_set *set, const struct series *series)
{
	for (uint32_t i = 0; i < set->table->nr_events; i++) {
		const struct tep_event *type = type_at(set, i);
		bool begins = false, ends = false;

		for (const struct series_tap *tap = type ? set->taps[type->id] : NULL; tap; tap = tap->next) {
			begins |= tap->series == series && tap->role == ROLE_BEGIN;
			ends |= tap->series == series && tap->role == ROLE_END;
		}
		if (begins != ends)
			return false;
	}
	return true;
}

static int find_pair(struct series_set *set, struct series *series, const struct series_spec *spec,
		     struct series_error *ret_error)
{
	const struct wanted end = { spec->to, SERIES_TO, ROLE_END, spec->field, true };
	const struct wanted begin = { spec->name, SERIES_NAME, ROLE_BEGIN, spec->field, true };
	int err;

	series->has_key = spec->field != NULL;
	err = find_events(set, series, &end, ret_error);
	if (!err)
		err = find_events(set, series, &begin, ret_error);
	/* "io:submit" and "submit" may be the same event. */
	series->is_period = !err && are_same_events(set, series);
	return err;
}

int series_find(struct series_set *set, struct series *series, const struct series_spec *spec,
		struct series_error *ret_error)
{
	const struct wanted event = { spec->name, SERIES_NAME, ROLE_VALUE, spec->field, false };

	switch (spec->kind) {
	case SERIES_SPAN:
		if (!strcmp(spec->name, "wakeup"))
			return find_wakeups(set, series, ret_error);
		if (!strncmp(spec->name, "sys_", 4))
			return find_calls(set, series, spec->name + 4, ret_error);
		return find_spans(set, series, spec->name, ret_error);
	case SERIES_PAIR:
		return find_pair(set, series, spec, ret_error);
	default:
		return find_events(set, series, &event, ret_error);
	}
}
