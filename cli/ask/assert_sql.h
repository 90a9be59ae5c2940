/* SPDX-License-Identifier: MIT */
/* Assertions that are SQL queries. The query must return no row. */
#ifndef CLI_ASSERT_SQL_H
#define CLI_ASSERT_SQL_H

#include "cli/ask/assert_report.h"

/* Run the query of the assertion, and store verdict and text. 0; or the exit status, and one line was printed. */
int assert_sql_run(struct assertion *assertion, const struct trace_input *input);

#endif
