/* SPDX-License-Identifier: MIT */
/*
 * The calls of the function graph that are too deep for the file. A kernel whose instances have no max_graph_depth has
 * one limit for all users, at the top of tracefs. There a recording has a limit of its own, which is applied here.
 */
#ifndef FORMAT_GRAPH_DEPTH_H
#define FORMAT_GRAPH_DEPTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAPH_EVENTS_MAX 4u /* funcgraph_entry, fgraph_retaddr_entry, funcgraph_exit, and one more */

struct graph_depth {
	unsigned int nr;
	struct {
		unsigned int id;
		uint32_t offset, size; /* of the depth, which begins at 0 */
	} events[GRAPH_EVENTS_MAX];
};

/* Read the format of an event of the kernel; nothing is stored if it is not one of the function graph. */
void graph_depth_format(struct graph_depth *graph, const char *text, size_t size);

/* Whether the event is a call, or the return of one, at this depth or deeper. */
bool graph_depth_is_reached(const struct graph_depth *graph, uint32_t depth, unsigned int id, const void *payload,
			    uint32_t size);

#endif
