/* SPDX-License-Identifier: MIT */
/*
 * Strings of JSON. The texts come from programs and may have any bytes: the result is valid JSON in UTF-8, gives no
 * command to a terminal, and does not end the script of an HTML page that has it inside.
 */
#ifndef FORMAT_JSON_H
#define FORMAT_JSON_H

#include <stddef.h>

#include "format/io/blob.h"

/* Append the text as a string, with its quotes. A byte that is not UTF-8 becomes the four characters \xHH. */
void json_string(struct blob *out, const char *text, size_t size);

/* The same for another output: `put` appends the string to it, a part in each call. */
void json_put(void (*put)(void *out, const void *bytes, size_t size), void *out, const char *text, size_t size);

#endif
