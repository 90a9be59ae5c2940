/* SPDX-License-Identifier: MIT */
/*
 * What recorder assert prints about an assertion: its figures, and the offending events; for people, and as JUnit's
 * XML for CI.
 */
#ifndef CLI_ASSERT_REPORT_H
#define CLI_ASSERT_REPORT_H

#include <stdio.h>

#include "cli/ask/assert_context.h"
#include "cli/ask/assert_expr.h"

/* Places where events were lost, the first ones. */
struct assert_losses {
	unsigned int nr;
	struct {
		uint64_t ts;
		int64_t lost;
		uint32_t cpu;
	} places[ASSERT_KEPT];
};

/* ASSERT_UNREAD: the trace could not be read, or the assertion could not be evaluated. */
enum assert_verdict { ASSERT_UNREAD, ASSERT_HOLDS, ASSERT_FAILS, ASSERT_UNDECIDED };

struct assertion {
	const char *text; /* as on the command line */
	bool is_sql;
	struct assert_node *node; /* of an expression */
	enum assert_verdict verdict;
	char *body; /* lines of text about it, to be freed */
	size_t size;
	double seconds; /* that it took to decide */
};

/* All of a command line. */
struct assert_suite {
	const char *trace;
	const struct assertion *assertions;
	unsigned int nr;
	double seconds; /* with the reading of the trace */
};

/* Decides an expression and makes its body. 0; -ENOMEM. */
int assert_report(struct assertion *assertion, const struct trace_input *input, const struct assert_trace *trace,
		  const struct assert_losses *losses);

/* On standard output. */
void assert_print(const struct assertion *assertion);

/* A file of JUnit's form: one test case an assertion. 0; -errno. */
int assert_write_junit(const char *path, const struct assert_suite *suite);

#endif
