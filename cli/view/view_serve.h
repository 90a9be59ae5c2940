/* SPDX-License-Identifier: MIT */
/* recorder view --serve: the page and its data for a browser on this machine. */
#ifndef CLI_VIEW_SERVE_H
#define CLI_VIEW_SERVE_H

#include "cli/view/view_live.h"

/*
 * Serve at `address`, ADDR:PORT, ADDR being an address of the loopback interface; NULL: 127.0.0.1 and any free port.
 * Prints the page's address and returns when a signal ends it. The exit status; a failure was reported.
 */
int view_serve(struct view_live *live, const char *address);

#endif
