/* SPDX-License-Identifier: MIT */
/* Writes numbers, texts for a terminal, and cells of CSV. */
#ifndef CLI_PUT_TEXT_H
#define CLI_PUT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "format/io/blob.h"

void put_unsigned(struct blob *out, uint64_t number);

/* Text as valid UTF-8: a byte that is not UTF-8 becomes the four characters \xHH. */
void put_utf8(struct blob *out, const char *text, size_t size);

/* Text for a terminal, with the escape sequences of cli/base/escape.h. */
void put_visible(struct blob *out, const char *text, size_t size);

/*
 * A cell of CSV, with quotes if it needs them. `put` appends its text, a part in each call; it is put_utf8(),
 * put_visible() or another function.
 */
void put_csv(struct blob *out, const char *text, size_t size,
	     void (*put)(struct blob *out, const char *text, size_t size));

#endif
