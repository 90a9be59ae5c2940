/* SPDX-License-Identifier: MIT */
/* The blocks of a page that shows a trace.dat. */
#ifndef CLI_VIEW_FILE_H
#define CLI_VIEW_FILE_H

#include "format/model/overlay.h"
#include "format/view/view_write.h"

struct view_request {
	const char *path;
	const char *shown; /* the name that the page shows */
	const struct overlay *overlay; /* NULL: none */
	size_t room;	   /* the most bytes of all blocks; texts of events are left out if they do not fit */
	bool live;
	bool no_plugins;
};

struct view_result {
	uint64_t left_out; /* events whose texts had no room */
	uint64_t given_up; /* as in struct model_sink */
	uint64_t damaged;  /* number of damaged pages; some or all of their events are missing */
	uint32_t cpu;	   /* CPU of the first damaged page */
	struct dat_error error; /* the reason of a failure; or of the first damage */
	struct dat_error missing; /* as in struct dat_file */
};

/*
 * Reads the file and gives its blocks to the sink. 0; or -errno, with the reason in the result, or none if the sink
 * failed.
 */
int view_file(const struct view_request *request, const struct view_sink *sink, struct view_result *ret_result);

#endif
