/* SPDX-License-Identifier: MIT */
/*
 * The expressions of recorder assert, as trees. Operators, from the lowest precedence to the highest: ||, &&, !,
 * comparisons (== != < <= > >=), + -, * /, and a sign. Operands are numbers, durations (200us), the word lost, and
 * functions of the trace's spans and events (recorder-assert(1)).
 */
#ifndef CLI_ASSERT_EXPR_H
#define CLI_ASSERT_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "format/hist/hist.h"
#include "format/series/series.h"

enum assert_op {
	ASSERT_NUMBER,
	ASSERT_LOST,
	ASSERT_FUNCTION,
	ASSERT_NEGATE,
	ASSERT_ADD,
	ASSERT_SUBTRACT,
	ASSERT_MULTIPLY,
	ASSERT_DIVIDE,
	ASSERT_LESS, /* from here on results are truth values */
	ASSERT_LESS_EQUAL,
	ASSERT_GREATER,
	ASSERT_GREATER_EQUAL,
	ASSERT_EQUAL,
	ASSERT_NOT_EQUAL,
	ASSERT_NOT,
	ASSERT_AND,
	ASSERT_OR,
};

enum assert_function {
	ASSERT_COUNT,
	ASSERT_RATE,
	ASSERT_SUM,
	ASSERT_MEAN,
	ASSERT_MIN,
	ASSERT_MAX,
	ASSERT_PERCENTILE,
};

#define ASSERT_KEPT 5u

/* Points that may explain a failure: the first ones, and those with the smallest and the largest values, in order. */
struct assert_kept {
	unsigned int nr;
	struct series_point points[ASSERT_KEPT];
};

/* The subject of a function, and its values. */
struct assert_measure {
	struct series_spec spec; /* its names point into `words` */
	char *words[3];
	size_t columns[3]; /* place of the words in the text, from 1 */
	bool is_latency;   /* latency(...) is in the text, so it is not the name of an event */
	struct series *series;
	struct hist hist;
	struct assert_kept first, smallest, largest;
};

struct assert_node {
	enum assert_op op;
	struct assert_node *left, *right;
	double number;
	bool has_unit; /* the number is written with one */
	enum assert_function function;
	uint32_t millionths; /* of a percentile */
	struct assert_measure measure;
	size_t begin, end; /* where it is in the text */
};

struct assert_error {
	size_t column; /* from 1; 0: none, there is no memory */
	char reason[192];
};

/* 0; -EINVAL or -ENOMEM with *ret_error. The result is a truth value. assert_free() takes NULL; returns NULL. */
int assert_parse(const char *text, struct assert_node **ret_node, struct assert_error *ret_error);
struct assert_node *assert_free(struct assert_node *node);

/* Adds the subjects of all functions to a set of series. 0; -EINVAL or -ENOMEM with *ret_error. */
int assert_prepare(struct assert_node *node, struct series_set *set, struct assert_error *ret_error);

/* Further results of the pass over the trace. */
struct assert_trace {
	const struct dat_gaps *gaps;
	bool is_cut;	/* the file does not have all its parts */
	bool has_ns;	/* times are nanoseconds */
	double seconds; /* time from the first to the last event */
};

/* A number, or a truth value, 0 or 1. It is unknown if it depends on a figure without values. */
struct assert_value {
	bool is_known;
	double number;
};

struct assert_value assert_eval(const struct assert_node *node, const struct assert_trace *trace);

/* The result of an operator between two numbers, except && and ||. A division by 0 is unknown. */
struct assert_value assert_apply(enum assert_op op, double a, double b);

#endif
