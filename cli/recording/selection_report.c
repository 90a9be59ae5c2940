/* SPDX-License-Identifier: MIT */
/* Reports what a recording's selections matched, according to its spool. */
#include "cli/recording/selection.h"

#include <inttypes.h>
#include <librecorder/log.h>
#include <librecorder/pattern.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/suggest.h"

static bool same_words(const struct rec_words *a, const struct rec_words *b)
{
	return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* The events of all programs, one after the other. Each has rec_printf's, without a declaration, as the last one. */
struct events {
	const struct spool *spool;
	unsigned int entry;
	bool has_printed; /* rec_printf's of this program was returned */
	size_t offset;
	struct rec_event_info info; /* of the event returned last */
	const struct rec_log_event *event; /* its declaration; NULL: rec_printf's */
};

static bool next_declared(struct events *events, const struct spool_entry *entry)
{
	const struct rec_log_record *record;

	while ((record = rec_log_next(entry->log, entry->log_size, &events->offset))) {
		events->event = (const struct rec_log_event *)record;
		if (record->kind == REC_LOG_EVENT && rec_event_parse(events->event, &events->info) == 0)
			return true;
	}
	return false;
}

static bool next_event(struct events *events)
{
	for (; events->entry < events->spool->nr_entries; events->entry++, events->offset = 0) {
		const struct spool_entry *entry = &events->spool->entries[events->entry];

		if (!events->has_printed && next_declared(events, entry))
			return true;
		events->has_printed = !events->has_printed && !spool_is_kernel(entry);
		if (events->has_printed) {
			events->info = selection_printed;
			events->event = NULL;
			return true;
		}
	}
	return false;
}

static bool is_met(const char *patterns, const struct spool *spool)
{
	struct events events = { .spool = spool };

	while (next_event(&events))
		if (rec_pattern_match(patterns, events.info.system.text, events.info.system.size, events.info.name.text,
				      events.info.name.size))
			return true;
	return false;
}

/*
 * Report events that were off because the filter does not fit them, and that were registered after it was checked. The
 * first one is named.
 */
static void say_unfit(const struct message_sink *sink, const struct selections *selections,
		      const struct selection *selection, const struct spool *spool)
{
	struct rec_words system = { "", 0 }, name = { "", 0 };
	struct events events = { .spool = spool };
	struct rec_filter_error error, first = { 0, "" };
	bool are_others = false;

	while (next_event(&events)) {
		if (!events.event ||
		    selections_find(selections, &events.info.system, &events.info.name) != selection ||
		    selection_fits(selection, events.event, &error))
			continue;
		if (!first.column) {
			first = error;
			system = events.info.system;
			name = events.info.name;
		} else if (!same_words(&system, &events.info.system) || !same_words(&name, &events.info.name)) {
			are_others = true;
		}
	}
	if (first.column) {
		message(sink, "filter of '%.*s:%.*s': %s (column %" PRIu32 "); the event was not recorded%s",
			(int)system.size, system.text, (int)name.size, name.text, first.reason, first.column,
			are_others ? ", nor were other events that the filter does not fit" : "");
		message_caret(sink, selection->filter, first.column);
	}
}

/* Find the event of an id in a process; false: it has none. */
static bool find_event(const struct spool_entry *entry, uint16_t id, struct rec_words *ret_system,
		       struct rec_words *ret_name)
{
	const struct rec_log_record *record;
	struct rec_event_info info;
	size_t offset = 0;

	if (id == REC_EVENT_ID_FIRST) {
		*ret_system = selection_printed.system;
		*ret_name = selection_printed.name;
		return true;
	}
	while ((record = rec_log_next(entry->log, entry->log_size, &offset)))
		if (record->kind == REC_LOG_EVENT && record->id == id &&
		    rec_event_parse((const struct rec_log_event *)record, &info) == 0) {
			*ret_system = info.system;
			*ret_name = info.name;
			return true;
		}
	return false;
}

/* The events of one name that rates suppressed, in all processes. */
struct suppressed {
	struct rec_words system, name;
	uint64_t sum;
	uint32_t rate; /* of the first process that suppressed any */
	struct suppressed *next;
};

/* All of them, in the order in which they were found. A recording may have thousands of processes. */
struct suppressed_list {
	struct suppressed *first, **end;
	void *by_name; /* index */
};

static int compare_words(const struct rec_words *a, const struct rec_words *b)
{
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return memcmp(a->text, b->text, a->size);
}

static int by_name(const void *a, const void *b)
{
	const struct suppressed *left = a, *right = b;
	const int order = compare_words(&left->system, &right->system);

	return order ? order : compare_words(&left->name, &right->name);
}

/* Find the events of this name, or add them. False: no memory. */
static bool add_suppressed(struct suppressed_list *list, const struct suppressed *key, uint64_t suppressed)
{
	void *const found = tfind(key, &list->by_name, by_name);
	struct suppressed *one = found ? *(struct suppressed **)found : malloc(sizeof(*one));

	if (!found) {
		if (one)
			*one = *key;
		if (!one || !tsearch(one, &list->by_name, by_name)) {
			free(one);
			return false;
		}
		*list->end = one;
		list->end = &one->next;
	}
	one->sum += suppressed;
	return true;
}

static bool add_suppressed_of(struct suppressed_list *list, const struct spool_entry *entry)
{
	bool good = true;

	for (unsigned int i = 0; i < entry->nr_rates && good; i++) {
		const struct spool_rate *rate = &entry->rates[i];
		struct suppressed key = { .rate = rate->rate.rate };

		if (rate->rate.suppressed && find_event(entry, rate->id, &key.system, &key.name))
			good = add_suppressed(list, &key, rate->rate.suppressed);
	}
	return good;
}

void selections_say_rates(const struct message_sink *sink, const struct spool *spool)
{
	struct suppressed_list list = { .end = &list.first };
	bool good = true;

	for (unsigned int i = 0; i < spool->nr_entries && good; i++)
		good = add_suppressed_of(&list, &spool->entries[i]);
	if (!good)
		message(sink, "out of memory");
	for (const struct suppressed *one = list.first; one && good; one = one->next)
		message_summary(sink, "  %" PRIu64 " %.*s:%.*s suppressed by %s %" PRIu32 ", not counted as lost",
				one->sum, (int)one->system.size, one->system.text, (int)one->name.size,
				one->name.text, message_word(sink, WORD_RATE), one->rate);
	tdestroy(list.by_name, free);
}

bool selections_any_met(const struct selections *selections, const struct spool *spool)
{
	for (unsigned int i = 0; i < selections->nr; i++)
		if (is_met(selections->list[i].patterns, spool))
			return true;
	return selections->is_default && !selections->nr_left_out;
}

bool selections_only_left_out(const struct selections *selections, const struct spool *spool)
{
	for (unsigned int i = 0; i < selections->nr; i++)
		if (is_met(selections->list[i].given, spool))
			return !selections_any_met(selections, spool);
	return false;
}

/* Mistakes in a pattern, the likely ones first. */
enum mistake {
	MISTAKE_NO_SYSTEM, /* "submit" for "io:submit" */
	MISTAKE_SYSTEM,	   /* "tset:*" for "test:*" */
	MISTAKE_NAME,	   /* "io:sumbit", or "sumbit" alone, for "io:submit" */
	MISTAKES,
};

/* Store the pattern that was meant if the mistake was made and the event was meant. False: it was not. */
static bool correct(enum mistake mistake, const char *pattern, const struct rec_event_info *info, char *text,
		    size_t size)
{
	const size_t first = strcspn(pattern, ":/");
	const char *const rest = pattern + first;
	char given[REC_IDENT_MAX + 1], system[REC_IDENT_MAX + 1], name[REC_IDENT_MAX + 1];

	snprintf(given, sizeof(given), "%.*s", (int)first, pattern);
	snprintf(system, sizeof(system), "%.*s", (int)info->system.size, info->system.text);
	snprintf(name, sizeof(name), "%.*s", (int)info->name.size, info->name.text);
	if (mistake == MISTAKE_NO_SYSTEM && !*rest)
		snprintf(text, size, "%s:%s", system, given);
	else if (mistake == MISTAKE_SYSTEM && may_mean(given, system))
		snprintf(text, size, "%s%s", system, rest);
	else if (mistake == MISTAKE_NAME && may_mean(*rest ? rest + 1 : given, name))
		snprintf(text, size, "%s:%s", *rest ? given : system, name);
	else
		return false;
	return rec_pattern_match(text, info->system.text, info->system.size, info->name.text, info->name.size);
}

/* The number of processes whose events are suggested. A recording may have thousands, most of the same programs. */
#define MEANT_PROCESSES 64u

/* Store a pattern that matches an event and that may have been meant. False: there is none. */
static bool find_meant(const char *pattern, const struct spool *spool, char *text, size_t size)
{
	for (enum mistake mistake = 0; mistake < MISTAKES; mistake++) {
		struct events events = { .spool = spool };

		while (next_event(&events) && events.entry < MEANT_PROCESSES)
			if (correct(mistake, pattern, &events.info, text, size))
				return true;
	}
	return false;
}

static void say_unmet(const struct message_sink *sink, const char *pattern, const struct spool *spool)
{
	char meant[2 * REC_IDENT_MAX + 2];

	if (find_meant(pattern, spool, meant, sizeof(meant)))
		message(sink, "no process has an event that matches '%s'; did you mean '%s'?", pattern, meant);
	else
		message(sink, "no process has an event that matches '%s' ('%s PROGRAM' shows a program's events)",
			pattern, message_word(sink, WORD_LIST_EVENTS));
}

/* Report each pattern of a list, also one after !, that no event matches. Returns whether there is one. */
static bool say_each_unmet(const struct message_sink *sink, const char *patterns, const struct spool *spool)
{
	char *const copy = strdup(patterns);
	char *rest = copy, *pattern;
	bool is_said = false;

	if (!copy)
		message(sink, "out of memory");
	while ((pattern = strsep(&rest, ","))) {
		pattern += *pattern == '!';
		if (is_met(pattern, spool))
			continue;
		say_unmet(sink, pattern, spool);
		is_said = true;
	}
	free(copy);
	return is_said;
}

/* Report patterns that no event matches, and those that match only events that are left out. */
static void report_patterns(const struct message_sink *sink, const struct selection *selection,
			    const struct spool *spool)
{
	const bool matches = is_met(selection->given, spool);

	if (matches && !is_met(selection->patterns, spool))
		message(sink, "all events that match '%s' are left out%s", selection->given,
			message_remark(sink, WORD_LEAVE_OUT).text);
	if (!say_each_unmet(sink, selection->given, spool) && !matches)
		say_unmet(sink, selection->given, spool);
}

void selections_report(const struct message_sink *sink, const struct selections *selections, const struct spool *spool)
{
	for (unsigned int i = 0; spool->nr_entries && i < selections->nr; i++) {
		const struct selection *selection = &selections->list[i];

		if (!selections->is_default)
			report_patterns(sink, selection, spool);
		if (selection->filter)
			say_unfit(sink, selections, selection, spool);
	}
	for (unsigned int i = 0; spool->nr_entries && i < selections->nr_left_out; i++)
		say_each_unmet(sink, selections->left_out[i], spool);
}
