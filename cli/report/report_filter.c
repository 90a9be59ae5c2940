/* SPDX-License-Identifier: MIT */
/*
 * Each event that the patterns name has a condition of its own. An event without a field that the filter compares is
 * not an error, as a filter may be for events of several kinds: its comparison is false. A field that none of the
 * events has is one.
 */
#include "cli/report/report_filter.h"

#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <librecorder/filter.h>
#include <librecorder/pattern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/opts.h"
#include "cli/report/report_event.h"

#define IDS 65536u

/* Numbers of a file of the other byte order are turned over before they are compared. */
struct turn {
	uint32_t offset, size, nr;
};

/* Of an event's id. */
struct rule {
	struct rec_condition *condition; /* NULL: every record passes */
	size_t size;
	struct turn turns[REC_FIELDS_MAX];
	unsigned int nr_turns;
};

struct report_filter {
	const struct event_table *table;
	struct rule *rules[IDS]; /* NULL: not named */
	unsigned char *turned;	 /* the record that is compared, if it is not as it stands in the file */
	size_t room;
	bool reads_comm; /* names of threads may be compared */
};

/* What is made of the command line's word. */
struct parts {
	const char *command; /* in messages */
	const char *text;    /* all of it */
	char *patterns;	     /* as librecorder/pattern.h has them */
	const char *filter;  /* within the text; NULL: none */
	bool absent[REC_STEPS_MAX];
	uint32_t columns[REC_STEPS_MAX]; /* of fields that are absent */
	unsigned int nr_steps, nr_named, nr_fit;
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

/* ------------------------------------------------------------------------------------------------ patterns, filter */

/* The size of what may be patterns at the beginning of the text. ! leaves events out only after a comma. */
static size_t patterns_room(const char *text)
{
	size_t size = 0;
	char before = '\0';

	for (; text[size] && (!strchr("=<>!&~\"'()", text[size]) || (text[size] == '!' && before == ',')); size++)
		before = text[size] == ' ' ? before : text[size];
	return size;
}

/* Where the patterns end and the filter begins. NULL: there are only patterns. */
static const char *find_filter(const char *text, size_t *ret_size)
{
	const char *keyword = strstr(text, " if "), *end = text + patterns_room(text);
	const char *colon = NULL;

	if (keyword && keyword < end) {
		*ret_size = (size_t)(keyword - text);
		return keyword + 4;
	}
	for (const char *at = text; at < end; at++)
		if (*at == ':')
			colon = at;
	/* Nothing is compared: "io:submit", "sched". */
	if (!*end && !(colon && !colon[1])) {
		*ret_size = strlen(text);
		return NULL;
	}
	*ret_size = colon ? (size_t)(colon - text) : 0;
	return colon ? colon + 1 : text;
}

/* One pattern of trace-cmd's or ours. A word alone is a system or an event. */
static void put_pattern(FILE *out, const char *at, size_t size)
{
	const bool has_system = memchr(at, '/', size) || memchr(at, ':', size);
	const bool excludes = size && *at == '!';

	for (int pass = 0; pass < (has_system ? 1 : 2); pass++) {
		fprintf(out, "%s%s%s", pass ? "," : "", excludes ? "!" : "", pass ? "*:" : "");
		for (size_t i = excludes; i < size; i++) {
			if (at[i] == '.' && i + 1 < size && at[i + 1] == '*')
				continue;
			fputc(at[i] == '/' ? ':' : at[i] == '.' ? '?' : at[i], out);
		}
		fputs(has_system || pass ? "" : ":*", out);
	}
}

/* Takes the next pattern of a list, without spaces around it; *at moves after its comma, or to the end. */
static struct rec_words next_pattern(const char **at, const char *end)
{
	const char *comma = memchr(*at, ',', (size_t)(end - *at)), *stop = comma ? comma : end, *begin = *at;

	while (begin < stop && isspace((unsigned char)*begin))
		begin++;
	while (stop > begin && isspace((unsigned char)stop[-1]))
		stop--;
	*at = comma ? comma + 1 : end;
	return (struct rec_words){ begin, (uint32_t)(stop - begin) };
}

static char *make_patterns(const char *text, size_t size)
{
	char *patterns = NULL;
	size_t made = 0;
	FILE *out = open_memstream(&patterns, &made);
	const char *end = text + size;

	if (!out)
		return NULL;
	for (const char *at = text; at < end;) {
		const struct rec_words pattern = next_pattern(&at, end);

		put_pattern(out, pattern.text, pattern.size);
		fputs(at[-1] == ',' ? "," : "", out);
	}
	if (!size || strspn(text, " ") >= size)
		fputs("*:*", out);
	if (fclose(out)) {
		free(patterns);
		return NULL;
	}
	return patterns;
}

/* The column of the first invalid pattern; if each is valid alone, the column after the list. */
static size_t wrong_column(const char *text, size_t size)
{
	const char *const end = text + size;

	for (const char *at = text; at < end;) {
		struct rec_words pattern = next_pattern(&at, end);
		const bool excludes = pattern.size && *pattern.text == '!' && pattern.text != text;
		char *alone = make_patterns(pattern.text + excludes, pattern.size - excludes);
		const bool is_wrong = !alone || pattern.size == excludes || rec_pattern_check(alone);

		free(alone);
		if (is_wrong)
			return (size_t)(pattern.text - text) + 1;
	}
	return size + 1;
}

static int split(const char *command, const char *text, struct parts *ret_parts)
{
	size_t size;

	*ret_parts = (struct parts){ .command = command, .text = text };
	ret_parts->filter = find_filter(text, &size);
	ret_parts->patterns = make_patterns(text, size);
	if (!ret_parts->patterns)
		return out_of_memory(command);
	if (rec_pattern_check(ret_parts->patterns))
		return wrong(ret_parts, wrong_column(text, size),
			     "expected events as SYSTEM:NAME or SYSTEM/NAME before the filter");
	if (ret_parts->filter && rec_filter_check(ret_parts->filter, &ret_parts->error))
		return wrong(ret_parts, (size_t)(ret_parts->filter - text) + ret_parts->error.column,
			     ret_parts->error.reason);
	return 0;
}

/* ------------------------------------------------------------------------------------------------ an event's rule */

/* Which comparisons found their field in none of the events so far. */
static void note_absent(struct parts *parts, const struct rec_condition *condition)
{
	int column;

	for (unsigned int i = 0; (column = rec_filter_absent(condition, i)) >= 0; i++) {
		if (i >= parts->nr_steps) {
			parts->nr_steps = i + 1;
			parts->absent[i] = true;
		}
		parts->absent[i] = parts->absent[i] && column;
		parts->columns[i] = (uint32_t)column;
	}
}

static void note_turns(struct rule *rule, const struct dat_file *file, const struct rec_event_info *info)
{
	if (file->big == (__BYTE_ORDER == __BIG_ENDIAN))
		return;
	for (uint32_t i = 0; i < info->nr_fields; i++)
		if (info->fields[i].element > 1)
			rule->turns[rule->nr_turns++] = (struct turn){ info->fields[i].offset, info->fields[i].element,
								       info->fields[i].length };
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

/* 0; -EINVAL: the filter does not fit the event, which is left out; -ENOMEM. */
static int compile(struct parts *parts, const struct dat_file *file, const struct event_table *table,
		   const struct tep_event *type, unsigned int flags, struct rule *rule)
{
	_Alignas(8) unsigned char bytes[REC_CONDITION_MAX];
	struct rec_condition *condition = (struct rec_condition *)(void *)bytes;
	struct rec_filter_error error;
	struct report_event event;
	int r = report_event_describe(&event, file, table, type, parts->filter);

	if (!r)
		r = rec_filter_compile_fields(&event.info, flags | REC_FILTER_ABSENT_IS_FALSE, parts->filter, condition,
					      sizeof(bytes), &error);
	if (r == -EINVAL && !parts->error.column)
		parts->error = error;
	if (r > 0) {
		note_absent(parts, condition);
		note_turns(rule, file, &event.info);
		r = keep_condition(rule, bytes, (size_t)r);
	}
	report_event_free(&event);
	return r;
}

static int add_rule(struct report_filter *filter, struct parts *parts, const struct dat_file *file,
		    const struct tep_event *type, unsigned int flags)
{
	struct rule *rule = calloc(1, sizeof(*rule));
	int err = rule ? 0 : -ENOMEM;

	if (!err && parts->filter)
		err = compile(parts, file, filter->table, type, flags, rule);
	if (err) {
		free(rule);
		return err == -EINVAL ? 0 : err;
	}
	parts->nr_fit++;
	filter->rules[type->id] = rule;
	return 0;
}

/* --------------------------------------------------------------------------------------------------- opening, using */

static int check(struct parts *parts)
{
	const size_t before = parts->filter ? (size_t)(parts->filter - parts->text) : 0;
	char reason[160];

	if (!parts->nr_named)
		return wrong(parts, 1, "the file describes no such event");
	if (!parts->nr_fit)
		return wrong(parts, before + parts->error.column, parts->error.reason);
	for (unsigned int i = 0; i < parts->nr_steps; i++) {
		const char *name = parts->filter + parts->columns[i] - 1;

		if (!parts->absent[i])
			continue;
		snprintf(reason, sizeof(reason), "none of these events has a field '%.*s'",
			 (int)strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), name);
		return wrong(parts, before + parts->columns[i], reason);
	}
	return 0;
}

static int fill(struct report_filter *filter, struct parts *parts, const struct dat_file *file, unsigned int flags)
{
	for (uint32_t i = 0; i < filter->table->nr_events; i++) {
		const struct tep_event *type = filter->table->all[i].event;

		if (type->id < 0 || (unsigned int)type->id >= IDS || filter->rules[type->id] ||
		    !rec_pattern_match(parts->patterns, type->system, strlen(type->system), type->name,
				       strlen(type->name)))
			continue;
		parts->nr_named++;
		if (add_rule(filter, parts, file, type, flags))
			return out_of_memory(parts->command);
	}
	return check(parts);
}

int report_filter_open(const char *command, const char *text, const struct dat_file *file,
		       const struct event_table *table, bool counts, struct report_filter **ret_filter)
{
	struct report_filter *filter = calloc(1, sizeof(*filter));
	struct parts parts = { .text = text };
	int status = filter ? split(command, text, &parts) : out_of_memory(command);

	if (!status) {
		filter->table = table;
		filter->reads_comm = parts.filter && (report_event_is_named(parts.filter, "comm") ||
						      report_event_is_named(parts.filter, "COMM"));
		status = fill(filter, &parts, file, counts ? REC_FILTER_COUNTS : 0);
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
	for (unsigned int id = 0; id < IDS; id++) {
		if (filter->rules[id])
			free(filter->rules[id]->condition);
		free(filter->rules[id]);
	}
	free(filter->turned);
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

/* The record in this machine's byte order; NULL: no memory. */
static const void *turned_record(struct report_filter *filter, const struct rule *rule, const struct tep_record *record)
{
	const size_t size = (size_t)record->size;
	unsigned char *copy = size > filter->room ? realloc(filter->turned, size) : filter->turned;

	if (!copy)
		return NULL;
	filter->room = size > filter->room ? size : filter->room;
	filter->turned = copy;
	memcpy(copy, record->data, size);
	for (unsigned int i = 0; i < rule->nr_turns; i++) {
		const struct turn *turn = &rule->turns[i];

		for (uint32_t n = 0; n < turn->nr && turn->offset + (uint64_t)(n + 1) * turn->size <= size; n++)
			turn_over(copy + turn->offset + n * turn->size, turn->size);
	}
	return copy;
}

bool report_filter_names(const struct report_filter *filter, int id)
{
	return id >= 0 && (unsigned int)id < IDS && filter->rules[id];
}

bool report_filter_has(struct report_filter *filter, const struct dat_event *event, const struct tep_record *record)
{
	const int id = event_id(filter->table, record->data, (uint32_t)record->size);
	const struct rule *rule = id >= 0 && (unsigned int)id < IDS ? filter->rules[id] : NULL;
	struct rec_filter_record one = { record->data, (size_t)record->size, event->cpu, event->ts, NULL };

	if (!rule || !rule->condition)
		return rule != NULL;
	if (rule->nr_turns)
		one.record = turned_record(filter, rule, record);
	if (!one.record)
		return true;
	if (filter->reads_comm)
		one.comm = tep_data_comm_from_pid(filter->table->tep, event_pid(filter->table, record->data,
										(uint32_t)record->size));
	return rec_filter_match_reading(rule->condition, rule->size, &one);
}
