/* SPDX-License-Identifier: MIT */
/* Prints an explained span to standard output. 0; -ENOMEM. */
#ifndef CLI_WHY_PRINT_H
#define CLI_WHY_PRINT_H

#include "format/why/why.h"

#include <stdbool.h>

/* {"span": "io:request", "id": 17, "begin": ns, "dur": ns, "classes": {...}, "path": [...]} on one line. */
int why_print_json(struct why *why, const struct why_span *span);

/* The classes, and below each its causes, longest first. With `path`, all pieces in time order follow. */
int why_print_text(struct why *why, const struct why_span *span, bool path);

#endif
