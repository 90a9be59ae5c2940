/* SPDX-License-Identifier: MIT */
/*
 * The contents of an event's description: its fields, and the format text that libtraceevent needs. Only these
 * functions make such texts, for the library and the recorder alike. They are pure functions over memory, and keep no
 * pointer to it. Any thread; not signal-safe. Descriptions need not be trusted: a malformed one is refused with
 * -EBADMSG, and nothing outside the record is read. The caller guarantees that record.size bytes are readable; for a
 * record of rec_log_next() they are.
 */
#ifndef LIBRECORDER_EVENT_TEXT_H
#define LIBRECORDER_EVENT_TEXT_H

#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/abi.h>
#pragma pop_macro("REC__DETAIL")
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REC_FIELDS_MAX 32u
#define REC_NAMES_MAX  64u  /* names of one field's values */
#define REC_KEYS_MAX   4u  /* fields of a key */
#define REC_IDENT_MAX  127u /* characters of a system, event or field name */

/* Enough for the format text of any event that a compiler accepts without warning (4095 characters of declaration). */
#define REC_EVENT_TEXT_MAX 262144u

/* A part of a text, not terminated by NUL. */
struct rec_words {
	const char *text;
	uint32_t size;
};

enum rec_field_kind {
	REC_FIELD_UNSIGNED,
	REC_FIELD_SIGNED,
	REC_FIELD_HEX,
	REC_FIELD_POINTER,
	REC_FIELD_FLAG,
	REC_FIELD_REAL,	  /* s64: the value times 10 to the power of decimals */
	REC_FIELD_NAMED,
	REC_FIELD_ARRAY,  /* length elements; is_signed and is_hex give their kind */
	REC_FIELD_STRING, /* string and stringn: u32, offset | length << 16, NUL included */
	REC_FIELD_BYTES,  /* the same */
	REC_FIELD_FLOAT,  /* f32 and f64: float of 4, double of 8 bytes */
};

/* What the field means in its event. enum rec_field_kind is how the field is stored and printed. */
enum rec_field_meaning {
	REC_FIELD_PLAIN,
	REC_FIELD_KEY,	    /* part of the key of a keyed span or a state */
	REC_FIELD_FLOW,	    /* a flow's number */
	REC_FIELD_COUNTER,  /* the value of a counter */
	REC_FIELD_STATE,    /* the state */
	REC_FIELD_DURATION, /* duration in nanoseconds, of an event that is written at its end */
	REC_FIELD_TASK,	    /* a logical task's number */
};

/* What an event means (span.h). */
enum rec_event_meaning {
	REC_MEANS_EVENT,
	REC_MEANS_BEGIN, /* of a span: the name ends in _begin */
	REC_MEANS_END,	 /* of a span: the name ends in _end */
	REC_MEANS_TIMED,
	REC_MEANS_COUNTER,
	REC_MEANS_STATE,
	REC_MEANS_TASK,
};

struct rec_field {
	enum rec_field_kind kind;
	struct rec_words name;
	struct rec_words declared; /* as written: "named(op, OP_GET, OP_PUT)" */
	uint32_t offset;	   /* from the beginning of the common fields */
	uint32_t size;		   /* of the whole field */
	uint32_t element;	   /* size of an element; for a single number, its size */
	uint32_t length;	   /* elements */
	bool is_signed;
	bool is_hex;
	uint8_t meaning; /* enum rec_field_meaning */
	uint32_t decimals;
	uint32_t nr_values;
	const int64_t *values;	       /* in the record */
	struct rec_words value_names;  /* as written, separated by commas */
};

/* Its pointers point into the record, which must exist as long as this is used. */
struct rec_event_info {
	struct rec_words system;
	struct rec_words name;
	struct rec_words format; /* as written in REC_EVENT_FMT, without the outer parentheses; size 0: none */
	uint32_t nr_fields;
	uint32_t fixed_size; /* common and fixed fields: the length of the shortest record */
	struct rec_field fields[REC_FIELDS_MAX];
};

#pragma GCC visibility push(default)

/* Read a description. Returns 0 or -EBADMSG. */
int rec_event_parse(const struct rec_log_event *event, struct rec_event_info *ret_info);

/* What an event means. Returns an enum rec_event_meaning, or -EBADMSG. */
int rec_event_meaning(const struct rec_log_event *event);

/*
 * The format text of the event with the given id, in the form of the kernel's `format` files, terminated by NUL.
 * Returns its length, or -EBADMSG, or -ENOSPC: `size` is too small, the text is incomplete.
 */
int rec_event_text(const struct rec_log_event *event, uint16_t id, char *text, size_t size);

/*
 * True if two descriptions are of the same event: names, fields and constants are the same; blanks do not matter.
 * Malformed descriptions are the same if they are equal byte by byte.
 */
bool rec_event_same(const struct rec_log_event *a, const struct rec_log_event *b);

/* A hash that is equal for all descriptions that are the same. */
uint32_t rec_event_hash(const struct rec_log_event *event);

/* The format text of rec_printf's event, bprint of system ftrace. Returns the same values as rec_event_text(). */
int rec_printf_event_text(uint16_t id, char *text, size_t size);

/*
 * A call site's format in the form of the kernel's printk_formats, quotes included: "n=%d\n". A format of fewer than
 * two characters is followed by a line feed, because libtraceevent cannot read it otherwise; libtraceevent does not
 * print a line feed at the end of a format. Returns the text's length, or -EBADMSG, -ENOSPC.
 */
int rec_printf_format_text(const struct rec_log_printf *site, char *text, size_t size);

/* The function that contains a call site; "" for a malformed record. Points into the record. */
const char *rec_printf_function(const struct rec_log_printf *site);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
