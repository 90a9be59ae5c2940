/* SPDX-License-Identifier: MIT */
/*
 * The expressions of recorder assert, as trees. From what binds least: || && ! comparisons (== != < <= > >=) + - * /
 * and a sign. Operands are numbers, durations (200us), lost, and functions of what the trace has (recorder-assert(1)).
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
	ASSERT_LESS, /* here the results begin to be truths */
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

/* What a function is about, and its values. */
struct assert_measure {
	struct series_spec spec; /* its names are in `words` */
	char *words[3];
	size_t columns[3]; /* of the words in the text; from 1 */
	bool is_latency;   /* latency(...) is written out: it is not the name of an event */
	struct series *series;
	struct hist hist;
	struct assert_kept first, smallest, largest;
};

struct assert_node {
	enum assert_op op;
	struct assert_node *left, *right;
	double number;
	enum assert_function function;
	uint32_t millionths; /* of a percentile */
	struct assert_measure measure;
	size_t begin, end; /* in the text */
};

struct assert_error {
	size_t column; /* from 1; 0: none, there is no memory */
	char reason[192];
};

/* 0; -EINVAL or -ENOMEM with *ret_error. The result is a truth. assert_free() takes NULL; returns NULL. */
int assert_parse(const char *text, struct assert_node **ret_node, struct assert_error *ret_error);
struct assert_node *assert_free(struct assert_node *node);

/* Adds what the functions are about to a set. 0; -EINVAL or -ENOMEM with *ret_error. */
int assert_prepare(struct assert_node *node, struct series_set *set, struct assert_error *ret_error);

/* The results of a set, besides its series. */
struct assert_trace {
	const struct dat_gaps *gaps;
	bool has_ns;	/* times are nanoseconds */
	double seconds; /* from the first to the last event */
};

/* A number, or a truth that is 0 or 1. If it depends on a figure that has no values, it is unknown. */
struct assert_value {
	bool is_known;
	double number;
};

struct assert_value assert_eval(const struct assert_node *node, const struct assert_trace *trace);

#endif
