/* SPDX-License-Identifier: MIT */
/*
 * Each event that the patterns name has a condition of its own. If an event does not have a field that the filter
 * compares, the comparison is false. This is not an error, because a filter may be for several kinds of events. If no
 * event has the field, it is an error. Values of contexts are read only if a filter compares a field that some of its
 * events do not have.
 */
#include "cli/report/report_filter.h"

#include <endian.h>
#include <errno.h>
#include <librecorder/filter.h>
#include <librecorder/pattern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/opts.h"
#include "cli/report/report_event.h"
#include "cli/report/report_filter_text.h"
#include "cli/report/report_thread.h"

#define IDS 65536u

/* If the file has the other byte order, numbers are swapped before they are compared. */
struct turn {
	uint32_t offset, size, nr;
};

/* The filter of one event id. */
struct rule {
	struct rec_condition *condition; /* NULL: every record passes */
	size_t size;
	struct turn turns[REC_FIELDS_MAX];
	unsigned int nr_turns;
	bool reads_thread; /* whether it compares fields of report_thread.h */
};

struct report_filter {
	struct report_filter_file of;
	struct report_thread thread;
	struct report_thread_contexts own; /* if the caller has none */
	struct rule *rules[IDS]; /* NULL: no filter for this id */
	unsigned char *copy;	 /* the record that is compared, if it differs from the one in the file */
	size_t room, used;
	bool reads_comm; /* names of threads may be compared */
};

/* The parsed form of the argument. */
struct parts {
	const char *command; /* in messages */
	const char *text;    /* all of it */
	char *patterns;	     /* in the form of librecorder/pattern.h */
	const char *filter;  /* within the text; NULL: none */
	bool absent[REC_STEPS_MAX];
	uint32_t columns[REC_STEPS_MAX]; /* columns of the absent fields */
	unsigned int nr_steps, nr_named, nr_fit;
	bool lacks_any; /* one of the events does not have one of the fields */
	struct rec_words wanted;       /* a field that an event must have for its error to be noted; size 0: none */
	struct rec_filter_error error; /* the first one */
};

static int out_of_memory(const char *command)
{
	complain(command, "out of memory");
	return EXIT_FAILURE;
}

static int wrong(const struct parts *parts, size_t column, const char *reason)
{
	const struct message_sink sink = COMMAND_SINK(parts->command);

	message(&sink, "filter '%s': %s (column %zu)", parts->text, reason, column);
	message_caret(&sink, parts->text, column);
	return EXIT_USAGE;
}

static int split(const char *command, const char *text, struct parts *ret_parts)
{
	size_t size;

	*ret_parts = (struct parts){ .command = command, .text = text };
	ret_parts->filter = report_filter_text_find(text, &size);
	ret_parts->patterns = report_filter_text_patterns(text, size);
	if (!ret_parts->patterns)
		return out_of_memory(command);
	if (rec_pattern_check(ret_parts->patterns))
		return wrong(ret_parts, report_filter_text_wrong(text, size),
			     "expected events as SYSTEM:NAME or SYSTEM/NAME before the filter");
	if (ret_parts->filter && rec_filter_check(ret_parts->filter, &ret_parts->error))
		return wrong(ret_parts, (size_t)(ret_parts->filter - text) + ret_parts->error.column,
			     ret_parts->error.reason);
	return 0;
}

/* ------------------------------------------------------------------------------------------------ an event's rule */

/* Update the list of comparisons whose field was in none of the events so far. */
static void note_absent(struct parts *parts, const struct rec_condition *condition)
{
	int column;

	for (unsigned int i = 0; (column = rec_filter_absent(condition, i)) >= 0; i++) {
		if (i >= parts->nr_steps) {
			parts->nr_steps = i + 1;
			parts->absent[i] = true;
		}
		parts->absent[i] = parts->absent[i] && column;
		parts->lacks_any |= column != 0;
		parts->columns[i] = (uint32_t)column;
	}
}

/* Fields may be the same bytes of the record: "pid" is another name of "common_pid". These are swapped once. */
static void note_turns(struct rule *rule, const struct dat_file *file, const struct rec_event_info *info)
{
	if (file->big == (__BYTE_ORDER == __BIG_ENDIAN))
		return;
	for (uint32_t i = 0; i < info->nr_fields; i++) {
		const struct rec_field *field = &info->fields[i];
		unsigned int known = 0;

		while (known < rule->nr_turns && rule->turns[known].offset != field->offset)
			known++;
		if (field->element > 1 && known == rule->nr_turns)
			rule->turns[rule->nr_turns++] =
				(struct turn){ field->offset, field->element, field->length };
	}
}

static int keep_condition(struct rule *rule, const void *condition, size_t size)
{
	rule->condition = malloc(size);
	if (!rule->condition)
		return -ENOMEM;
	memcpy(rule->condition, condition, size);
	rule->size = size;
	return 0;
}

/* Whether the event has the field of which the error is wanted. */
static bool is_wanted(const struct parts *parts, const struct rec_event_info *info)
{
	const struct rec_words *name = &parts->wanted;

	for (uint32_t i = 0; i < info->nr_fields && name->size; i++)
		if (info->fields[i].name.size == name->size &&
		    !memcmp(info->fields[i].name.text, name->text, name->size))
			return true;
	return !name->size;
}

/* 0; -EINVAL: the filter does not fit the event, which is left out; -ENOMEM. */
static int compile(struct report_filter *filter, struct parts *parts, const struct tep_event *type, struct rule *rule)
{
	const struct report_filter_file *of = &filter->of;
	const unsigned int flags = of->time->seconds ? 0 : REC_FILTER_COUNTS;
	_Alignas(8) unsigned char bytes[REC_CONDITION_MAX];
	struct rec_condition *condition = (struct rec_condition *)(void *)bytes;
	struct rec_filter_error error;
	struct report_event event;
	int r = report_event_describe(&event, of->file, of->table, type, parts->filter);

	if (!r)
		note_turns(rule, of->file, &event.info);
	rule->reads_thread = !r && report_thread_describe(&filter->thread, type, parts->filter, &event.info);
	if (!r)
		r = rec_filter_compile_fields(&event.info, flags | REC_FILTER_ABSENT_IS_FALSE, parts->filter, condition,
					      sizeof(bytes), &error);
	if (r == -EINVAL && !parts->error.column && is_wanted(parts, &event.info))
		parts->error = error;
	if (r > 0) {
		note_absent(parts, condition);
		r = keep_condition(rule, bytes, (size_t)r);
	}
	report_event_free(&event);
	return r;
}

static int add_rule(struct report_filter *filter, struct parts *parts, const struct tep_event *type)
{
	struct rule *rule = calloc(1, sizeof(*rule));
	int err = rule ? 0 : -ENOMEM;

	if (!err && parts->filter)
		err = compile(filter, parts, type, rule);
	if (err) {
		free(rule);
		return err == -EINVAL ? 0 : err;
	}
	parts->nr_fit++;
	filter->rules[type->id] = rule;
	return 0;
}

/* --------------------------------------------------------------------------------------------------- opening, using */

static void forget_rules(struct report_filter *filter)
{
	for (unsigned int id = 0; id < IDS; id++) {
		if (filter->rules[id])
			free(filter->rules[id]->condition);
		free(filter->rules[id]);
		filter->rules[id] = NULL;
	}
}

/* 0 or -ENOMEM. */
static int add_rules(struct report_filter *filter, struct parts *parts)
{
	parts->nr_steps = parts->nr_named = parts->nr_fit = 0;
	parts->error.column = 0;
	for (uint32_t i = 0; i < filter->of.table->nr_events; i++) {
		const struct tep_event *type = filter->of.table->all[i].event;
		int err;

		if (type->id < 0 || (unsigned int)type->id >= IDS || filter->rules[type->id] ||
		    !rec_pattern_match(parts->patterns, type->system, strlen(type->system), type->name,
				       strlen(type->name)))
			continue;
		parts->nr_named++;
		err = add_rule(filter, parts, type);
		if (err)
			return err;
	}
	return 0;
}

/*
 * No event that the filter fits has the field `parts->wanted`. If it does not fit one that has it, this event's error
 * is the reason.
 */
static int say_absent(struct report_filter *filter, struct parts *parts, uint32_t column)
{
	const size_t before = (size_t)(parts->filter - parts->text);
	char reason[160];

	forget_rules(filter);
	if (add_rules(filter, parts))
		return out_of_memory(parts->command);
	if (parts->error.column)
		return wrong(parts, before + parts->error.column, parts->error.reason);
	snprintf(reason, sizeof(reason), "none of these events has a field '%.*s'", (int)parts->wanted.size,
		 parts->wanted.text);
	return wrong(parts, before + column, reason);
}

static int check(struct report_filter *filter, struct parts *parts)
{
	const size_t before = parts->filter ? (size_t)(parts->filter - parts->text) : 0;

	if (!parts->nr_named)
		return wrong(parts, 1, "the file describes no such event");
	if (!parts->nr_fit)
		return wrong(parts, before + parts->error.column, parts->error.reason);
	for (unsigned int i = 0; i < parts->nr_steps; i++) {
		const char *name = parts->filter + parts->columns[i] - 1;

		if (!parts->absent[i])
			continue;
		parts->wanted.text = name;
		parts->wanted.size = (uint32_t)strspn(
			name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
		return say_absent(filter, parts, parts->columns[i]);
	}
	return 0;
}

static int fill(struct report_filter *filter, struct parts *parts)
{
	const struct report_filter_file *of = &filter->of;
	int r = add_rules(filter, parts);

	if (!r && parts->lacks_any && !of->grows)
		r = report_thread_read(&filter->thread, of->file, of->time, of->contexts ? of->contexts : &filter->own,
				       parts->filter);
	if (r > 0) {
		forget_rules(filter);
		r = add_rules(filter, parts);
	}
	return r < 0 ? out_of_memory(parts->command) : check(filter, parts);
}

int report_filter_open(const char *command, const char *text, const struct report_filter_file *file,
		       struct report_filter **ret_filter)
{
	struct report_filter *filter = calloc(1, sizeof(*filter));
	struct parts parts = { .text = text };
	int status = filter ? split(command, text, &parts) : out_of_memory(command);

	if (!status) {
		filter->of = *file;
		filter->thread.table = file->table;
		filter->reads_comm = parts.filter && (report_event_is_named(parts.filter, "comm") ||
						      report_event_is_named(parts.filter, "COMM"));
		status = fill(filter, &parts);
	}
	free(parts.patterns);
	if (status)
		report_filter_close(filter);
	else
		*ret_filter = filter;
	return status;
}

struct report_filter *report_filter_close(struct report_filter *filter)
{
	if (!filter)
		return NULL;
	forget_rules(filter);
	event_contexts_close(&filter->own.values);
	free(filter->copy);
	free(filter);
	return NULL;
}

static void turn_over(unsigned char *at, uint32_t size)
{
	for (uint32_t i = 0; i < size / 2; i++) {
		const unsigned char byte = at[i];

		at[i] = at[size - 1 - i];
		at[size - 1 - i] = byte;
	}
}

/* Makes room for a copy; the bytes after the record are 0. False: no memory. */
static bool copy_record(struct report_filter *filter, const void *data, size_t size, size_t room)
{
	unsigned char *copy = room > filter->room ? realloc(filter->copy, room) : filter->copy;

	if (!copy)
		return false;
	if (room > filter->room) {
		memset(copy + filter->room, 0, room - filter->room);
		filter->room = room;
	}
	filter->copy = copy;
	memcpy(copy, data, size);
	if (filter->used > size)
		memset(copy + size, 0, filter->used - size);
	filter->used = size;
	return true;
}

/* Make a copy of the record in this machine's byte order, with the fields of its thread after it. False: no memory. */
static bool change_record(struct report_filter *filter, const struct rule *rule, const struct dat_event *event, int tid,
			  struct rec_filter_record *record)
{
	const bool cut = rule->reads_thread && record->size > REPORT_THREAD_AT;
	const size_t size = cut ? REPORT_THREAD_AT : record->size;
	const size_t room = rule->reads_thread ? REPORT_THREAD_AT + REPORT_THREAD_SIZE : size;

	if (!copy_record(filter, record->record, size, room))
		return false;
	for (unsigned int i = 0; i < rule->nr_turns; i++) {
		const struct turn *turn = &rule->turns[i];

		for (uint32_t n = 0; n < turn->nr && turn->offset + (uint64_t)(n + 1) * turn->size <= size; n++)
			turn_over(filter->copy + turn->offset + n * turn->size, turn->size);
	}
	if (rule->reads_thread)
		report_thread_put(&filter->thread, tid, event->ts, filter->copy + REPORT_THREAD_AT);
	record->record = filter->copy;
	record->size = room;
	return true;
}

/* Whether the record has what the step compares. The zeros after it in the copy are not part of it. */
static bool has_field(const struct rec_condition_step *step, const unsigned char *record, size_t size)
{
	const unsigned int kind = step->test & REC_TEST_KIND;
	uint32_t location;

	if (step->test & (REC_TEST_CPU | REC_TEST_READING) || step->offset >= REPORT_THREAD_AT)
		return true;
	if (step->test & REC_TEST_IN_PLACE || (kind != REC_TEST_TEXT && kind != REC_TEST_GLOB))
		return (size_t)step->offset + step->size <= size;
	if ((size_t)step->offset + sizeof(location) > size)
		return false;
	memcpy(&location, record + step->offset, sizeof(location));
	return (location & 0xffff) + (location >> 16) <= size;
}

/*
 * As rec_filter_match_reading(), for a record of `size` bytes with the fields of its thread after it. A step whose
 * field is not in the record is moved beyond both, so that it is treated as in every other filter.
 */
static bool match_with_thread(const struct rule *rule, const struct rec_filter_record *record, size_t size)
{
	const struct rec_condition_step *steps = (const struct rec_condition_step *)(rule->condition + 1);
	_Alignas(8) unsigned char bytes[REC_CONDITION_MAX];
	struct rec_condition *condition = rule->condition;

	for (uint32_t i = 0; i < rule->condition->nr_steps; i++) {
		if (has_field(&steps[i], record->record, size))
			continue;
		if (condition == rule->condition)
			condition = memcpy(bytes, rule->condition, rule->size);
		((struct rec_condition_step *)(condition + 1))[i].offset = UINT16_MAX;
	}
	return rec_filter_match_reading(condition, rule->size, record);
}

bool report_filter_names(const struct report_filter *filter, int id)
{
	return id >= 0 && (unsigned int)id < IDS && filter->rules[id];
}

bool report_filter_has(struct report_filter *filter, const struct dat_event *event, const struct tep_record *record)
{
	const struct event_table *table = filter->of.table;
	const uint32_t size = (uint32_t)record->size;
	const int id = event_id(table, record->data, size);
	const struct rule *rule = id >= 0 && (unsigned int)id < IDS ? filter->rules[id] : NULL;
	struct rec_filter_record one = { record->data, size, event->cpu, event->ts, NULL };
	int tid;

	if (!rule || !rule->condition)
		return rule != NULL;
	tid = event_pid(table, record->data, size);
	if ((rule->nr_turns || rule->reads_thread) && !change_record(filter, rule, event, tid, &one))
		return true;
	if (filter->reads_comm)
		one.comm = event_comm_shown(table, tid);
	if (rule->reads_thread)
		return match_with_thread(rule, &one, size < REPORT_THREAD_AT ? size : REPORT_THREAD_AT);
	return rec_filter_match_reading(rule->condition, rule->size, &one);
}
