/* SPDX-License-Identifier: MIT */
/* The items of the model as items of rows. */
#ifndef FORMAT_VIEW_ITEMS_H
#define FORMAT_VIEW_ITEMS_H

#include "format/model/model.h"
#include "format/view/view_trace.h"

struct view_items {
	struct view_trace *trace;
	const struct event_table *table;
	uint32_t event; /* the place, in the file's order, of the event that is passed to the model */

	/* private */
	struct number_map begins;   /* the events at which items began that are still open */
	uint32_t names[65536];	    /* for each event id, the string of its name plus 1 */
};

/* The sink that adds them to items->trace. */
struct model_sink view_items_sink(struct view_items *items);

/* Call this before model_event(), with the event's rule. */
void view_items_event(struct view_items *items, const struct model_rule *rule, const struct dat_event *event);

void view_items_free(struct view_items *items);

#endif
