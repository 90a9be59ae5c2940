/* SPDX-License-Identifier: MIT */
/*
 * A target of libfuzzer.sh: user input of any bytes, as expressions of recorder assert and as queries of sqlhist. A
 * text is refused with a valid column, or becomes a tree, all of which is freed.
 */
#include "cli/ask/assert_expr.h"
#include "format/sql/sql_hist.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_expression(const char *text)
{
	struct assert_error error = { 0 };
	struct assert_node *node = NULL;
	const int r = assert_parse(text, &node, &error);

	if (r == 0 ? !node : error.column > strlen(text) + 1 || !error.reason[0])
		abort();
	assert_free(node);
}

/* The text may have several statements. They are parsed one after another, as recorder sql does. */
static void try_queries(const char *text)
{
	const char *rest = text;
	char *sql;

	while ((sql = sql_hist_translate(text, &rest))) {
		sqlite3_free(sql);
		if (rest <= text || rest > text + strlen(text))
			abort();
		text = rest;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy, so that the sanitizer knows where it ends. */
	char *text = strndup((const char *)data, size);

	if (!text)
		abort();
	try_expression(text);
	try_queries(text);
	free(text);
	return 0;
}
