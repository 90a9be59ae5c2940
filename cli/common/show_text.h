/* SPDX-License-Identifier: MIT */
/* Prints text that comes from programs and files, with its control characters or without (cli/base/escape.h). */
#ifndef CLI_SHOW_TEXT_H
#define CLI_SHOW_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "format/text/event_print.h"

/* Whether standard output is a terminal, so that control characters must be escaped. */
bool show_escapes(FILE *out);

/* Prints bytes unchanged. If size is 0, the address may be NULL, which fwrite() does not permit. */
void show_bytes(FILE *out, const void *bytes, size_t size);

/* Prints with escapes. `lines`: line feeds and tabs are the text's own layout. */
void show_text(FILE *out, const char *text, size_t size, bool lines);

/* A name on one line, with escapes or as it is. */
void show_name(FILE *out, const char *text, bool escapes);

/* The path of a file, whose name another user may have chosen, on standard output: also in a pipe it is one line. */
void show_path(const char *path);

/*
 * Calls print(arg) and escapes the text that it writes to standard output, which may come from functions of libraries.
 * Line feeds and tabs are its layout. Returns the result of print(), or -ENOMEM.
 */
int show_escaped(int (*print)(void *arg), void *arg);

/*
 * A string of JSON with its quotes. Names come from programs and may be any bytes: UTF-8 stays as it is, control
 * characters and other bytes are escaped as report --json does it.
 */
void show_json(FILE *out, const char *text);

/* The last event that the printer has made, without the newline at its end, in colours (terminal.h). */
void show_event(FILE *out, const struct event_printer *printer, bool escapes);

#endif
