/* SPDX-License-Identifier: MIT */
/* Assertions that are queries: the query must select no row. */
#ifndef CLI_ASSERT_SQL_H
#define CLI_ASSERT_SQL_H

#include "cli/ask/assert_report.h"

/* Runs the query of the assertion: its verdict and its body. 0; or the exit status, and one line was printed. */
int assert_sql_run(struct assertion *assertion, const struct trace_input *input);

#endif
