/* SPDX-License-Identifier: MIT */
/* The paths of explained spans as the overlay of a picture: a track for each span, the longest first. */
#ifndef CLI_WHY_OVERLAY_H
#define CLI_WHY_OVERLAY_H

#include "cli/ask/why_choose.h"
#include "format/model/overlay.h"

/*
 * Reads the whole trace, and keeps only the overlay. `time_flags`: as the picture's own, for dat_time_open(). 0; an
 * exit status: the failure was reported in the name of `command`. Call why_overlay_free() in any case; set the overlay
 * to 0 before.
 */
int why_overlay_read(const char *command, const char *path, unsigned int time_flags, const struct why_wanted *wanted,
		     struct overlay *overlay);
void why_overlay_free(struct overlay *overlay);

#endif
