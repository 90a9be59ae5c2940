/* SPDX-License-Identifier: MIT */
/* A trace.dat as the blocks of a page. */
#ifndef CLI_VIEW_FILE_H
#define CLI_VIEW_FILE_H

#include "format/model/overlay.h"
#include "format/view/view_write.h"

struct view_request {
	const char *path;
	const char *shown; /* the name that the page shows */
	const struct overlay *overlay; /* NULL: none */
	size_t room;	   /* bytes that all blocks may have; texts of events are left out to keep it */
	bool live;
	bool no_plugins;
};

struct view_result {
	uint64_t left_out; /* events whose texts had no room */
	uint64_t damaged;  /* pages, whose events are missing in whole or in part */
	uint32_t cpu;	   /* of the first of them */
	struct dat_error error; /* the reason of a failure; or of the first damage */
	struct dat_error missing; /* as in struct dat_file */
};

/*
 * Reads the file and gives its blocks to the sink. 0; or -errno, with the reason in the result, or none if the sink
 * failed.
 */
int view_file(const struct view_request *request, const struct view_sink *sink, struct view_result *ret_result);

#endif
