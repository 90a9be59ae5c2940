/* SPDX-License-Identifier: MIT */
/*
 * Wishes, called selectors in the documents: which events are to be on, and which of their records are wanted, in one text.
 *
 *	PATTERN[,PATTERN]...[ rate N][ if FILTER]
 */
#ifndef WISH_H
#define WISH_H

#include <librecorder/detail/abi.h>
#include <librecorder/event_text.h>
#include <librecorder/filter.h>

#define REC_RATE_MAX 1000000000u

struct rec_wish {
	struct rec_words patterns;
	uint32_t rate;	    /* 0: none */
	const char *filter; /* NULL: none; extends to the end of the text */
};

/* Parse a selector; the result points into the text. 0 or -EINVAL, also if the filter does not parse. */
int rec_wish_parse(const char *text, struct rec_wish *ret_wish);

/* Whether two texts have the same patterns, regardless of rate and filter. */
bool rec_wish_same_patterns(const char *a, const char *b);

bool rec_wish_matches(const struct rec_wish *wish, const struct rec_words *system, const struct rec_words *name);

/*
 * The condition of an event with this selector; `event` NULL: rec_printf's; `id` is the event's. Returns its size; 0:
 * no condition is needed; or as rec_filter_compile().
 */
int rec_wish_compile(const struct rec_wish *wish, const struct rec_log_event *event, uint16_t id,
		     struct rec_condition *ret_condition, size_t size);

#endif
