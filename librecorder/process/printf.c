/* SPDX-License-Identifier: MIT */
/*
 * rec_printf: the arguments in binary, the format once in the log.
 *
 * What libtraceevent can print from binary is stored in binary: whole numbers as 4 or 8 bytes aligned to 4, strings in
 * place with their NUL. Everything else is formatted when it is recorded, and its conversion becomes %s in the stored
 * format. The format is parsed when its site is put into the log, by one function, rec_printf_piece(). If its arguments
 * are of the plain kinds, the site keeps a layout from which each event is written; otherwise each event parses the
 * format again.
 *
 * A site is put into the log by its first use in this process. If the process lock is not available (process.h) the
 * event is counted as lost in the log, and the next use tries again.
 */
#include <librecorder/event.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "librecorder/core/decimal.h"
#include "librecorder/process/event_private.h"
#include "librecorder/process/log_private.h"
#include "librecorder/process/printf_format.h"
#include "librecorder/process/process.h"
#include "librecorder/ring/ring_private.h"

/* bytes: enough for the maximum number of conversions, each a number of 8 bytes with padding, or an empty string */
#define ARGUMENTS_MAX	1000u
#define NUMBER_MAX	12u   /* bytes of a number with its padding; an empty string has fewer */
#define TEXT_MAX	2048u /* of a site: function and format */

/* ---------------------------------------------------------------------------------------------------- call sites */

/* Copies as many bytes as there is room for; returns how many there are in all. */
static size_t add(char *text, size_t used, const char *from, size_t size)
{
	if (used < TEXT_MAX && size <= TEXT_MAX - used)
		memcpy(text + used, from, size);
	return used + size;
}

/* Without snprintf(), because the first event of a call site may be in a signal handler. */
static size_t store_conversion(char *text, size_t used, const struct printf_piece *piece)
{
	const bool is_number = piece->how == AS_NUMBER;
	char stored[32]; /* flags of 5 characters, numbers of 5 digits (printf_format.c) */
	char *at = stored;

	if (is_number && piece->conversion == 'p') {
		const char *pointer = piece->size >= 8 ? "0x%llx" : "0x%x";

		return add(text, used, pointer, strlen(pointer));
	}
	*at++ = '%';
	if (is_number)
		at = stpcpy(at, piece->flags);
	if ((is_number || piece->how == AS_STRING) && piece->width >= 0)
		at = rec_put_decimal(at, (uint32_t)piece->width);
	if (is_number && piece->precision >= 0) {
		*at++ = '.';
		at = rec_put_decimal(at, (uint32_t)piece->precision);
	}
	if (is_number && piece->size >= 8)
		at = stpcpy(at, "ll");
	*at++ = is_number ? piece->conversion : 's';
	return add(text, used, stored, (size_t)(at - stored));
}

/* Store the format in the form that readers need. Returns the text's size, including the NUL. */
static size_t store_format(char *text, size_t used, const char *format)
{
	struct printf_piece piece;

	for (; rec_printf_piece(format, &piece); format = piece.end) {
		if (piece.how == AS_LITERAL)
			used = add(text, used, piece.start, (size_t)(piece.end - piece.start));
		else
			used = store_conversion(text, used, &piece);
	}
	return add(text, used, "", 1);
}

static int append_site(struct rec_printf_site *site, const char *function, int line, const char *format)
{
	static const char impossible[] = "(rec_printf: a format that cannot be recorded)";
	static uint32_t nr_sites;
	struct {
		struct rec_log_printf site;
		char text[TEXT_MAX];
	} record;
	size_t names, size;

	memset(&record, 0, sizeof(record));
	names = add(record.text, 0, function, strnlen(function, 255));
	names = add(record.text, names, "", 1);
	size = rec_printf_count(format) > PRINTF_CONVERSIONS_MAX ? TEXT_MAX + 1
								 : store_format(record.text, names, format);
	if (size > TEXT_MAX)
		size = add(record.text, names, impossible, sizeof(impossible));
	record.site.record.size = (uint32_t)((sizeof(record.site) + size + 7) & ~(size_t)7);
	record.site.record.kind = REC_LOG_PRINTF;
	record.site.site = (uint64_t)rec_process_pid() << 32 | ++nr_sites;
	record.site.line = (uint32_t)line;
	record.site.text_size = (uint32_t)size;
	site->number = record.site.site;
	site->layout = rec_printf_layout(format);
	return rec_log_append_locked(&record.site.record);
}

/* The site's number in the present buffer; 0: the log cannot take it now. */
static uint64_t site_number(struct rec_printf_site *site, const char *function, int line, const char *format)
{
	const uint32_t buffer = rec_events_buffer();
	int r = 0;

	/* Acquire: the number was stored before (edge P1). */
	if (REC_LIKELY(rec_load_acquire(&site->buffer) == buffer))
		return site->number;
	if (!rec_process_lock_soon()) {
		rec_log_count_lost();
		return 0;
	}
	if (site->buffer != buffer) {
		r = append_site(site, function, line, format);
		if (r == 0)
			rec_store_release(&site->buffer, buffer);
	}
	rec_process_unlock();
	return r == 0 ? site->number : 0;
}

/* ----------------------------------------------------------------------------------------------------- arguments */

struct arguments {
	size_t used;
	size_t reserve; /* kept free for the conversions that follow */
	unsigned char bytes[ARGUMENTS_MAX];
};

static inline void put_number(struct arguments *arguments, const void *number, size_t size)
{
	while (arguments->used % 4)
		arguments->bytes[arguments->used++] = 0;
	memcpy(arguments->bytes + arguments->used, number, size);
	arguments->used += size;
}

static void put_string(struct arguments *arguments, const char *string, size_t size)
{
	const size_t room = sizeof(arguments->bytes) - arguments->reserve - arguments->used - 1;

	size = size < room ? size : room;
	memcpy(arguments->bytes + arguments->used, string, size);
	arguments->used += size;
	arguments->bytes[arguments->used++] = '\0';
}

static bool is_signed(const struct printf_piece *piece)
{
	return piece->conversion == 'd' || piece->conversion == 'i';
}

/* Narrow a whole number, which was passed as int or as 8 bytes, by its length modifier, as printf does. */
static uint64_t narrow(const struct printf_piece *piece, uint64_t value)
{
	switch (piece->size) {
	case 1:
		return is_signed(piece) ? (uint64_t)(int8_t)value : (uint8_t)value;
	case 2:
		return is_signed(piece) ? (uint64_t)(int16_t)value : (uint16_t)value;
	case 4:
		return is_signed(piece) ? (uint64_t)(int32_t)value : (uint32_t)value;
	default:
		return value;
	}
}

/* Make a conversion that contains the values of width and precision arguments, and "ll" for whole numbers. */
static void make_spec(const struct printf_piece *piece, int width, int precision, const char *length, char *spec,
		      size_t size)
{
	int n = snprintf(spec, size, "%%%s", piece->flags);

	if (width != PRINTF_NONE)
		n += snprintf(spec + n, size - (size_t)n, "%d", width);
	if (precision >= 0)
		n += snprintf(spec + n, size - (size_t)n, ".%d", precision);
	snprintf(spec + n, size - (size_t)n, "%s%c", length, piece->conversion);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

/* Wraps the list: a va_list that is an array cannot be passed by reference otherwise. */
struct list {
	va_list args;
};

/*
 * Of a number that does not fit, the first digits would be another number. The text that replaces it fits:
 * NUMBER_MAX bytes are free for each conversion.
 */
static void end_text(struct arguments *arguments, const struct printf_piece *piece, char *text, bool fits)
{
	if (!fits && !strchr("sScCm", piece->conversion))
		strcpy(text, "(too long)");
	arguments->used += strlen(text) + 1;
}

static void put_text(struct arguments *arguments, const struct printf_piece *piece, struct list *list)
{
	const int width = piece->width == PRINTF_STAR ? va_arg(list->args, int) : piece->width;
	const int precision = piece->precision == PRINTF_STAR ? va_arg(list->args, int) : piece->precision;
	const size_t room = sizeof(arguments->bytes) - arguments->reserve - arguments->used;
	char *const text = (char *)arguments->bytes + arguments->used;
	char spec[64];
	int n = 0;

	switch (piece->conversion) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		make_spec(piece, width, precision, "ll", spec, sizeof(spec));
		if (piece->size >= 8)
			n = snprintf(text, room, spec, va_arg(list->args, long long));
		else
			n = snprintf(text, room, spec, narrow(piece, va_arg(list->args, unsigned int)));
		break;
	case 's':
	case 'S':
		make_spec(piece, width, precision, piece->is_long ? "l" : "", spec, sizeof(spec));
		n = snprintf(text, room, spec, va_arg(list->args, const void *));
		break;
	case 'c':
	case 'C':
		make_spec(piece, width, precision, piece->is_long ? "l" : "", spec, sizeof(spec));
		n = snprintf(text, room, spec, va_arg(list->args, wint_t));
		break;
	case 'p':
		make_spec(piece, width, precision, "", spec, sizeof(spec));
		n = snprintf(text, room, spec, va_arg(list->args, void *));
		break;
	case 'm':
		make_spec(piece, width, precision, "", spec, sizeof(spec));
		n = snprintf(text, room, spec);
		break;
	default:
		make_spec(piece, width, precision, piece->size == 16 ? "L" : "", spec, sizeof(spec));
		if (piece->size == 16)
			n = snprintf(text, room, spec, va_arg(list->args, long double));
		else
			n = snprintf(text, room, spec, va_arg(list->args, double));
		break;
	}
	if (n < 0)
		*text = '\0';
	end_text(arguments, piece, text, n >= 0 && (size_t)n < room);
}

#pragma GCC diagnostic pop

static void put_argument(struct arguments *arguments, const struct printf_piece *piece, struct list *list)
{
	const char *string;
	uint64_t value;
	int precision;
	char c;

	switch (piece->how) {
	case AS_NUMBER:
		value = piece->size >= 8 ? va_arg(list->args, uint64_t)
					 : narrow(piece, va_arg(list->args, unsigned int));
		put_number(arguments, &value, piece->size >= 8 ? 8 : 4);
		break;
	case AS_STRING:
		precision = piece->precision == PRINTF_STAR ? va_arg(list->args, int) : piece->precision;
		string = va_arg(list->args, const char *);
		if (!string)
			string = "(null)";
		put_string(arguments, string, precision >= 0 ? strnlen(string, (size_t)precision) : strlen(string));
		break;
	case AS_CHAR:
		c = (char)va_arg(list->args, int);
		put_string(arguments, &c, c ? 1 : 0);
		break;
	case AS_TEXT:
		put_text(arguments, piece, list);
		break;
	default:
		break;
	}
}

static uint32_t layout_length(uint32_t layout)
{
	return layout ? (32 - (uint32_t)__builtin_clz(layout) + 1) / 2 : 0;
}

/* Does what put_arguments() does, from a layout. */
static void put_layout(struct arguments *arguments, uint32_t layout, struct list *list)
{
	const char *string;
	uint64_t u64;
	uint32_t u32;

	for (layout &= ~LAYOUT_KNOWN; layout != LAYOUT_END; layout >>= 2) {
		switch (layout & 3) {
		case LAYOUT_INT:
			u32 = va_arg(list->args, uint32_t);
			put_number(arguments, &u32, sizeof(u32));
			break;
		case LAYOUT_LONG:
			u64 = va_arg(list->args, uint64_t);
			put_number(arguments, &u64, sizeof(u64));
			break;
		default:
			string = va_arg(list->args, const char *);
			arguments->reserve = layout_length(layout >> 2) * NUMBER_MAX;
			put_string(arguments, string ? string : "(null)", string ? strlen(string) : strlen("(null)"));
			break;
		}
	}
}

static void put_arguments(struct arguments *arguments, const char *format, struct list *list)
{
	unsigned int left = rec_printf_count(format);
	struct printf_piece piece;

	if (left > PRINTF_CONVERSIONS_MAX)
		return;
	for (; rec_printf_piece(format, &piece); format = piece.end) {
		if (piece.how == AS_LITERAL)
			continue;
		left--;
		arguments->reserve = left * NUMBER_MAX;
		put_argument(arguments, &piece, list);
	}
}

static void write_record(struct rec_handle *handle, uint64_t site, const struct arguments *arguments)
{
	unsigned char *record, *at;
	const size_t size = REC_EVENT_COMMON_SIZE + 2 * sizeof(site) + arguments->used;
	struct rec_slot slot;

	record = rec_reserve_from(handle, (uint32_t)size, __builtin_dwarf_cfa(), &slot);
	if (!record)
		return;
	at = rec_put_common(record, handle, REC_EVENT_ID_FIRST);
	at = rec_put(at, &site, sizeof(site)); /* ip */
	at = rec_put(at, &site, sizeof(site)); /* fmt */
	rec_put_text(at, (const char *)arguments->bytes, arguments->used);
	rec_event_finish(rec_event_condition(rec_load_relaxed(&rec_printf_enabled)), &slot, record, size);
}

void rec_printf_write(struct rec_printf_site *site, const char *function, int line, const char *format, ...)
{
	const int saved = errno;
	struct arguments arguments;
	struct rec_handle *handle;
	struct list list;
	uint64_t number;

	handle = rec_handle_get();
	number = handle ? site_number(site, function, line, format) : 0;
	if (number) {
		arguments.used = 0;
		errno = saved; /* for %m */
		va_start(list.args, format);
		if (REC_LIKELY(site->layout))
			put_layout(&arguments, site->layout, &list);
		else
			put_arguments(&arguments, format, &list);
		va_end(list.args);
		write_record(handle, number, &arguments);
	}
	errno = saved;
}
