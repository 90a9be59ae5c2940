/* SPDX-License-Identifier: MIT */
/*
 * The numbers that a print format computes from a record, as libtraceevent computes them: without signs, in 64 bits. A
 * value reads only bytes of its record. If it would read others, or divide by zero, it has no result, and libtraceevent
 * must print the record.
 */
#ifndef FORMAT_PRINT_VALUE_H
#define FORMAT_PRINT_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <event-parse.h>

enum print_value_kind {
	PRINT_VALUE_CONSTANT,
	PRINT_VALUE_FIELD,
	PRINT_VALUE_INDEX,  /* an element of an array; `left` is the index */
	PRINT_VALUE_LENGTH, /* the length of a dynamic field */
	PRINT_VALUE_MASK,   /* left, cut to `number` */
	PRINT_VALUE_CHOICE, /* left ? right : other */
	PRINT_VALUE_NOT,
	PRINT_VALUE_INVERSE,
	PRINT_VALUE_ADD,
	PRINT_VALUE_SUBTRACT,
	PRINT_VALUE_MULTIPLY,
	PRINT_VALUE_DIVIDE,
	PRINT_VALUE_REMAINDER,
	PRINT_VALUE_OR,
	PRINT_VALUE_AND,
	PRINT_VALUE_EITHER, /* || */
	PRINT_VALUE_BOTH,   /* && */
	PRINT_VALUE_SHIFT_LEFT,
	PRINT_VALUE_SHIFT_RIGHT,
	PRINT_VALUE_LESS,
	PRINT_VALUE_LESS_EQUAL,
	PRINT_VALUE_MORE,
	PRINT_VALUE_MORE_EQUAL,
	PRINT_VALUE_EQUAL,
	PRINT_VALUE_DIFFERENT,
};

struct print_value {
	enum print_value_kind kind;
	uint32_t offset, size; /* where the field is; its size is 1, 2, 4 or 8 */
	bool is_swapped;       /* the file has the other byte order */
	uint64_t number;
	struct print_value *left, *right, *other;
};

/* Whether the numbers of a handle's records are in the other byte order than this machine's. */
bool print_value_is_swapped(struct tep_handle *tep);

/* NULL: it cannot be compiled, or there is not enough memory. */
struct print_value *print_value_compile(struct tep_event *event, const struct tep_print_arg *arg);

/* The value of a field that is a number; NULL as above. */
struct print_value *print_value_field(const struct tep_format_field *field);

/* Takes NULL. Returns NULL. */
struct print_value *print_value_free(struct print_value *value);

/* The same for values that are not plain fields. */
bool print_value_compute(const struct print_value *value, const unsigned char *data, uint32_t size,
			 uint64_t *ret_number);

static inline bool print_value_load(const struct print_value *value, const unsigned char *data, uint32_t offset,
				    uint64_t *ret_number)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (value->size) {
	case 1:
		*ret_number = data[offset];
		return true;
	case 2:
		memcpy(&two, data + offset, sizeof(two));
		*ret_number = value->is_swapped ? __builtin_bswap16(two) : two;
		return true;
	case 4:
		memcpy(&four, data + offset, sizeof(four));
		*ret_number = value->is_swapped ? __builtin_bswap32(four) : four;
		return true;
	default:
		memcpy(&eight, data + offset, sizeof(eight));
		*ret_number = value->is_swapped ? __builtin_bswap64(eight) : eight;
		return true;
	}
}

/* False: the value cannot be computed for this record. */
static inline bool print_value_of(const struct print_value *value, const unsigned char *data, uint32_t size,
				  uint64_t *ret_number)
{
	if (value->kind != PRINT_VALUE_FIELD)
		return print_value_compute(value, data, size, ret_number);
	return value->offset + value->size <= size && print_value_load(value, data, value->offset, ret_number);
}

/* Where the data of a dynamic field are in a record, and their length. False: not within the record. */
struct print_dynamic {
	struct print_value where; /* the field itself: offset, and length above 16 bits */
	uint32_t base;		  /* what the offset is relative to */
};

bool print_dynamic_open(const struct tep_format_field *field, struct print_dynamic *ret_dynamic);
bool print_dynamic_of(const struct print_dynamic *dynamic, const unsigned char *data, uint32_t size,
		      uint32_t *ret_offset, uint32_t *ret_length);

#endif
