/* SPDX-License-Identifier: MIT */
/*
 * Shared by the compiler of filters (filter.c), the scanner of their text (filter_scan.c), and the operands
 * (filter_operand.c). A function that returns bool returns false if the text is wrong, and has stored the message.
 */
#ifndef FILTER_PRIVATE_H
#define FILTER_PRIVATE_H

#include <librecorder/event_text.h>
#include <librecorder/filter.h>

/* The depth of nested parentheses. */
#define REC_FILTER_DEPTH_MAX 32u

/* The text of a filter, read from left to right. */
struct rec_scan {
	const char *text;
	const char *at;
	const struct rec_event_info *info; /* NULL: check only the grammar */
	/* the filter is for records in a file, whose time and thread name are known */
	bool reading;
	unsigned int flags;		   /* REC_FILTER_ bits, if `reading` */
	struct rec_filter_error *error;
};

enum rec_operand_kind {
	REC_OPERAND_NUMBER,
	REC_OPERAND_STRING,
	REC_OPERAND_ANY,    /* if only the grammar is checked */
	REC_OPERAND_ABSENT, /* the record does not have the field: its comparison is false */
};

/* The left side of an operator. */
struct rec_operand {
	enum rec_operand_kind kind;
	uint16_t offset;
	uint8_t size;
	uint8_t flags;		       /* REC_TEST_SIGNED and those after it */
	const struct rec_field *field; /* NULL: not a field of the event's own */
	struct rec_words name;	       /* as written in the filter */
};

/* How an operator is tested: a kind of test, and whether the result is negated. */
struct rec_operator {
	const char *word;
	uint8_t test;
	bool is_negated;
	bool is_regex; /* the text is a regular expression */
};

static inline bool rec_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool rec_is_word(char c)
{
	return rec_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Store the message about the text at `at`; returns false. */
bool rec_scan_wrong(struct rec_scan *scan, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Skip blanks. */
void rec_scan_skip(struct rec_scan *scan);

/* Skip blanks; if this text follows, skip it, too, and return true. */
bool rec_scan_take(struct rec_scan *scan, const char *word);

/* The word that begins here; it may be empty. */
struct rec_words rec_scan_word(struct rec_scan *scan);

/* The text between quotes; the opening quote is the current character. */
bool rec_scan_quoted(struct rec_scan *scan, struct rec_words *ret_words);

/* The pattern that matches the same texts as a regular expression. False: no pattern does, or it exceeds `size`. */
bool rec_scan_regex(struct rec_scan *scan, const struct rec_words *regex, char *pattern, size_t size,
		    uint32_t *ret_size);

/* Report that a text without quotes is at this place. Returns false. */
bool rec_scan_unquoted(struct rec_scan *scan, const struct rec_words *name, const char *operator);

/* NULL: no operator follows the blanks. */
const struct rec_operator *rec_scan_operator(struct rec_scan *scan);

/* The field after the blanks. */
bool rec_scan_field(struct rec_scan *scan, struct rec_operand *ret_operand);

/* The number that begins here, in the field's representation. */
bool rec_scan_number(struct rec_scan *scan, const struct rec_operand *operand, uint64_t *ret_value);

/*
 * A number with a fraction and an exponent, without its sign; not strtod(), which asks the locale for the decimal
 * point.
 */
bool rec_scan_float(const char **at, double *ret_number);

/* The value of this name. */
bool rec_scan_name(struct rec_scan *scan, const struct rec_operand *operand, const struct rec_words *name,
		   uint64_t *ret_value);

#endif
