/* SPDX-License-Identifier: MIT */
/*
 * Format texts. The print formats use only what libtraceevent 1.7.1 evaluates correctly (facts trace-dat 1.7, and
 * found by trying). It reads numbers from the record as unsigned, so a sign is tested by the top bit and never by "<
 * 0", and the values that __print_symbolic compares with are written as the unsigned numbers that are stored. Its
 * precedence of operators is not reliable, so each operation has parentheses.
 */
#include "librecorder/core/event_text_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * Elements of an array that are shown one by one. All long arrays of an event together have at most ELEMENTS_ALL, and
 * their names take at most ELEMENTS_TEXT characters: libtraceevent's parser and REC_EVENT_TEXT_MAX permit more.
 */
#define ELEMENTS_SHOWN 32u
#define ELEMENTS_ALL   500u
#define ELEMENTS_TEXT  30000u

struct out {
	char *text;
	size_t size;
	size_t used; /* equals size if the text did not fit: then nothing more is written */
	uint32_t elements; /* number of elements of each array that are shown one by one */
};

static void put(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct out *out, const char *format, ...)
{
	const size_t room = out->size - out->used;
	va_list args;
	int n;

	if (!room)
		return;
	va_start(args, format);
	n = vsnprintf(out->text + out->used, room, format, args);
	va_end(args);
	out->used = n >= 0 && (size_t)n < room ? out->used + (size_t)n : out->size;
}

static int finish(const struct out *out)
{
	return out->used < out->size ? (int)out->used : -ENOSPC;
}

/* A word as an argument of "%.*s". */
#define WORD(w) (int)(w).size, (w).text

/*
 * Put the inside of a string constant, without characters that could end it; and only ASCII, because libtraceevent
 * accepts nothing else.
 */
static void put_quotable(struct out *out, const struct rec_words *words)
{
	for (uint32_t i = 0; i < words->size; i++) {
		const char c = words->text[i];

		put(out, "%c", c < ' ' || c > '~' || c == '"' || c == '\\' ? '_' : c);
	}
}

/* ------------------------------------------------------------------------------------------------------- fields */

/* The type words of fields with a meaning (docs/MEANING.md): libtraceevent reads each word as a number's type. */
static const char *const type_words[] = {
	[REC_FIELD_KEY] = "rec_key",
	[REC_FIELD_COUNTER] = "rec_counter",
	[REC_FIELD_STATE] = "rec_state",
	[REC_FIELD_FLOW] = "rec_flow",
	[REC_FIELD_DURATION] = "rec_duration",
	[REC_FIELD_TASK] = "rec_task",
};

static void put_meaning(struct out *out, const struct rec_field *field)
{
	put(out, "%s", type_words[field->meaning]);
	if (field->meaning == REC_FIELD_KEY || field->meaning == REC_FIELD_COUNTER || field->meaning == REC_FIELD_STATE)
		put(out, "_%c%u", field->is_signed ? 's' : 'u', field->element * 8);
	put(out, " %.*s", WORD(field->name));
}

static void put_type(struct out *out, const struct rec_field *field)
{
	const unsigned int bits = field->element * 8;

	switch (field->kind) {
	case REC_FIELD_POINTER:
		put(out, "void * %.*s", WORD(field->name));
		break;
	case REC_FIELD_FLAG:
		put(out, "bool %.*s", WORD(field->name));
		break;
	case REC_FIELD_STRING:
		put(out, "__data_loc char[] %.*s", WORD(field->name));
		break;
	case REC_FIELD_BYTES:
		put(out, "__data_loc u8[] %.*s", WORD(field->name));
		break;
	case REC_FIELD_FLOAT:
		put(out, "%s %.*s", field->element == 4 ? "float" : "double", WORD(field->name));
		break;
	case REC_FIELD_ARRAY:
		put(out, "%c%u %.*s[%u]", field->is_signed ? 's' : 'u', bits, WORD(field->name), field->length);
		break;
	default:
		put(out, "%c%u %.*s", field->is_signed ? 's' : 'u', bits, WORD(field->name));
		break;
	}
}

static void put_field(struct out *out, const struct rec_field *field)
{
	put(out, "\tfield:");
	if (field->meaning)
		put_meaning(out, field);
	else
		put_type(out, field);
	put(out, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n", field->offset, field->size, field->is_signed);
}

/* ------------------------------------------------------------------------------------------- the generated format */

/*
 * The printf conversion for a number of this kind. libtraceevent reads all numbers as unsigned and narrows them by the
 * length modifier.
 */
static const char *number_conversion(const struct rec_field *field)
{
	if (field->is_hex || field->kind == REC_FIELD_POINTER)
		return "0x%llx";
	if (!field->is_signed)
		return field->element == 8 ? "%llu" : "%u";
	switch (field->element) {
	case 1:
		return "%hhd";
	case 2:
		return "%hd";
	case 4:
		return "%d";
	default:
		return "%lld";
	}
}

/*
 * __print_array supports neither signed nor hexadecimal elements. These are printed one by one, even if there are many:
 * the first out->elements of them, then an ellipsis for the others.
 */
static bool is_long_array(const struct rec_field *field)
{
	return field->length > ELEMENTS_SHOWN && !field->is_signed && !field->is_hex;
}

static uint32_t elements_shown(const struct out *out, const struct rec_field *field)
{
	if (is_long_array(field))
		return 0;
	return field->length < out->elements ? field->length : out->elements;
}

/* The number of elements that each array of an event may show. */
static uint32_t elements_of(const struct rec_event_info *info)
{
	uint32_t arrays = 0, text = 0, elements;

	for (uint32_t i = 0; i < info->nr_fields; i++) {
		const struct rec_field *field = &info->fields[i];

		if (field->kind != REC_FIELD_ARRAY || field->length <= ELEMENTS_SHOWN || is_long_array(field))
			continue;
		arrays++;
		text += field->name.size + (uint32_t)sizeof("REC->[1000], %lld,");
	}
	if (!arrays)
		return ELEMENTS_SHOWN;
	elements = ELEMENTS_ALL / arrays < ELEMENTS_TEXT / text ? ELEMENTS_ALL / arrays : ELEMENTS_TEXT / text;
	return elements > ELEMENTS_SHOWN ? elements : ELEMENTS_SHOWN;
}

static void put_conversion(struct out *out, const struct rec_field *field)
{
	switch (field->kind) {
	case REC_FIELD_REAL:
		put(out, "%%s%%llu");
		if (field->decimals)
			put(out, ".%%0%ullu", field->decimals);
		break;
	case REC_FIELD_FLOAT:
		put(out, "%s", REC_FLOAT_CONVERSION);
		break;
	case REC_FIELD_ARRAY:
		put(out, "{");
		for (uint32_t i = 0; i < elements_shown(out, field); i++)
			put(out, "%s%s", i ? "," : "", number_conversion(field));
		if (is_long_array(field))
			put(out, "%%s");
		else if (elements_shown(out, field) < field->length)
			put(out, ",...");
		put(out, "}");
		break;
	case REC_FIELD_NAMED:
	case REC_FIELD_STRING:
	case REC_FIELD_BYTES:
		put(out, "%%s");
		break;
	case REC_FIELD_UNSIGNED:
	case REC_FIELD_SIGNED:
	case REC_FIELD_HEX:
	case REC_FIELD_POINTER:
	case REC_FIELD_FLAG:
		put(out, "%s", number_conversion(field));
		break;
	}
}

static uint64_t power_of_ten(uint32_t n)
{
	return n ? 10 * power_of_ten(n - 1) : 1;
}

/* Put sign, whole part and decimals, all in unsigned arithmetic, which is correct for the smallest number, too. */
static void put_real(struct out *out, const struct rec_field *field)
{
	const uint64_t scale = power_of_ten(field->decimals);
	char magnitude[3 * REC_IDENT_MAX + 64];

	snprintf(magnitude, sizeof(magnitude), "((REC->%.*s >> 63) ? (0 - REC->%.*s) : REC->%.*s)", WORD(field->name),
		 WORD(field->name), WORD(field->name));
	put(out, "(REC->%.*s >> 63) ? \"-\" : \"\", ", WORD(field->name));
	if (field->decimals)
		put(out, "(%s / %" PRIu64 "), (%s %% %" PRIu64 ")", magnitude, scale, magnitude, scale);
	else
		put(out, "%s", magnitude);
}

struct rec_words rec_next_value_name(const char **at, const char *end)
{
	struct rec_words name = { *at, 0 };
	unsigned int depth = 0;
	const char *comma = *at;
	char quote = '\0';

	for (; comma < end && (depth || quote || *comma != ','); comma++) {
		if (quote && *comma == '\\' && comma + 1 < end)
			comma++;
		else if (quote)
			quote = *comma == quote ? '\0' : quote;
		else if (*comma == '"' || *comma == '\'')
			quote = *comma;
		else
			depth += *comma == '(' ? 1u : *comma == ')' ? -1u : 0u;
	}
	name.size = (uint32_t)(comma - *at);
	while (name.size && (name.text[name.size - 1] == ' ' || name.text[name.size - 1] == '\t'))
		name.size--;
	*at = comma < end ? comma + 1 : end;
	while (*at < end && (**at == ' ' || **at == '\t'))
		(*at)++;
	return name;
}

static void put_named(struct out *out, const struct rec_field *field)
{
	const uint64_t mask = field->element == 8 ? UINT64_MAX : (UINT64_C(1) << (field->element * 8)) - 1;
	const char *at = field->value_names.text;
	const char *end = at + field->value_names.size;

	put(out, "__print_symbolic(REC->%.*s", WORD(field->name));
	for (uint32_t i = 0; i < field->nr_values; i++) {
		const struct rec_words name = rec_next_value_name(&at, end);

		put(out, ", { %" PRIu64 ", \"", (uint64_t)field->values[i] & mask);
		put_quotable(out, &name);
		put(out, "\" }");
	}
	put(out, ")");
}

static void put_argument(struct out *out, const struct rec_field *field)
{
	char text[REC_FLOAT_TEXT_MAX];

	switch (field->kind) {
	case REC_FIELD_REAL:
		put_real(out, field);
		break;
	case REC_FIELD_FLOAT:
		rec_float_arguments(field, text, sizeof(text));
		put(out, "%s", text);
		break;
	case REC_FIELD_NAMED:
		put_named(out, field);
		break;
	case REC_FIELD_ARRAY:
		if (is_long_array(field))
			put(out, "__print_array(REC->%.*s, %u, %u)", WORD(field->name), field->length, field->element);
		for (uint32_t i = 0; i < elements_shown(out, field); i++)
			put(out, "%sREC->%.*s[%u]", i ? ", " : "", WORD(field->name), i);
		break;
	case REC_FIELD_STRING:
		put(out, "__get_str(%.*s)", WORD(field->name));
		break;
	case REC_FIELD_BYTES:
		put(out, "__print_hex_str(__get_dynamic_array(%.*s), __get_dynamic_array_len(%.*s))", WORD(field->name),
		    WORD(field->name));
		break;
	case REC_FIELD_UNSIGNED:
	case REC_FIELD_SIGNED:
	case REC_FIELD_HEX:
	case REC_FIELD_POINTER:
	case REC_FIELD_FLAG:
		put(out, "REC->%.*s", WORD(field->name));
		break;
	}
}

static void put_generated(struct out *out, const struct rec_event_info *info)
{
	put(out, "\"");
	for (uint32_t i = 0; i < info->nr_fields; i++) {
		put(out, "%s%.*s=", i ? " " : "", WORD(info->fields[i].name));
		put_conversion(out, &info->fields[i]);
	}
	put(out, "\"");
	for (uint32_t i = 0; i < info->nr_fields; i++) {
		put(out, ", ");
		put_argument(out, &info->fields[i]);
	}
}

/* ----------------------------------------------------------------------------------------------- the format given */

static bool is_ident(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const struct rec_field *find_field(const struct rec_event_info *info, const char *name, uint32_t size)
{
	for (uint32_t i = 0; i < info->nr_fields; i++)
		if (info->fields[i].name.size == size && memcmp(info->fields[i].name.text, name, size) == 0)
			return &info->fields[i];
	return NULL;
}

/* Whether the text before `at` shows that a field's name is already an expression: REC->name, __get_str(name). */
static bool is_accessed(const char *start, const char *at)
{
	static const char *const functions[] = { "__get_str(", "__get_dynamic_array(", "__get_dynamic_array_len(", "->",
						 "." };
	size_t size;

	while (at > start && at[-1] == ' ')
		at--;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		size = strlen(functions[i]);
		if ((size_t)(at - start) >= size && memcmp(at - size, functions[i], size) == 0)
			return true;
	}
	return false;
}

/* Copies the format; names of fields outside of quotes are replaced by the expressions that print them. */
static void put_given(struct out *out, const struct rec_event_info *info)
{
	const char *const start = info->format.text;
	const char *const end = start + info->format.size;
	const struct rec_field *field;
	char text[REC_FLOAT_TEXT_MAX];
	const char *at = start, *word;
	bool quoted = false;

	while (at < end) {
		if (quoted || !is_ident(*at)) {
			if (*at == '"')
				quoted = !quoted;
			if (quoted && *at == '\\' && at + 1 < end)
				put(out, "%c", *at++);
			put(out, "%c", *at < ' ' || *at > '~' ? '?' : *at);
			at++;
			continue;
		}
		for (word = at; at < end && is_ident(*at); at++)
			;
		field = is_accessed(start, word) ? NULL : find_field(info, word, (uint32_t)(at - word));
		if (!field)
			put(out, "%.*s", (int)(at - word), word);
		else if (field->kind == REC_FIELD_REAL || field->kind == REC_FIELD_ARRAY)
			put(out, "REC->%.*s", WORD(field->name));
		else if (field->kind == REC_FIELD_FLOAT)
			put(out, "%s", rec_float_whole(field, text, sizeof(text)));
		else
			put_argument(out, field);
	}
}

/* -------------------------------------------------------------------------------------------------------- texts */

static void put_head(struct out *out, const struct rec_words *name, uint16_t id)
{
	put(out, "name: %.*s\nID: %u\nformat:\n", WORD(*name), id);
	put(out, "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n");
	put(out, "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n");
	put(out, "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n");
	put(out, "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n");
}

int rec_event_text(const struct rec_log_event *event, uint16_t id, char *text, size_t size)
{
	struct out out = { text, size, 0, 0 };
	struct rec_event_info info;
	int r;

	r = rec_event_parse(event, &info);
	if (r < 0)
		return r;
	out.elements = elements_of(&info);
	put_head(&out, &info.name, id);
	for (uint32_t i = 0; i < info.nr_fields; i++)
		put_field(&out, &info.fields[i]);
	put(&out, "\nprint fmt: ");
	if (info.format.size)
		put_given(&out, &info);
	else
		put_generated(&out, &info);
	put(&out, "\n");
	return finish(&out);
}

int rec_printf_event_text(uint16_t id, char *text, size_t size)
{
	static const struct rec_words name = { "bprint", 6 };
	struct out out = { text, size, 0, 0 };

	put_head(&out, &name, id);
	put(&out, "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n");
	put(&out, "\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n");
	put(&out, "\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n\n");
	put(&out, "print fmt: \"%%ps: %%s\", (void *)REC->ip, REC->fmt\n");
	return finish(&out);
}

/* Find the texts of a call site. False: they are not both terminated within the record. */
static bool site_texts(const struct rec_log_printf *site, const char **ret_function, const char **ret_format)
{
	const char *text = (const char *)(site + 1);
	const char *end;

	if (site->record.size < sizeof(*site) || site->text_size > site->record.size - sizeof(*site))
		return false;
	end = memchr(text, '\0', site->text_size);
	if (!end || !memchr(end + 1, '\0', (size_t)(text + site->text_size - (end + 1))))
		return false;
	*ret_function = text;
	*ret_format = end + 1;
	return true;
}

int rec_printf_format_text(const struct rec_log_printf *site, char *text, size_t size)
{
	struct out out = { text, size, 0, 0 };
	const char *function, *format;

	if (!site_texts(site, &function, &format))
		return -EBADMSG;
	put(&out, "\"");
	for (; *format; format++) {
		if (*format == '\n')
			put(&out, "\\n");
		else if (*format == '\t')
			put(&out, "\\t");
		else if (*format == '"' || *format == '\\')
			put(&out, "\\%c", *format);
		else
			put(&out, "%c", *format < ' ' || *format > '~' ? '?' : *format);
	}
	/*
	 * libtraceevent looks for a line feed, to remove it, in the last two characters before the quote. If there are
	 * fewer, it reads memory before the text.
	 */
	if (out.used < sizeof("\"ab") - 1)
		put(&out, "\\n");
	put(&out, "\"");
	return finish(&out);
}

const char *rec_printf_function(const struct rec_log_printf *site)
{
	const char *function, *format;

	return site_texts(site, &function, &format) ? function : "";
}
