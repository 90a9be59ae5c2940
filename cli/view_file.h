/* SPDX-License-Identifier: MIT */
/* A trace.dat as the blocks of a page. */
#ifndef CLI_VIEW_FILE_H
#define CLI_VIEW_FILE_H

#include "format/view/view_write.h"

struct view_request {
	const char *path;
	const char *shown; /* the name that the page shows */
	size_t room;	   /* bytes that all blocks may have; texts of events are left out to keep it */
	bool live;
	bool no_plugins;
};

/*
 * Reads the file and gives its blocks to the sink. 0; or -errno, with the reason in ret_error, or none if the sink
 * failed. *ret_left_out is the number of events whose texts had no room.
 */
int view_file(const struct view_request *request, const struct view_sink *sink, uint64_t *ret_left_out,
	      struct dat_error *ret_error);

#endif
