/* SPDX-License-Identifier: MIT */
/* See sql_print.h. */
#include "cli/ask/sql_print.h"

#include "cli/common/put_text.h"
#include "cli/common/show_text.h"
#include "cli/common/terminal.h"
#include "format/io/blob.h"
#include "format/io/json.h"
#include "format/sql/sql_trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* ----------------------------------------------------------------------------------------------------------- values */

int sql_put_value(struct blob *out, sqlite3_stmt *s, int column)
{
	const int type = sqlite3_column_type(s, column);
	const unsigned char *bytes;

	switch (type) {
	case SQLITE_NULL:
		return type;
	case SQLITE_BLOB:
		bytes = sqlite3_column_blob(s, column);
		blob_printf(out, "x'");
		for (int i = 0; i < sqlite3_column_bytes(s, column); i++)
			blob_printf(out, "%02x", bytes[i]);
		blob_printf(out, "'");
		return type;
	default:
		bytes = sqlite3_column_text(s, column);
		blob_put(out, bytes, (size_t)sqlite3_column_bytes(s, column));
		return type;
	}
}

static bool is_number(int type)
{
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* -------------------------------------------------------------------------------------------- row by row: list, CSV */

static void put_bytes(struct blob *out, const char *text, size_t size)
{
	blob_put(out, text, size);
}

/* `escapes`: on a terminal, control characters are shown. */
static void print_cell(const char *text, size_t size, bool escapes, struct blob *cell)
{
	cell->size = 0;
	put_csv(cell, text, size, escapes ? put_visible : put_bytes);
	show_bytes(stdout, cell->data, cell->size);
}

static void print_row(sqlite3_stmt *s, enum sql_mode mode, bool escapes, struct blob *value, struct blob *cell)
{
	for (int i = 0; i < sqlite3_column_count(s); i++) {
		value->size = 0;
		sql_put_value(value, s, i);
		if (i)
			putchar(mode == SQL_MODE_CSV ? ',' : '|');
		if (mode == SQL_MODE_CSV)
			print_cell((const char *)value->data, value->size, escapes, cell);
		else
			show_text(stdout, (const char *)value->data, value->size, false);
	}
	fputs(mode == SQL_MODE_CSV ? "\r\n" : "\n", stdout);
}

static void print_names(sqlite3_stmt *s, bool escapes, struct blob *cell)
{
	for (int i = 0; i < sqlite3_column_count(s); i++) {
		const char *name = sqlite3_column_name(s, i);

		if (i)
			putchar(',');
		print_cell(name, strlen(name), escapes, cell);
	}
	fputs("\r\n", stdout);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void put_json_text(const char *text, size_t size)
{
	struct blob out = BLOB_INIT;

	json_string(&out, text, size);
	show_bytes(stdout, out.data, out.size);
	blob_free(&out);
}

static void print_json_row(sqlite3_stmt *s, struct blob *value)
{
	putchar('{');
	for (int i = 0; i < sqlite3_column_count(s); i++) {
		const char *name = sqlite3_column_name(s, i);
		int type;

		if (i)
			putchar(',');
		put_json_text(name, strlen(name));
		putchar(':');
		value->size = 0;
		type = sql_put_value(value, s, i);
		if (type == SQLITE_NULL)
			fputs("null", stdout);
		else if (type == SQLITE_FLOAT && !isfinite(sqlite3_column_double(s, i)))
			fputs(sqlite3_column_double(s, i) > 0 ? "9e999" : "-9e999", stdout);
		else if (is_number(type))
			show_bytes(stdout, value->data, value->size);
		else
			put_json_text((const char *)value->data, value->size);
	}
	putchar('}');
}

/* -------------------------------------------------------------------------------------------------------------- box */

/* The texts of all rows, one after the other, with their lengths; the first row has the names. */
struct box {
	struct blob texts;
	struct blob cells; /* struct cell */
	int *widths;
	int columns;
};

struct cell {
	uint32_t size;
	int32_t width; /* columns on a terminal */
	bool is_number;
};

/* The number of columns that a terminal needs for the text; each byte of invalid UTF-8 counts as one. */
static int width_of(const char *text, size_t size)
{
	int width = 0;

	for (size_t i = 0; i < size; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

static void add_cell(struct box *box, int column, size_t begin, bool number)
{
	const char *text = (const char *)box->texts.data + begin;
	const size_t size = box->texts.size - begin;
	const struct cell cell = { (uint32_t)size, width_of(text, size), number };

	blob_put(&box->cells, &cell, sizeof(cell));
	if (cell.width > box->widths[column])
		box->widths[column] = cell.width;
}

static void line(const struct box *box, const char *left, const char *middle, const char *right)
{
	fputs(left, stdout);
	for (int i = 0; i < box->columns; i++) {
		if (i)
			fputs(middle, stdout);
		for (int n = 0; n < box->widths[i] + 2; n++)
			fputs("─", stdout);
	}
	printf("%s\n", right);
}

/* False: it was interrupted. */
static bool print_box(const struct box *box)
{
	const struct cell *cells = (const struct cell *)(const void *)box->cells.data;
	const char *text = (const char *)box->texts.data;
	const size_t nr = box->cells.size / sizeof(*cells);

	line(box, "┌", "┬", "┐");
	for (size_t i = 0; i < nr; i++) {
		const int column = (int)(i % (size_t)box->columns);
		const int pad = box->widths[column] - cells[i].width;
		const bool is_name = i < (size_t)box->columns;

		printf("│ %*s", cells[i].is_number ? pad : 0, "");
		fputs(is_name ? paint(PAINT_TITLE) : "", stdout);
		show_bytes(stdout, text, cells[i].size);
		fputs(is_name ? paint_end() : "", stdout);
		printf("%*s ", cells[i].is_number ? 0 : pad, "");
		text += cells[i].size;
		if (column + 1 < box->columns)
			continue;
		fputs("│\n", stdout);
		if (sql_interrupted)
			return false;
		if (i + 1 == (size_t)box->columns)
			line(box, "├", "┼", "┤");
	}
	line(box, "└", "┴", "┘");
	return true;
}

/* The texts are stored with their escapes, because the width on the screen determines the columns. */
static int collect_box(sqlite3_stmt *s, struct box *box)
{
	struct blob value = BLOB_INIT;
	int code;

	for (int i = 0; i < box->columns; i++) {
		const size_t begin = box->texts.size;
		const char *name = sqlite3_column_name(s, i);

		put_visible(&box->texts, name, strlen(name));
		add_cell(box, i, begin, false);
	}
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		for (int i = 0; i < box->columns; i++) {
			const size_t begin = box->texts.size;
			int type;

			value.size = 0;
			type = sql_put_value(&value, s, i);
			put_visible(&box->texts, (const char *)value.data, value.size);
			add_cell(box, i, begin, is_number(type));
		}
		if (box->texts.error || box->cells.error || value.error) {
			code = SQLITE_NOMEM;
			break;
		}
	}
	blob_free(&value);
	return code;
}

static int run_box(sqlite3_stmt *s)
{
	struct box box = { .texts = BLOB_INIT, .cells = BLOB_INIT, .columns = sqlite3_column_count(s) };
	int code;

	box.widths = calloc((size_t)box.columns, sizeof(*box.widths));
	if (!box.widths)
		return SQLITE_NOMEM;
	code = collect_box(s, &box);
	if (code == SQLITE_DONE && !print_box(&box))
		code = SQLITE_INTERRUPT;
	blob_free(&box.texts);
	blob_free(&box.cells);
	free(box.widths);
	return code;
}

static int run_rows(sqlite3_stmt *s, enum sql_mode mode, bool escapes, bool *ret_written)
{
	struct blob value = BLOB_INIT, cell = BLOB_INIT;
	const char *before = "[";
	int code;

	if (mode == SQL_MODE_CSV)
		print_names(s, escapes, &cell);
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		if (mode == SQL_MODE_JSON) {
			fputs(before, stdout);
			print_json_row(s, &value);
			before = ",\n";
		} else {
			print_row(s, mode, escapes, &value, &cell);
		}
		if (value.error || cell.error) {
			code = SQLITE_NOMEM;
			break;
		}
		*ret_written = !ferror(stdout);
		if (!*ret_written)
			break;
	}
	if (mode == SQL_MODE_JSON && code == SQLITE_DONE)
		puts(before[0] == '[' ? "[]" : "]");
	blob_free(&value);
	blob_free(&cell);
	return code;
}

int sql_print(sqlite3_stmt *statement, enum sql_mode mode, bool escapes, bool *ret_written)
{
	int code;

	*ret_written = true;
	if (!sqlite3_column_count(statement)) {
		do
			code = sqlite3_step(statement);
		while (code == SQLITE_ROW);
		return code;
	}
	code = mode == SQL_MODE_BOX ? run_box(statement) : run_rows(statement, mode, escapes, ret_written);
	*ret_written = !ferror(stdout);
	return code;
}
