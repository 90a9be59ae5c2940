/* SPDX-License-Identifier: MIT */
/* Writes numbers and texts in the forms of JSON and CSV. */
#ifndef CLI_PUT_TEXT_H
#define CLI_PUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/io/blob.h"

void put_unsigned(struct blob *out, uint64_t number);

/*
 * Text as valid UTF-8, for JSON (with its quotes) and for a cell of CSV (with quotes if it needs them). Bytes that are
 * not UTF-8 become \xHH. `escapes`: the cell is for a terminal, so control characters become escape sequences of C, too
 * (cli/base/escape.h).
 */
void put_json(struct blob *out, const char *text, size_t size);
void put_csv(struct blob *out, const char *text, size_t size, bool escapes);

/* Text for a terminal, with the escape sequences of cli/base/escape.h. */
void put_visible(struct blob *out, const char *text, size_t size);

#endif
