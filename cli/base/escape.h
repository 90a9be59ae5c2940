/* SPDX-License-Identifier: MIT */
/*
 * Text from programs and files, as it is shown on a terminal. A control character there could move the cursor, change
 * what was printed before, or start one of the terminal's own commands, so it is shown as an escape sequence of C.
 * UTF-8 stays as it is.
 */
#ifndef CLI_BASE_ESCAPE_H
#define CLI_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* The longest escape sequence, \033, with its NUL. */
#define ESCAPE_SIZE 5u

/*
 * The number of bytes at the start of `text` that may be printed as they are. `lines`: line feeds and tabs are the
 * text's own layout, and are not control characters.
 */
size_t escape_plain(const char *text, size_t size, bool lines);

/* The escape sequence of one byte: \n and the like, otherwise three octal digits. Returns `to`. */
const char *escape_byte(char byte, char to[ESCAPE_SIZE]);

#endif
