/* SPDX-License-Identifier: MIT */
#include "cli/programs/listed_events.h"

#include <librecorder/pattern.h>
#include <string.h>

/* The part of a valid description after its first comma: for a span, its name and fields. */
static const char *after_comma(const struct rec_log_event *event)
{
	const char *const text = (const char *)(event + 1) + event->nr_numbers * sizeof(int64_t);
	const char *const comma = strchr(text + strlen(text) + 1, ',');

	return comma ? comma : "";
}

/* The other event of a span; NULL: the log does not have it. */
static const struct rec_log_event *other_part(const void *log, size_t size, const struct rec_log_event *event,
					      int meaning, const struct rec_event_info *info,
					      struct rec_event_info *ret_other)
{
	const int other = meaning == REC_MEANS_BEGIN ? REC_MEANS_END : REC_MEANS_BEGIN;
	const struct rec_log_record *record;
	size_t offset = 0;

	while ((record = rec_log_next(log, size, &offset))) {
		const struct rec_log_event *candidate = (const struct rec_log_event *)record;

		if (record->kind == REC_LOG_EVENT && rec_event_parse(candidate, ret_other) == 0 &&
		    rec_event_meaning(candidate) == other && ret_other->system.size == info->system.size &&
		    memcmp(ret_other->system.text, info->system.text, info->system.size) == 0 &&
		    strcmp(after_comma(candidate), after_comma(event)) == 0)
			return candidate;
	}
	return NULL;
}

/* Whether the log has the same event before: several files of a program may declare it. */
static bool seen_before(const void *log, size_t upto, const struct rec_log_event *event)
{
	const struct rec_log_record *record;
	size_t offset = 0;

	while (offset < upto && (record = rec_log_next(log, upto, &offset)))
		if (record->kind == REC_LOG_EVENT && rec_event_same((const struct rec_log_event *)record, event))
			return true;
	return false;
}

bool listing_next(struct listing *listing, struct listed *ret_listed)
{
	size_t before = listing->offset;
	const struct rec_log_record *record;

	for (; (record = rec_log_next(listing->log, listing->size, &listing->offset)); before = listing->offset) {
		struct listed listed = { .event = (const struct rec_log_event *)record };

		listing->prints = listing->prints || record->kind == REC_LOG_PRINTF;
		if (record->kind != REC_LOG_EVENT || rec_event_parse(listed.event, &listed.info))
			continue;
		if (listing->of_binary && seen_before(listing->log, before, listed.event))
			continue;
		listed.meaning = rec_event_meaning(listed.event);
		if (listed.meaning == REC_MEANS_BEGIN || listed.meaning == REC_MEANS_END)
			listed.end = other_part(listing->log, listing->size, listed.event, listed.meaning, &listed.info,
						&listed.end_info);
		/* A span is listed at the place of its begin. */
		if (listed.meaning == REC_MEANS_END && listed.end)
			continue;
		*ret_listed = listed;
		return true;
	}
	return false;
}

static bool is_named(const char *patterns, const struct rec_event_info *info)
{
	return rec_pattern_match(patterns, info->system.text, info->system.size, info->name.text, info->name.size);
}

unsigned int listing_both_named(struct listing listing, const char *patterns)
{
	unsigned int nr = 0;
	struct listed listed;

	while (listing_next(&listing, &listed))
		nr += listed.end && is_named(patterns, &listed.info) && is_named(patterns, &listed.end_info);
	return nr;
}
