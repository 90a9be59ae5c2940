/* SPDX-License-Identifier: MIT */
/* The values of an event's fields, and the names of values, for the forms of the report that programs read. */
#ifndef CLI_REPORT_FIELD_H
#define CLI_REPORT_FIELD_H

#include "cli/report/report.h"
#include "format/io/blob.h"

struct report_field {
	struct tep_format_field *field;
	const struct tep_print_arg *names; /* argument that prints names of its values; NULL: none */
	uint32_t decimals;		   /* decimals of a real; 0: it is not a real */
	bool is_function;		   /* addresses in the kernel or in a program */
	bool is_float;			   /* float or double */
	bool is_text;
	unsigned int column;		   /* free for the caller's use */
};

/* The fields of one event: all except its type and its thread, those common to all events first. */
struct report_event_fields {
	unsigned int nr;
	bool has_text; /* its text cannot be made from its fields: printk's arguments */
	struct report_field fields[];
};

/* The fields of all events. */
struct report_fields {
	const struct report *r;
	struct report_event_fields **all;
};

/* 0; -ENOMEM. */
int report_fields_open(const struct report *r, struct report_fields *ret_fields);
void report_fields_close(struct report_fields *fields);

/* The fields of an event of the table. NULL: no memory. */
struct report_event_fields *report_fields_of(struct report_fields *fields, const struct event_type *type);

enum report_value_kind {
	REPORT_VALUE_NONE, /* the record is too short */
	REPORT_VALUE_NUMBER,
	REPORT_VALUE_STRING,
	REPORT_VALUE_LIST, /* of numbers */
};

struct report_value {
	enum report_value_kind kind;
	bool is_signed;
	bool is_float;	  /* floating point: the number has its bits */
	uint32_t element; /* bytes of a number */
	uint32_t nr;	  /* number of numbers, or of bytes of the string */
	const char *data; /* within the record */
};

/* The value of a field in a record of `size` bytes. */
struct report_value report_field_value(const struct report_field *field, const void *data, uint32_t size);

/* Number i of the value, with its sign extended. */
uint64_t report_value_number(const struct report *r, const struct report_value *value, uint32_t i);

/*
 * Whether numbers of the field may have names. The second function appends the name of a number, or nothing if it has
 * none.
 */
bool report_field_has_name(const struct report_field *field);
void report_field_name(const struct report *r, const struct report_field *field, uint64_t number, struct blob *out);

/* A number as text. */
void report_put_number(struct blob *out, const struct report_value *value, uint64_t number);

/* Appends an event to the text. 0, or -ENOMEM. */
typedef int report_put_fn(void *arg, const struct dat_event *event, struct tep_record *record);

/* Appends the loss before an event, which may not be selected. */
typedef void report_put_loss_fn(void *arg, const struct dat_event *event);

/*
 * Print the selected events and the losses: `put` and `put_loss` append each of them to `out`, and the text is written
 * to standard output. `put_loss` NULL: losses are not text of their own. Text that `out` has at the call comes first.
 * The exit status; errors were printed.
 */
int report_put_events(struct report *r, struct blob *out, report_put_fn *put, report_put_loss_fn *put_loss, void *arg);

#endif
