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
	uint32_t nr_numbers;	/* number of constants that are left */
	enum rec_event_meaning meaning;
	uint32_t offset; /* offset of the next field */
};

/* The word before the name, with a colon, is the event's meaning. */
static const struct meaning_word {
	const char *word;
	enum rec_event_meaning meaning;
} meaning_words[] = {
	{ "begin", REC_MEANS_BEGIN },	  { "end", REC_MEANS_END },	{ "timed", REC_MEANS_TIMED },
	{ "counter", REC_MEANS_COUNTER }, { "state", REC_MEANS_STATE }, { "task", REC_MEANS_TASK },
};

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

/* Skip a string or character constant; s->at is at its opening quote. */
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

/* Take everything up to a comma or closing parenthesis of this level, without blanks at both ends. */
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
	{ "flow", REC_FIELD_UNSIGNED, 8 },  { "f32", REC_FIELD_FLOAT, 4 },  { "f64", REC_FIELD_FLOAT, 8 },
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

	return kind && kind->kind <= REC_FIELD_HEX && !words_are(name, "flow") ? kind : NULL;
}

static void set_element(struct rec_field *field, const struct number_kind *kind)
{
	field->element = kind->size;
	field->length = 1;
	field->is_signed = kind->kind == REC_FIELD_SIGNED || kind->kind == REC_FIELD_FLOAT;
	field->is_hex = kind->kind == REC_FIELD_HEX;
}

/* Scan array(TYPE, name, LENGTH), from after the opening parenthesis. */
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

/* Scan real(name, DECIMALS). */
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

/* Scan named([TYPE,] name, VALUE...). */
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

/* Scan one field, from after its kind and the opening parenthesis. */
static bool scan_field(struct scanner *s, const struct rec_words *word, struct rec_field *field)
{
	const struct number_kind *kind;
	bool good;

	memset(field, 0, sizeof(*field));
	field->declared.text = word->text;
	if (words_are(word, "array")) {
		good = scan_array(s, field);
	} else if (words_are(word, "real")) {
		good = scan_real(s, field);
	} else if (words_are(word, "named")) {
		good = scan_named(s, field);
	} else {
		kind = find_kind(word);
		good = kind && take_ident(s, &field->name);
		if (good) {
			field->kind = kind->kind;
			set_element(field, kind);
			field->meaning = words_are(word, "flow") ? REC_FIELD_FLOW : REC_FIELD_PLAIN;
		}
	}
	if (!good || !take(s, ')'))
		return false;
	field->size = field->element * field->length;
	field->declared.size = (uint32_t)(s->at - field->declared.text);
	return true;
}

static bool add_field(struct scanner *s, struct rec_event_info *info, const struct rec_field *field)
{
	if (info->nr_fields == REC_FIELDS_MAX || field->size > UINT16_MAX - s->offset)
		return false;
	info->fields[info->nr_fields] = *field;
	info->fields[info->nr_fields++].offset = s->offset;
	s->offset += field->size;
	return true;
}

/* Whether the field can be compared and shown as one whole number. */
static bool is_whole(const struct rec_field *field)
{
	return field->kind <= REC_FIELD_FLAG || field->kind == REC_FIELD_NAMED;
}

/*
 * Scan the fields in key(...) or end(...), up to the closing parenthesis. Either all of them are part of the event, or
 * none.
 */
static bool scan_group(struct scanner *s, struct rec_event_info *info, bool is_key, bool is_part)
{
	uint32_t nr = 0;

	do {
		struct rec_field field;
		struct rec_words word;

		if (!take_ident(s, &word) || !take(s, '(') || !scan_field(s, &word, &field))
			return false;
		if (is_key && (!is_whole(&field) || field.meaning || ++nr > REC_KEYS_MAX))
			return false;
		if (is_key)
			field.meaning = REC_FIELD_KEY;
		if (is_part && !add_field(s, info, &field))
			return false;
	} while (take(s, ','));
	return take(s, ')');
}

/* Set the meaning of the first field after the key, in an event of this meaning. */
static bool set_value(const struct scanner *s, struct rec_field *field)
{
	if (s->meaning >= REC_MEANS_COUNTER && field->meaning)
		return false;
	if (s->meaning == REC_MEANS_COUNTER)
		field->meaning = REC_FIELD_COUNTER;
	else if (s->meaning == REC_MEANS_STATE)
		field->meaning = REC_FIELD_STATE;
	else if (s->meaning == REC_MEANS_TASK)
		field->meaning = REC_FIELD_TASK;
	else
		return true;
	return is_whole(field) && field->kind != REC_FIELD_POINTER &&
	       (field->kind != REC_FIELD_NAMED || s->meaning == REC_MEANS_STATE);
}

/* Scan all remaining fields; a comma comes before each. */
static bool scan_fields(struct scanner *s, struct rec_event_info *info)
{
	const bool is_span = s->meaning == REC_MEANS_BEGIN || s->meaning == REC_MEANS_END;
	bool first = true, has_value = false, has_end = false;

	for (; take(s, ','); first = false) {
		struct rec_field field;
		struct rec_words word;

		if (first && !s->meaning && take(s, '(')) {
			if (!take_argument(s, true, &info->format) || !take(s, ')'))
				return false;
			continue;
		}
		if (has_end || !take_ident(s, &word) || !take(s, '('))
			return false;
		if (words_are(&word, "key")) {
			if (!first || (!is_span && s->meaning != REC_MEANS_STATE) || !scan_group(s, info, true, true))
				return false;
		} else if (words_are(&word, "end")) {
			has_end = true;
			if (!is_span || !scan_group(s, info, false, s->meaning == REC_MEANS_END))
				return false;
		} else if (!scan_field(s, &word, &field) || (!has_value && !set_value(s, &field)) ||
			   (s->meaning != REC_MEANS_END && !add_field(s, info, &field))) {
			return false;
		} else {
			has_value = true;
		}
	}
	return has_value || s->meaning < REC_MEANS_COUNTER;
}

/* Reads "WORD:" before the name. A timed event begins with the field `dur`. */
static bool scan_meaning(struct scanner *s, struct rec_event_info *info)
{
	static const struct rec_field duration = {
		.kind = REC_FIELD_UNSIGNED,
		.name = { "dur", 3 },
		.declared = { "u64(dur)", 8 },
		.size = 8,
		.element = 8,
		.length = 1,
		.meaning = REC_FIELD_DURATION,
	};
	const char *const start = s->at;
	struct rec_words word;

	if (!take_ident(s, &word) || s->at == s->end || *s->at != ':') {
		s->at = start;
		return true;
	}
	s->at++;
	for (size_t i = 0; i < sizeof(meaning_words) / sizeof(meaning_words[0]); i++)
		if (words_are(&word, meaning_words[i].word))
			s->meaning = meaning_words[i].meaning;
	return s->meaning && (s->meaning != REC_MEANS_TIMED || add_field(s, info, &duration));
}

/* Scan "_request_begin,request": the name of one part of a span, then that of the span. */
static bool scan_part(struct scanner *s, struct rec_event_info *info)
{
	const struct rec_words tail = s->meaning == REC_MEANS_BEGIN ? (struct rec_words){ "_begin", 6 } :
								      (struct rec_words){ "_end", 4 };
	struct rec_words part, span;

	if (!take_ident(s, &part) || !take(s, ',') || !take_ident(s, &span) || part.size != 1 + span.size + tail.size)
		return false;
	info->name = (struct rec_words){ part.text + 1, part.size - 1 };
	return part.text[0] == '_' && memcmp(info->name.text, span.text, span.size) == 0 &&
	       memcmp(info->name.text + span.size, tail.text, tail.size) == 0;
}

/* Scan "name, (format), field, ..." */
static bool scan_declaration(struct scanner *s, struct rec_event_info *info)
{
	s->offset = sizeof(struct rec_event_common);
	if (!scan_meaning(s, info))
		return false;
	if (s->meaning == REC_MEANS_BEGIN || s->meaning == REC_MEANS_END) {
		if (!scan_part(s, info))
			return false;
	} else if (!take_ident(s, &info->name)) {
		return false;
	}
	if (!scan_fields(s, info))
		return false;
	skip_blanks(s);
	info->fixed_size = s->offset;
	return s->at == s->end;
}

/* Read a description, without checking that the fields have the stated size. */
static int scan(const struct rec_log_event *event, struct scanner *s, struct rec_event_info *info,
		int64_t *ret_fixed_size)
{
	const size_t room = event->record.size - sizeof(*event);
	const char *text, *end;

	if (event->record.size < sizeof(*event) || event->nr_numbers > room / sizeof(int64_t) ||
	    event->text_size > room - event->nr_numbers * sizeof(int64_t))
		return -EBADMSG;
	memset(info, 0, sizeof(*info));
	s->meaning = REC_MEANS_EVENT;
	s->offset = 0;
	s->numbers = (const int64_t *)(const void *)(event + 1);
	s->nr_numbers = event->nr_numbers;
	text = (const char *)(s->numbers + s->nr_numbers);

	end = memchr(text, '\0', event->text_size);
	if (!end)
		return -EBADMSG;
	s->at = text;
	s->end = end;
	if (!take_ident(s, &info->system) || s->at != s->end)
		return -EBADMSG;

	s->at = end + 1;
	s->end = memchr(s->at, '\0', (size_t)(text + event->text_size - s->at));
	if (!s->end || !take_number(s, 0, UINT16_MAX, ret_fixed_size) || !scan_declaration(s, info))
		return -EBADMSG;
	return s->nr_numbers ? -EBADMSG : 0;
}

int rec_event_parse(const struct rec_log_event *event, struct rec_event_info *ret_info)
{
	struct rec_event_info info;
	struct scanner s;
	int64_t fixed_size = 0;
	const int r = scan(event, &s, &info, &fixed_size);

	/* The compiler and this scanner must agree on the size. */
	if (r < 0 || (uint32_t)fixed_size != info.fixed_size)
		return -EBADMSG;
	*ret_info = info;
	return 0;
}

int rec_event_measure(const struct rec_log_event *event, uint32_t *ret_fixed_size)
{
	struct rec_event_info info;
	struct scanner s;
	int64_t fixed_size = 0;
	const int r = scan(event, &s, &info, &fixed_size);

	if (r == 0)
		*ret_fixed_size = info.fixed_size;
	return r;
}

int rec_event_meaning(const struct rec_log_event *event)
{
	struct rec_event_info info;
	struct scanner s;
	int64_t fixed_size = 0;
	const int r = scan(event, &s, &info, &fixed_size);

	return r < 0 ? r : (int)s.meaning;
}
