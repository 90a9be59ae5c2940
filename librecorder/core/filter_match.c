/* SPDX-License-Identifier: MIT */
/* Conditions for readers of records; see filter_step.h. Pure functions. */
#include "librecorder/core/filter_step.h"

static bool text_matches(const struct subject *subject, const struct rec_condition_step *step, const struct text *text)
{
	const uint64_t offset = step->value & UINT32_MAX, size = step->value >> 32;
	const struct text wanted = { subject->condition + offset, (size_t)size };

	if (offset > subject->condition_size || size > subject->condition_size - offset || size > REC_FILTER_TEXT_MAX)
		return false;
	if ((step->test & REC_TEST_KIND) == REC_TEST_GLOB)
		return match_glob(&wanted, text);
	return wanted.size == text->size && memcmp(wanted.at, text->at, text->size) == 0;
}

/* Run a step that only readers have: it tests a text at its place in the record, the time, or the thread's name. */
enum outcome rec_filter_test_reading(const struct subject *subject, const struct rec_condition_step *step,
				     const struct rec_filter_record *record)
{
	const unsigned int kind = step->test & REC_TEST_KIND;
	const char *comm = record->comm ? record->comm : "";
	struct text text = { (const unsigned char *)comm, 0 };
	struct subject time = *subject;
	struct rec_condition_step number = *step;

	if (kind == REC_TEST_TEXT || kind == REC_TEST_GLOB) {
		if (step->test & REC_TEST_IN_PLACE && (size_t)step->offset + step->size > subject->record_size)
			return SENSELESS;
		if (step->test & REC_TEST_IN_PLACE)
			text = (struct text){ subject->record + step->offset, step->size };
		else
			text.size = strlen(comm);
		text.size = strnlen((const char *)text.at, text.size);
		return text_matches(subject, step, &text) ? YES : NO;
	}
	/* The time is compared like a field: the number at offset 0 of a record that contains only the time. */
	time.record = (const unsigned char *)&record->time;
	time.record_size = sizeof(record->time);
	number.offset = 0;
	number.size = sizeof(record->time);
	return test_number(&time, &number);
}

static uint32_t cpu_of(const struct subject *subject)
{
	return subject->cpu;
}

bool rec_filter_match(const struct rec_condition *condition, size_t size, const void *record, size_t record_size,
		      uint32_t cpu)
{
	const struct subject subject = { (const unsigned char *)condition, size, record, record_size, cpu };

	return run(&subject, NULL) != NO;
}

bool rec_filter_match_reading(const struct rec_condition *condition, size_t size,
			      const struct rec_filter_record *record)
{
	const struct subject subject = { (const unsigned char *)condition, size, record->record, record->size,
					 record->cpu };

	return run(&subject, record) != NO;
}
