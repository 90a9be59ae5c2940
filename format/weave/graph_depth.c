/* SPDX-License-Identifier: MIT */
#include "format/weave/graph_depth.h"

#include <string.h>

#include "format/weave/kernel_format.h"

/* The place of an event; graph->nr: it is not one of the function graph. */
static unsigned int find(const struct graph_depth *graph, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < graph->nr && graph->events[i].id != id; i++)
		;
	return i;
}

static bool begins_with(const char *text, size_t size, const char *head)
{
	return size >= strlen(head) && !memcmp(text, head, strlen(head));
}

void graph_depth_format(struct graph_depth *graph, const char *text, size_t size)
{
	const struct kernel_field *depth;
	struct kernel_format format;

	if (graph->nr == GRAPH_EVENTS_MAX || !(begins_with(text, size, "name: funcgraph_") ||
					       begins_with(text, size, "name: fgraph_retaddr_entry\n")))
		return;
	kernel_format_parse(text, size, &format);
	/* An int; in newer kernels a long in the events of calls. */
	depth = kernel_format_field(&format, "depth", sizeof(uint32_t));
	if (!depth)
		depth = kernel_format_field(&format, "depth", sizeof(uint64_t));
	if (!depth || !format.id || find(graph, format.id) < graph->nr)
		return;
	graph->events[graph->nr].id = format.id;
	graph->events[graph->nr].offset = depth->offset;
	graph->events[graph->nr++].size = depth->size;
}

bool graph_depth_is_reached(const struct graph_depth *graph, uint32_t depth, unsigned int id, const void *payload,
			    uint32_t size)
{
	const unsigned int i = find(graph, id);
	const unsigned char *at = payload;
	uint64_t wide;
	uint32_t value;

	/* The text gives the offset, so it is checked. */
	if (i == graph->nr || (uint64_t)graph->events[i].offset + graph->events[i].size > size)
		return false;
	at += graph->events[i].offset;
	if (graph->events[i].size == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide >= depth;
	}
	memcpy(&value, at, sizeof(value));
	return value >= depth;
}
