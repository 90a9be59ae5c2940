/* SPDX-License-Identifier: MIT */
/* What recorders that were killed have left switched on in running programs. */
#ifndef CLI_LOANS_H
#define CLI_LOANS_H

#include <stdbool.h>

#include "cli/base/message.h"

/*
 * Switch it off, in all programs that the user may see, or in those of a directory
 * (dirs.h). Says so in one line, unless `quiet`.
 */
void loans_sweep(const struct message_sink *sink, const char *dir, bool quiet);

#endif
