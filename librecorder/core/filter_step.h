/* SPDX-License-Identifier: MIT */
/*
 * Running a condition: inline, for programs (process/filter_run.c) and for readers of records (filter_match.c).
 *
 * Guarantees. Neither condition nor record is trusted: others may write both while they are being read. In a run, each
 * word of a condition is loaded once and then checked; steps lead forward only, so no more are taken than there are;
 * nothing outside of condition and record is read. If a condition makes no sense, the event passes: a damaged filter
 * must not cost events.
 */
#ifndef FILTER_STEP_H
#define FILTER_STEP_H

#include "librecorder/core/atomic.h"

#include <librecorder/detail/abi.h>
#include <librecorder/filter.h>
#include <string.h>

enum outcome {
	NO,
	YES,
	SENSELESS,
};

/* The data that a step may read. */
struct subject {
	const unsigned char *condition;
	size_t condition_size; /* number of readable bytes of the condition */
	const unsigned char *record;
	size_t record_size;
	uint32_t cpu; /* only for cpu_of() */
};

/* The number of the CPU, for a step that tests it. Each source file that includes this header defines it. */
static uint32_t cpu_of(const struct subject *subject);

struct text {
	const unsigned char *at;
	size_t size;
};

/* ----------------------------------------------------------------------------------------------------- patterns */

/*
 * Whether the class at *at, after its [, contains the character; moves *at after its ]. -1: it has no end, and the [
 * is a plain character.
 */
static int match_class(const unsigned char **at, const unsigned char *end, unsigned char c)
{
	const unsigned char *p = *at;
	const bool is_negated = p < end && *p == '!';
	bool found = false, is_first = true;

	p += is_negated;
	/* A ] that comes first is one of the characters. */
	for (; p < end && (*p != ']' || is_first); is_first = false) {
		const unsigned char low = *p++;
		unsigned char high = low;

		if (end - p >= 2 && p[0] == '-' && p[1] != ']') {
			high = p[1];
			p += 2;
		}
		found |= low <= c && c <= high;
	}
	if (p >= end)
		return -1;
	*at = p + 1;
	return found != is_negated;
}

/* Whether the pattern's first element, which is not a star, matches the character; moves *at after it. */
static bool match_one(const unsigned char **at, const unsigned char *end, unsigned char c)
{
	const unsigned char first = *(*at)++;
	int in_class;

	switch (first) {
	case '?':
		return true;
	case '[':
		in_class = match_class(at, end, c);
		return in_class < 0 ? c == '[' : in_class > 0;
	case '\\':
		if (*at < end)
			return *(*at)++ == c;
		return false;
	default:
		return first == c;
	}
}

/* After a mismatch it is enough to try the last star again. */
static bool match_glob(const struct text *pattern, const struct text *text)
{
	const unsigned char *p = pattern->at, *end = p + pattern->size;
	const unsigned char *t = text->at, *text_end = t + text->size;
	const unsigned char *star = NULL, *resume = NULL;

	while (t < text_end) {
		if (p < end && *p == '*') {
			star = ++p;
			resume = t;
		} else if (p < end && match_one(&p, end, *t)) {
			t++;
		} else if (star) {
			p = star;
			t = ++resume;
		} else {
			return false;
		}
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}

/* ------------------------------------------------------------------------------------------------------- a step */

/* The string of a record, up to its NUL. */
static bool find_string(const struct subject *subject, uint16_t offset, struct text *ret_text)
{
	uint32_t place, size, location;

	if (subject->record_size < sizeof(location) || offset > subject->record_size - sizeof(location))
		return false;
	memcpy(&location, subject->record + offset, sizeof(location));
	place = location & 0xffff;
	size = location >> 16;
	if (place > subject->record_size || size > subject->record_size - place)
		return false;
	ret_text->at = subject->record + place;
	ret_text->size = strnlen((const char *)ret_text->at, size);
	return true;
}

static enum outcome test_string(const struct subject *subject, const struct rec_condition_step *step)
{
	const uint64_t offset = step->value & UINT32_MAX, size = step->value >> 32;
	struct text wanted, text;

	/*
	 * Matching a pattern takes up to the product of both lengths in steps. So a text is refused if it is longer
	 * than any that the compiler of filters writes.
	 */
	if (offset > subject->condition_size || size > subject->condition_size - offset || size > REC_FILTER_TEXT_MAX ||
	    !find_string(subject, step->offset, &text))
		return SENSELESS;
	wanted = (struct text){ subject->condition + offset, (size_t)size };
	if (step->test == REC_TEST_GLOB)
		return match_glob(&wanted, &text) ? YES : NO;
	return wanted.size == text.size && memcmp(wanted.at, text.at, text.size) == 0 ? YES : NO;
}

/* Load a field of `size` bytes as a number of 64 bits. False: the compiler of filters never writes such a size. */
static inline __attribute__((always_inline)) bool load_field(const unsigned char *at, size_t size, bool is_signed,
							     uint64_t *ret_number)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	if (size == sizeof(u64)) {
		memcpy(&u64, at, sizeof(u64));
		*ret_number = u64;
	} else if (size == sizeof(u32)) {
		memcpy(&u32, at, sizeof(u32));
		*ret_number = is_signed ? (uint64_t)(int32_t)u32 : u32;
	} else if (size == sizeof(u16)) {
		memcpy(&u16, at, sizeof(u16));
		*ret_number = is_signed ? (uint64_t)(int16_t)u16 : u16;
	} else if (size == 1) {
		*ret_number = is_signed ? (uint64_t)(int8_t)*at : *at;
	} else {
		return false;
	}
	return true;
}

/* The field that the step tests. False: the step makes no sense, or the record is too short. */
static inline bool load_number(const struct subject *subject, const struct rec_condition_step *step,
			       uint64_t *ret_number)
{
	return (size_t)step->offset + step->size <= subject->record_size &&
	       load_field(subject->record + step->offset, step->size, (step->test & REC_TEST_SIGNED) != 0, ret_number);
}

/* `test` is a kind, with REC_TEST_SIGNED or without. */
static inline __attribute__((always_inline)) enum outcome compare_numbers(unsigned int test, uint64_t number,
									   uint64_t value)
{
	const bool is_less = test & REC_TEST_SIGNED ? (int64_t)number < (int64_t)value : number < value;

	switch (test & ~REC_TEST_SIGNED) {
	case REC_TEST_EQUAL:
		return number == value ? YES : NO;
	case REC_TEST_LESS:
		return is_less ? YES : NO;
	case REC_TEST_LESS_EQUAL:
		return is_less || number == value ? YES : NO;
	case REC_TEST_BITS:
		return (number & value) != 0 ? YES : NO;
	default:
		return SENSELESS;
	}
}

static inline enum outcome test_number(const struct subject *subject, const struct rec_condition_step *step)
{
	uint64_t number;

	if (!load_number(subject, step, &number))
		return SENSELESS;
	return compare_numbers(step->test & (REC_TEST_KIND | REC_TEST_SIGNED), number, step->value);
}

/* Not inlined, because of cpu_of(), which may be a system call. */
static __attribute__((noinline)) enum outcome test_cpu(const struct subject *subject,
						       const struct rec_condition_step *step)
{
	return compare_numbers(step->test & (REC_TEST_KIND | REC_TEST_SIGNED), cpu_of(subject), step->value);
}

/* Floating point has no instruction in common with the numbers above. */
static enum outcome test_float(const struct subject *subject, const struct rec_condition_step *step)
{
	double number, value;
	float single;

	if ((size_t)step->offset + step->size > subject->record_size)
		return SENSELESS;
	memcpy(&value, &step->value, sizeof(value));
	if (step->size == sizeof(number)) {
		memcpy(&number, subject->record + step->offset, sizeof(number));
	} else if (step->size == sizeof(single)) {
		memcpy(&single, subject->record + step->offset, sizeof(single));
		number = single;
	} else {
		return SENSELESS;
	}
	switch (step->test & REC_TEST_KIND) {
	case REC_TEST_FLOAT_EQUAL:
		return number >= value && number <= value ? YES : NO;
	case REC_TEST_FLOAT_LESS:
		return number < value ? YES : NO;
	case REC_TEST_FLOAT_LESS_EQUAL:
		return number <= value ? YES : NO;
	case REC_TEST_FLOAT_GREATER:
		return number > value ? YES : NO;
	case REC_TEST_FLOAT_GREATER_EQUAL:
		return number >= value ? YES : NO;
	default:
		return SENSELESS;
	}
}

static __attribute__((noinline)) enum outcome test_rare(const struct subject *subject,
							const struct rec_condition_step *step)
{
	const unsigned int kind = step->test & REC_TEST_KIND;

	if (kind == REC_TEST_TEXT || kind == REC_TEST_GLOB)
		return test_string(subject, step);
	return kind < REC_TEST_TEXT ? test_cpu(subject, step) : test_float(subject, step);
}

/* ---------------------------------------------------------------------------------------------------- a condition */

/* Load a step: each of its words once. */
static inline struct rec_condition_step load_step(const unsigned char *at)
{
	uint64_t words[2];
	struct rec_condition_step step;

	words[0] = rec_load_relaxed((const uint64_t *)(const void *)at);
	words[1] = rec_load_relaxed((const uint64_t *)(const void *)(at + sizeof(words[0])));
	memcpy(&step, words, sizeof(step));
	return step;
}

/* Test a step of a kind that only readers have. Defined in filter_match.c, which programs do not use. */
enum outcome rec_filter_test_reading(const struct subject *subject, const struct rec_condition_step *step,
				     const struct rec_filter_record *record);

/*
 * YES, NO, or SENSELESS. condition_size bytes are readable. `reading` is further data about the record; NULL in
 * programs.
 */
static inline __attribute__((always_inline)) enum outcome run(const struct subject *subject,
							      const struct rec_filter_record *reading)
{
	const struct rec_condition *condition = (const void *)subject->condition;
	const unsigned char *steps = subject->condition + sizeof(*condition);
	uint32_t nr_steps, at = 0, next;

	if (subject->condition_size < sizeof(*condition))
		return SENSELESS;
	nr_steps = rec_load_relaxed(&condition->nr_steps);
	if (!nr_steps || nr_steps > REC_STEPS_MAX ||
	    nr_steps * sizeof(struct rec_condition_step) > subject->condition_size - sizeof(*condition))
		return SENSELESS;
	for (;; at = next) {
		const struct rec_condition_step step = load_step(steps + at * sizeof(step));
		const unsigned int kind = step.test & (REC_TEST_KIND | REC_TEST_CPU);
		enum outcome outcome;

		if (reading && step.test & (REC_TEST_IN_PLACE | REC_TEST_READING))
			outcome = rec_filter_test_reading(subject, &step, reading);
		else if (REC_LIKELY(kind < REC_TEST_TEXT))
			outcome = test_number(subject, &step);
		else
			outcome = test_rare(subject, &step);
		if (outcome == SENSELESS)
			return SENSELESS;
		next = outcome == YES ? step.yes : step.no;
		if (next == REC_STEP_PASS)
			return YES;
		if (next == REC_STEP_DROP)
			return NO;
		if (next <= at || next >= nr_steps)
			return SENSELESS;
	}
}

#endif
