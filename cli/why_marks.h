/* SPDX-License-Identifier: MIT */
/* The paths of explained spans as marks for a picture: a track for each span, the longest first. */
#ifndef CLI_WHY_MARKS_H
#define CLI_WHY_MARKS_H

#include "cli/why_choose.h"
#include "format/model/mark.h"

/*
 * Reads the whole trace, and keeps nothing of it but the marks. `time_flags`: as the picture's own, for dat_time_open().
 * 0; an exit status: the failure was reported in the name of `command`. Call why_marks_free() in any case; set the marks
 * to 0 before.
 */
int why_marks_read(const char *command, const char *path, unsigned int time_flags, const struct why_wanted *wanted,
		   struct marks *marks);
void why_marks_free(struct marks *marks);

#endif
