/* SPDX-License-Identifier: MIT */
/*
 * The output of recorder assert: for each assertion its figures and the offending events; as text, and as JUnit's XML
 * for CI.
 */
#ifndef CLI_ASSERT_REPORT_H
#define CLI_ASSERT_REPORT_H

#include <stdio.h>

#include "cli/ask/assert_context.h"
#include "cli/ask/assert_expr.h"

/* The first places where events were lost. */
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
	struct assert_node *node; /* the parsed expression; NULL: a query */
	enum assert_verdict verdict;
	const struct assert_node *unitless; /* a limit of durations whose unit seems to be missing; NULL: none */
	char *body;			    /* lines of text about it, to be freed */
	size_t size;
	double seconds; /* seconds that its evaluation took */
};

/* All assertions of a command line. */
struct assert_suite {
	const char *trace;
	const char *missing; /* what the trace lacks: parts, or damaged pages; "": nothing */
	const struct assertion *assertions;
	unsigned int nr;
	double seconds; /* for all of them, including reading the trace */
};

/* Evaluate an expression and make the text about it. 0; -ENOMEM. */
int assert_report(struct assertion *assertion, const struct trace_input *input, const struct assert_trace *trace,
		  const struct assert_losses *losses);

/* Print to standard output. */
void assert_print(const struct assertion *assertion);

/*
 * Write a file in JUnit's form, with a test case for each assertion. If the trace is not whole, one more test case is
 * an error. 0; -errno.
 */
int assert_write_junit(const char *path, const struct assert_suite *suite);

#endif
