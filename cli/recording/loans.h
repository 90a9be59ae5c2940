/* SPDX-License-Identifier: MIT */
/* Loans of killed recorders: events that are still switched on in running programs. */
#ifndef CLI_LOANS_H
#define CLI_LOANS_H

#include <stdbool.h>

#include "cli/base/message.h"

/*
 * Undo these loans in all programs that the user may see, or in those of a directory (dirs.h). Reports it on one line,
 * unless `quiet`.
 */
void loans_sweep(const struct message_sink *sink, const char *dir, bool quiet);

#endif
