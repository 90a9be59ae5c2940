/* SPDX-License-Identifier: MIT */
/*
 * Selectors: which events are to be on, and which of their records are wanted, in one text.
 *
 *	PATTERN[,PATTERN]...[ rate N][ if FILTER]
 */
#ifndef SELECTOR_H
#define SELECTOR_H

#include <librecorder/detail/abi.h>
#include <librecorder/event_text.h>
#include <librecorder/filter.h>

#define REC_RATE_MAX 1000000000u

struct rec_selector {
	struct rec_words patterns;
	uint32_t rate;	    /* 0: none */
	const char *filter; /* NULL: none; extends to the end of the text */
};

/* Parse a selector; the result points into the text. 0 or -EINVAL, also if the filter does not parse. */
int rec_selector_parse(const char *text, struct rec_selector *ret_selector);

/* Whether two texts have the same patterns, regardless of rate and filter. */
bool rec_selector_same_patterns(const char *a, const char *b);

bool rec_selector_matches(const struct rec_selector *selector, const struct rec_words *system,
			  const struct rec_words *name);

/*
 * The condition of an event with this selector; `event` NULL: rec_printf's; `id` is the event's. Returns its size; 0:
 * no condition is needed; or as rec_filter_compile().
 */
int rec_selector_compile(const struct rec_selector *selector, const struct rec_log_event *event, uint16_t id,
		     struct rec_condition *ret_condition, size_t size);

#endif
