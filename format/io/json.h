/* SPDX-License-Identifier: MIT */
/*
 * Strings of JSON. The texts come from programs and may have any bytes: the result is valid JSON in UTF-8, gives no
 * command to a terminal, and does not end the script of an HTML page that has it inside.
 */
#ifndef FORMAT_JSON_H
#define FORMAT_JSON_H

#include <stddef.h>

#include "format/io/blob.h"

/* The longest escape sequence, \u0000, with its NUL. */
#define JSON_ESCAPE_SIZE 7u

/* Append the text as a string, with its quotes. A byte that is not UTF-8 becomes the four characters \xHH. */
void json_string(struct blob *out, const char *text, size_t size);

/*
 * The same in steps, for other outputs. json_plain() returns how many bytes at the start of `text` stay as they are;
 * json_escape() stores the escape sequence of the character after them, and returns that character's length.
 */
size_t json_plain(const char *text, size_t size);
size_t json_escape(const char *text, size_t size, char to[JSON_ESCAPE_SIZE]);

#endif
