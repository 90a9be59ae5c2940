/* SPDX-License-Identifier: MIT */
/* Events that only one side has. Often the reason is that the recordings were not made alike. */
#ifndef CLI_DIFF_SIDES_H
#define CLI_DIFF_SIDES_H

#include "format/diff/diff.h"

/*
 * Prints a message of the command for each side with events that the other side lacks, and that no changed row of the
 * result names: as SYSTEM:* if the other side has no event of the system. Of a system that both sides have, an event of
 * the kernel is not named, because its absence may be chance. 0; -ENOMEM.
 */
int diff_sides_report(const char *command, const struct diff_series *series, size_t nr, const unsigned int runs[2],
		      const struct diff_result *result);

#endif
