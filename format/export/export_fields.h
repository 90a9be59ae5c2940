/* SPDX-License-Identifier: MIT */
/*
 * The fields of records as values, for writers of other formats: numbers, texts, arrays. How to read a field is worked
 * out once for each event; reading one allocates nothing. No value reaches beyond its record, whatever the record
 * contains.
 */
#ifndef FORMAT_EXPORT_FIELDS_H
#define FORMAT_EXPORT_FIELDS_H

#include "format/text/event_parse.h"

enum export_kind {
	EXPORT_UNSIGNED,
	EXPORT_SIGNED,
	EXPORT_REAL,  /* a number with decimals: an integer in the record, or a float or double */
	EXPORT_TEXT,  /* ends at its first NUL */
	EXPORT_ARRAY, /* of numbers */
	EXPORT_BYTES, /* a dynamic array of bytes */
};

/* A value that the event's print format shows by a name. */
struct export_symbol {
	uint64_t value; /* as unsigned number of the field's size */
	const char *name;
	uint32_t order; /* its place in the print format */
};

struct export_field {
	const char *name;
	enum export_kind kind;
	uint32_t offset;
	uint32_t element;    /* bytes of an array's element, or of the number: 1, 2, 4, 8 */
	bool is_signed;
	bool is_big;
	double scale;	     /* of EXPORT_REAL; 0: a float or double */
	uint32_t nr_symbols; /* sorted by value */
	struct export_symbol *symbols;
	const struct tep_format_field *tep;
};

struct export_event {
	const struct event_type *type;
	const char *system;
	const char *name;
	bool is_program; /* an event of a program, not of the kernel */
	uint32_t nr_fields; /* number of fields except the common ones */
	struct export_field *fields;
};

struct export_value {
	enum export_kind kind;
	union {
		uint64_t u;
		int64_t s;
		double real;
	};
	const char *symbol;	    /* the name of the value; NULL: none */
	const unsigned char *data;  /* texts, arrays and bytes */
	uint32_t size;		    /* number of bytes at `data` */
};

struct export_fields;

/* 0; -ENOMEM. The table must outlive them. export_fields_close() takes NULL, returns NULL. */
int export_fields_open(const struct event_table *table, bool big, struct export_fields **ret_fields);
struct export_fields *export_fields_close(struct export_fields *fields);

/* NULL: no format has this id. */
const struct export_event *export_event(const struct export_fields *fields, int id);

/* Whether an event, which may be NULL, has a field of this name. */
bool export_has_field(const struct export_event *event, const char *name);

/* A field of a record of `size` bytes. False: the value is not in the record (event_field_place()). */
bool export_value(const struct export_field *field, const unsigned char *record, uint32_t size,
		  struct export_value *ret_value);

/* The number of elements of an EXPORT_ARRAY; and one of them. */
uint32_t export_elements(const struct export_field *field, const struct export_value *value);
void export_element(const struct export_field *field, const struct export_value *value, uint32_t index,
		    struct export_value *ret_value);

#endif
