/* SPDX-License-Identifier: MIT */
/*
 * Reading an event's description: the words of its declaration, and its constants. A scanner with one word of
 * lookahead over a text that may be malformed; it never leaves the text.
 */
#include <librecorder/event_text.h>

#include "librecorder/core/event_text_private.h"

#include <errno.h>
#include <string.h>

struct scanner {
	const char *at;
	const char *end;
	const int64_t *numbers; /* the next constant */
	uint32_t nr_numbers;	/* that are left */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_ident(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_blanks(struct scanner *s)
{
	while (s->at < s->end && is_blank(*s->at))
		s->at++;
}

static bool take(struct scanner *s, char c)
{
	skip_blanks(s);
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

static bool take_ident(struct scanner *s, struct rec_words *ret_ident)
{
	const char *start;

	skip_blanks(s);
	start = s->at;
	while (s->at < s->end && is_ident(*s->at))
		s->at++;
	*ret_ident = (struct rec_words){ start, (uint32_t)(s->at - start) };
	return ret_ident->size && ret_ident->size <= REC_IDENT_MAX && !(*start >= '0' && *start <= '9');
}

/* A string or character constant; s->at is at its opening quote. */
static bool skip_quoted(struct scanner *s)
{
	const char quote = *s->at++;

	while (s->at < s->end && *s->at != quote) {
		if (*s->at == '\\' && s->at + 1 < s->end)
			s->at++;
		s->at++;
	}
	if (s->at == s->end)
		return false;
	s->at++;
	return true;
}

/* Everything up to a comma or closing parenthesis of this level, without blanks at both ends. */
static bool take_argument(struct scanner *s, bool through_commas, struct rec_words *ret_argument)
{
	unsigned int depth = 0;
	const char *start;

	skip_blanks(s);
	start = s->at;
	while (s->at < s->end && (depth || (*s->at != ')' && (through_commas || *s->at != ',')))) {
		if (*s->at == '"' || *s->at == '\'') {
			if (!skip_quoted(s))
				return false;
			continue;
		}
		if (*s->at == '(')
			depth++;
		else if (*s->at == ')')
			depth--;
		s->at++;
	}
	*ret_argument = (struct rec_words){ start, (uint32_t)(s->at - start) };
	while (ret_argument->size && is_blank(start[ret_argument->size - 1]))
		ret_argument->size--;
	return s->at < s->end && ret_argument->size;
}

static bool take_number(struct scanner *s, int64_t min, int64_t max, int64_t *ret_number)
{
	if (!s->nr_numbers || *s->numbers < min || *s->numbers > max)
		return false;
	*ret_number = *s->numbers++;
	s->nr_numbers--;
	return true;
}

static bool words_are(const struct rec_words *words, const char *text)
{
	return words->size == strlen(text) && memcmp(words->text, text, words->size) == 0;
}

/* The kinds that are one number; also the possible elements of arrays and storage types of named values. */
static const struct number_kind {
	const char *name;
	enum rec_field_kind kind;
	uint32_t size;
} number_kinds[] = {
	{ "u8", REC_FIELD_UNSIGNED, 1 },  { "u16", REC_FIELD_UNSIGNED, 2 }, { "u32", REC_FIELD_UNSIGNED, 4 },
	{ "u64", REC_FIELD_UNSIGNED, 8 }, { "s8", REC_FIELD_SIGNED, 1 },    { "s16", REC_FIELD_SIGNED, 2 },
	{ "s32", REC_FIELD_SIGNED, 4 },	  { "s64", REC_FIELD_SIGNED, 8 },   { "hex8", REC_FIELD_HEX, 1 },
	{ "hex16", REC_FIELD_HEX, 2 },	  { "hex32", REC_FIELD_HEX, 4 },    { "hex64", REC_FIELD_HEX, 8 },
	{ "ptr", REC_FIELD_POINTER, 8 },  { "flag", REC_FIELD_FLAG, 1 },    { "string", REC_FIELD_STRING, 4 },
	{ "stringn", REC_FIELD_STRING, 4 }, { "bytes", REC_FIELD_BYTES, 4 },
};

static const struct number_kind *find_kind(const struct rec_words *name)
{
	for (size_t i = 0; i < sizeof(number_kinds) / sizeof(number_kinds[0]); i++)
		if (words_are(name, number_kinds[i].name))
			return &number_kinds[i];
	return NULL;
}

static const struct number_kind *find_integer(const struct rec_words *name)
{
	const struct number_kind *kind = find_kind(name);

	return kind && kind->kind <= REC_FIELD_HEX ? kind : NULL;
}

static void set_element(struct rec_field *field, const struct number_kind *kind)
{
	field->element = kind->size;
	field->length = 1;
	field->is_signed = kind->kind == REC_FIELD_SIGNED;
	field->is_hex = kind->kind == REC_FIELD_HEX;
}

/* array(TYPE, name, LENGTH), after the opening parenthesis. */
static bool scan_array(struct scanner *s, struct rec_field *field)
{
	const struct number_kind *type;
	struct rec_words word;
	int64_t length;

	if (!take_ident(s, &word) || !(type = find_integer(&word)) || !take(s, ','))
		return false;
	if (!take_ident(s, &field->name) || !take(s, ',') || !take_argument(s, false, &word))
		return false;
	if (!take_number(s, 1, UINT16_MAX, &length))
		return false;
	field->kind = REC_FIELD_ARRAY;
	set_element(field, type);
	field->length = (uint32_t)length;
	return true;
}

/* real(name, DECIMALS) */
static bool scan_real(struct scanner *s, struct rec_field *field)
{
	static const struct number_kind storage = { "s64", REC_FIELD_SIGNED, 8 };
	struct rec_words word;
	int64_t decimals;

	if (!take_ident(s, &field->name) || !take(s, ',') || !take_argument(s, false, &word))
		return false;
	if (!take_number(s, 0, 18, &decimals))
		return false;
	field->kind = REC_FIELD_REAL;
	set_element(field, &storage);
	field->decimals = (uint32_t)decimals;
	return true;
}

/* named([TYPE,] name, VALUE...) */
static bool scan_named(struct scanner *s, struct rec_field *field)
{
	static const struct number_kind storage = { "s32", REC_FIELD_SIGNED, 4 };
	const struct number_kind *type;
	struct rec_words word;
	uint32_t names = 0;
	int64_t count;

	if (!take_ident(s, &field->name) || !take(s, ','))
		return false;
	type = find_integer(&field->name);
	if (type && (!take_ident(s, &field->name) || !take(s, ',')))
		return false;
	skip_blanks(s);
	field->value_names.text = s->at;
	do {
		if (!take_argument(s, false, &word))
			return false;
		names++;
	} while (take(s, ','));
	field->value_names.size = (uint32_t)(word.text + word.size - field->value_names.text);
	if (!take_number(s, 1, REC_NAMES_MAX, &count) || names != (uint32_t)count || s->nr_numbers < names)
		return false;
	field->kind = REC_FIELD_NAMED;
	set_element(field, type ? type : &storage);
	field->nr_values = names;
	field->values = s->numbers;
	s->numbers += names;
	s->nr_numbers -= names;
	return true;
}

static bool scan_field(struct scanner *s, struct rec_field *field)
{
	const struct number_kind *kind;
	struct rec_words word;
	bool good;

	memset(field, 0, sizeof(*field));
	if (!take_ident(s, &word) || !take(s, '('))
		return false;
	field->declared.text = word.text;
	if (words_are(&word, "array")) {
		good = scan_array(s, field);
	} else if (words_are(&word, "real")) {
		good = scan_real(s, field);
	} else if (words_are(&word, "named")) {
		good = scan_named(s, field);
	} else {
		kind = find_kind(&word);
		good = kind && take_ident(s, &field->name);
		if (good) {
			field->kind = kind->kind;
			set_element(field, kind);
		}
	}
	if (!good || !take(s, ')'))
		return false;
	field->size = field->element * field->length;
	field->declared.size = (uint32_t)(s->at - field->declared.text);
	return true;
}

/* "name, (format), field, ..." */
static bool scan_declaration(struct scanner *s, struct rec_event_info *info)
{
	uint32_t offset = sizeof(struct rec_event_common);
	struct rec_field *field;

	if (!take_ident(s, &info->name))
		return false;
	while (take(s, ',')) {
		if (!info->nr_fields && !info->format.size && take(s, '(')) {
			if (!take_argument(s, true, &info->format) || !take(s, ')'))
				return false;
			continue;
		}
		if (info->nr_fields == REC_FIELDS_MAX)
			return false;
		field = &info->fields[info->nr_fields++];
		if (!scan_field(s, field) || field->size > UINT16_MAX - offset)
			return false;
		field->offset = offset;
		offset += field->size;
	}
	skip_blanks(s);
	info->fixed_size = offset;
	return s->at == s->end;
}

/* Read a description, without checking that the fields have the stated size. */
static int scan(const struct rec_log_event *event, struct rec_event_info *info, int64_t *ret_fixed_size)
{
	const size_t room = event->record.size - sizeof(*event);
	const char *text, *end;
	struct scanner s;

	if (event->record.size < sizeof(*event) || event->nr_numbers > room / sizeof(int64_t) ||
	    event->text_size > room - event->nr_numbers * sizeof(int64_t))
		return -EBADMSG;
	memset(info, 0, sizeof(*info));
	s.numbers = (const int64_t *)(const void *)(event + 1);
	s.nr_numbers = event->nr_numbers;
	text = (const char *)(s.numbers + s.nr_numbers);

	end = memchr(text, '\0', event->text_size);
	if (!end)
		return -EBADMSG;
	s.at = text;
	s.end = end;
	if (!take_ident(&s, &info->system) || s.at != s.end)
		return -EBADMSG;

	s.at = end + 1;
	s.end = memchr(s.at, '\0', (size_t)(text + event->text_size - s.at));
	if (!s.end || !take_number(&s, 0, UINT16_MAX, ret_fixed_size) || !scan_declaration(&s, info))
		return -EBADMSG;
	return s.nr_numbers ? -EBADMSG : 0;
}

int rec_event_parse(const struct rec_log_event *event, struct rec_event_info *ret_info)
{
	struct rec_event_info info;
	int64_t fixed_size = 0;
	const int r = scan(event, &info, &fixed_size);

	/* The compiler and this scanner must agree on the size. */
	if (r < 0 || (uint32_t)fixed_size != info.fixed_size)
		return -EBADMSG;
	*ret_info = info;
	return 0;
}

int rec_event_measure(const struct rec_log_event *event, uint32_t *ret_fixed_size)
{
	struct rec_event_info info;
	int64_t fixed_size = 0;
	const int r = scan(event, &info, &fixed_size);

	if (r == 0)
		*ret_fixed_size = info.fixed_size;
	return r;
}

/* -------------------------------------------------------------------------------------------------- comparing */

struct cursor {
	const char *at;
	const char *end;
	char quote; /* the kind of quote that is open */
	bool escaped;
};

/* Numbers and text of a description whose outer form is valid. */
static bool description(const struct rec_log_event *event, const void **ret_numbers, size_t *ret_numbers_size,
			struct cursor *ret_text)
{
	const size_t size = event->record.size;

	if (size < sizeof(*event) || event->nr_numbers > (size - sizeof(*event)) / sizeof(int64_t) ||
	    event->text_size > size - sizeof(*event) - event->nr_numbers * sizeof(int64_t))
		return false;
	*ret_numbers = event + 1;
	*ret_numbers_size = event->nr_numbers * sizeof(int64_t);
	ret_text->at = (const char *)(event + 1) + *ret_numbers_size;
	ret_text->end = ret_text->at + event->text_size;
	ret_text->quote = '\0';
	ret_text->escaped = false;
	return true;
}

/*
 * The next significant character, '\0' at the end of a string, -1 after the last. Blanks outside of quotes are not
 * significant.
 */
static int next_char(struct cursor *cursor)
{
	char c;

	while (cursor->at < cursor->end) {
		c = *cursor->at++;
		if (cursor->escaped)
			cursor->escaped = false;
		else if (cursor->quote && c == '\\')
			cursor->escaped = true;
		else if (cursor->quote && c == cursor->quote)
			cursor->quote = '\0';
		else if (!cursor->quote && is_blank(c))
			continue;
		else if (!cursor->quote && (c == '"' || c == '\''))
			cursor->quote = c;
		return (unsigned char)c;
	}
	return -1;
}

bool rec_event_same(const struct rec_log_event *a, const struct rec_log_event *b)
{
	const void *numbers_a, *numbers_b;
	struct cursor cursor_a, cursor_b;
	size_t size_a, size_b;
	int c;

	if (!description(a, &numbers_a, &size_a, &cursor_a) || !description(b, &numbers_b, &size_b, &cursor_b))
		return a->record.size == b->record.size && a->record.size >= sizeof(a->record) &&
		       memcmp(&a->record + 1, &b->record + 1, a->record.size - sizeof(a->record)) == 0;
	if (size_a != size_b || memcmp(numbers_a, numbers_b, size_a) != 0)
		return false;
	do {
		c = next_char(&cursor_a);
		if (c != next_char(&cursor_b))
			return false;
	} while (c >= 0);
	return true;
}

uint32_t rec_event_hash(const struct rec_log_event *event)
{
	uint32_t hash = 2166136261u; /* FNV-1a */
	struct cursor cursor;
	const void *numbers;
	size_t size;
	int c;

	if (!description(event, &numbers, &size, &cursor))
		return 0;
	while ((c = next_char(&cursor)) >= 0)
		hash = (hash ^ (uint32_t)c) * 16777619u;
	return hash;
}
