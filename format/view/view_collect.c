/* SPDX-License-Identifier: MIT */
/* See view_collect.h. The model finds what the events mean. */
#include "format/view/view_collect.h"

#include <errno.h>
#include <stdlib.h>

#include "format/view/view_items.h"
#include "format/view/view_rows.h"

static int take_events(struct view_items *items, const struct model_rules *rules, struct model *model,
		       struct dat_merge *merge)
{
	struct view_trace *trace = items->trace;
	struct dat_event event;
	int err = 0;

	while (!err && trace->events < VIEW_NO_EVENT && dat_merge_next(merge, &event)) {
		if (!trace->events || event.ts < trace->begin)
			trace->begin = event.ts;
		if (event.ts > trace->end)
			trace->end = event.ts;
		items->event = (uint32_t)trace->events++;
		view_items_event(items, model_rule(rules, event_id(items->table, event.data, event.size)), &event);
		err = model_event(model, &event);
	}
	return err ? err : model_end(model);
}

int view_collect(const struct event_table *table, struct dat_merge *merge, struct view_trace *trace)
{
	struct view_items *items = calloc(1, sizeof(*items));
	struct model_rules *rules = NULL;
	struct model *model = NULL;
	struct model_sink sink;
	int err;

	if (!items)
		return -ENOMEM;
	items->trace = trace;
	items->table = table;
	sink = view_items_sink(items);
	err = model_rules_open(table, &rules);
	if (!err)
		err = model_open(rules, &sink, &model);
	if (!err)
		err = take_events(items, rules, model, merge);
	model_close(model);
	model_rules_close(rules);
	view_items_free(items);
	free(items);
	return err ? err : trace->error;
}
