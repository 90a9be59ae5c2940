/* SPDX-License-Identifier: MIT */
/* Reports what a recording's selections matched, according to its spool. */
#include "cli/recording/selection.h"

#include <inttypes.h>
#include <librecorder/log.h>
#include <librecorder/pattern.h>
#include <stdio.h>
#include <string.h>

static bool same_words(const struct rec_words *a, const struct rec_words *b)
{
	return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* The events of all processes, one after the other. */
struct events {
	const struct spool *spool;
	unsigned int entry;
	size_t offset;
	struct rec_event_info info; /* of the event returned last */
};

static const struct rec_log_event *next_event(struct events *events)
{
	for (; events->entry < events->spool->nr_entries; events->entry++, events->offset = 0) {
		const struct spool_entry *entry = &events->spool->entries[events->entry];
		const struct rec_log_event *event =
			selection_next_event(entry->log, entry->log_size, &events->offset, &events->info);

		if (event)
			return event;
	}
	return NULL;
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
	const struct rec_log_event *event;
	bool are_others = false;

	while ((event = next_event(&events))) {
		if (selections_find(selections, &events.info.system, &events.info.name) != selection ||
		    selection_fits(selection, event, &error))
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
		*ret_system = (struct rec_words){ "ftrace", 6 };
		*ret_name = (struct rec_words){ "bprint", 6 };
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

/*
 * Adds up the suppressed events of all processes with this name. Returns the first process's rate that suppressed any.
 */
static const struct spool_rate *sum_suppressed(const struct spool *spool, const struct rec_words *system,
					       const struct rec_words *name, uint64_t *ret_sum)
{
	const struct spool_rate *first = NULL;
	struct rec_words its_system, its_name;

	*ret_sum = 0;
	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		const struct spool_entry *entry = &spool->entries[i];

		for (unsigned int j = 0; j < entry->nr_rates; j++) {
			const struct spool_rate *rate = &entry->rates[j];

			if (!rate->rate.suppressed || !find_event(entry, rate->id, &its_system, &its_name) ||
			    !same_words(system, &its_system) || !same_words(name, &its_name))
				continue;
			*ret_sum += rate->rate.suppressed;
			first = first ? first : rate;
		}
	}
	return first;
}

void selections_say_rates(const struct message_sink *sink, const struct spool *spool)
{
	struct rec_words system, name;
	uint64_t sum;

	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		const struct spool_entry *entry = &spool->entries[i];

		for (unsigned int j = 0; j < entry->nr_rates; j++)
			if (find_event(entry, entry->rates[j].id, &system, &name) &&
			    sum_suppressed(spool, &system, &name, &sum) == &entry->rates[j])
				message_summary(sink,
						"  %" PRIu64 " %.*s:%.*s suppressed by %s %" PRIu32
						", not counted as lost",
						sum, (int)system.size, system.text, (int)name.size, name.text,
						message_word(sink, WORD_RATE), entry->rates[j].rate.rate);
	}
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

static void say_unmet(const struct message_sink *sink, const char *patterns)
{
	message(sink, "no process has an event that matches '%s' ('%s PROGRAM' shows a program's events)",
		patterns, message_word(sink, WORD_LIST_EVENTS));
}

/* Report patterns that no event matches, or only events that are left out. */
static void say_selection_unmet(const struct message_sink *sink, const struct selection *selection,
				const struct spool *spool)
{
	if (is_met(selection->given, spool))
		message(sink, "all events that match '%s' are left out%s", selection->given,
			message_remark(sink, WORD_LEAVE_OUT).text);
	else
		say_unmet(sink, selection->given);
}

void selections_report(const struct message_sink *sink, const struct selections *selections, const struct spool *spool)
{
	for (unsigned int i = 0; spool->nr_entries && i < selections->nr; i++) {
		const struct selection *selection = &selections->list[i];

		if (!selections->is_default && !is_met(selection->patterns, spool))
			say_selection_unmet(sink, selection, spool);
		if (selection->filter)
			say_unfit(sink, selections, selection, spool);
	}
	for (unsigned int i = 0; spool->nr_entries && i < selections->nr_left_out; i++)
		if (!is_met(selections->left_out[i], spool))
			say_unmet(sink, selections->left_out[i]);
}
