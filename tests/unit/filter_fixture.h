/* SPDX-License-Identifier: MIT */
/* An event with a field of each kind, a record of it, and a filter tried on it. */
#ifndef FILTER_FIXTURE_H
#define FILTER_FIXTURE_H

#include <librecorder/event.h>
#include <librecorder/filter.h>

enum filter_op { OP_GET = 1, OP_PUT = -7, OP_DELETE = 300 };

/* A record of it, as it is in a lane. */
struct __attribute__((packed)) filter_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	uint8_t a;
	int8_t b;
	uint16_t c;
	int16_t d;
	uint32_t e;
	int32_t g;
	uint64_t h;
	int64_t i;
	uint32_t x;
	uint64_t p;
	uint8_t t;
	int64_t load; /* two decimals */
	int32_t op;
	uint8_t small;
	uint32_t path, sub, raw;
	uint16_t list[3];
	float ratio;
	double wide;
	char texts[256];
};

extern const struct rec_log_event *const filter_event;

/* All numbers are 0, all texts empty. */
void filter_record_init(struct filter_record *record);

/* Put a text after the fixed fields; `word` is that of its field in the record. */
void filter_record_text(struct filter_record *record, void *word, const char *text, size_t size);

/* Compile and try; fails the test if the filter is wrong. */
bool filter_try(const char *text, const struct filter_record *record, uint32_t cpu);

#endif
