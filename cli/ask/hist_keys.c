/* SPDX-License-Identifier: MIT */
/*
 * See hist_keys.h. A key consists of parts. Each part is a kind and eight bytes: a number, or the length of the text
 * after them.
 */
#include "cli/ask/hist_keys.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/opts.h"
#include "cli/report/report_field.h"
#include "format/io/json.h"
#include "format/text/event_float.h"
#include "format/text/syscall_names.h"

#define COMMAND "hist"
#define IDS	65536

/* PART_FLOAT: a double that has the precision of a float. */
enum part_kind { PART_UNSIGNED, PART_SIGNED, PART_FLOAT, PART_DOUBLE, PART_TEXT };

struct part {
	uint64_t number; /* of a float or double: its bits; of a text: its length */
	unsigned char kind;
};

#define PART_SIZE 9u

/* ---------------------------------------------------------------------------------------------------------- opening */

static const struct {
	const char *suffix;
	enum hist_form form;
} forms[] = {
	{ ".hex", HIST_HEX }, { ".log2", HIST_LOG2 },	    { ".execname", HIST_EXECNAME },
	{ ".sym", HIST_SYM }, { ".syscall", HIST_SYSCALL },
};

static const struct {
	const char *name;
	enum hist_source source;
} sources[] = {
	{ "common_pid", HIST_PID }, { "pid", HIST_PID },   { "common_cpu", HIST_CPU },
	{ "cpu", HIST_CPU },	    { "comm", HIST_COMM }, { "event", HIST_EVENT },
};

static enum hist_source source_named(const char *name)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (!strcmp(sources[i].name, name))
			return sources[i].source;
	return HIST_FIELD;
}

/* Parse "name.suffix". 0 or the exit status. */
static int read_key(const char *text, size_t size, struct hist_key *key)
{
	char *dot;

	key->name = strndup(text, size);
	if (!key->name) {
		complain(COMMAND, "not enough memory");
		return EXIT_FAILURE;
	}
	dot = strchr(key->name, '.');
	for (size_t i = 0; dot && i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(dot, forms[i].suffix) != 0)
			continue;
		key->form = forms[i].form;
		*dot = '\0';
		return 0;
	}
	if (dot) {
		complain(COMMAND, "-k %s: unknown suffix '%s'; .hex, .log2, .execname, .sym or .syscall expected",
			 key->name, dot);
		return EXIT_USAGE;
	}
	return 0;
}

static int read_keys(const char *text, struct hist_keys *keys)
{
	int status = 0;

	while (!status) {
		const size_t size = strcspn(text, ",");

		if (!size) {
			complain(COMMAND, "-k: names of fields, separated by commas, expected");
			return EXIT_USAGE;
		}
		if (keys->nr == HIST_KEYS_MAX) {
			complain(COMMAND, "-k: more than %u fields", HIST_KEYS_MAX);
			return EXIT_USAGE;
		}
		status = read_key(text, size, &keys->keys[keys->nr++]);
		if (!text[size])
			break;
		text += size + 1;
	}
	return status;
}

static const struct export_field *field_named(const struct export_event *event, const char *name)
{
	for (uint32_t i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->fields[i].name, name))
			return &event->fields[i];
	return NULL;
}

/* 0; -ENOMEM. */
static int find_fields(struct hist_keys *keys, int id, const char *value)
{
	const struct export_event *event = export_event(keys->fields, id);
	struct hist_event *found = calloc(1, sizeof(*found));

	if (!found)
		return -ENOMEM;
	keys->events[id] = found;
	found->event = event;
	for (unsigned int i = 0; i < keys->nr; i++)
		found->keys[i] = field_named(event, keys->keys[i].name);
	found->value = value ? field_named(event, value) : NULL;
	return 0;
}

/* What prevents events from being counted by a field; NULL: nothing. */
static const char *unfit_key(const struct export_field *field, const struct hist_key *key)
{
	if (field->kind == EXPORT_ARRAY || field->kind == EXPORT_BYTES)
		return "it is neither a number nor a text";
	if (field->kind == EXPORT_REAL && key->form != HIST_PLAIN)
		return "it has decimals; only whole numbers take a suffix";
	return NULL;
}

/*
 * Check a key in all events that have a field of its name. There must be at least one, unless every event has something
 * of this name. 0 or the exit status.
 */
static int check_key(const struct hist_keys *keys, unsigned int which)
{
	const struct hist_key *key = &keys->keys[which];
	bool is_found = key->source != HIST_FIELD;

	for (int id = 0; id < IDS; id++) {
		const struct hist_event *found = keys->events[id];
		const char *unfit = found && found->keys[which] ? unfit_key(found->keys[which], key) : NULL;

		if (unfit) {
			complain(COMMAND, "-k %s: in %s:%s %s", key->name, found->event->system, found->event->name,
				 unfit);
			return EXIT_FAILURE;
		}
		is_found |= found && found->keys[which];
	}
	if (is_found)
		return 0;
	complain(COMMAND, "-k: none of these events has a field '%s'", key->name);
	return EXIT_FAILURE;
}

/* Whether the field's values can be added up, or counted in a histogram. False: one line was printed. */
static bool value_fits(const struct hist_event *found, const char *path, bool adds_up)
{
	const char *system = found->event->system, *event = found->event->name, *value = found->value->name;
	char scale[32] = "";

	if (found->value->kind > EXPORT_REAL) {
		complain(COMMAND, "-v %s: in %s:%s it is not a number", value, system, event);
		return false;
	}
	if (found->value->kind != EXPORT_REAL || adds_up)
		return true;
	/* For SQL such a field is the whole number that is in the record. */
	if (found->value->scale > 0)
		snprintf(scale, sizeof(scale), " / %.1f", found->value->scale);
	complain(COMMAND,
		 "-v %s: in %s:%s it has decimals, and can only be added up (-k); for its distribution: "
		 "recorder sql %s \"SELECT min(%s)%s, avg(%s)%s, max(%s)%s FROM %s\"",
		 value, system, event, path, value, scale, value, scale, value, scale, event);
	return false;
}

static int check_value(const struct hist_keys *keys, const char *value, const char *path, bool adds_up)
{
	bool is_found = false;

	for (int id = 0; id < IDS; id++) {
		const struct hist_event *found = keys->events[id];

		if (!found || !found->value)
			continue;
		if (!value_fits(found, path, adds_up))
			return EXIT_FAILURE;
		is_found = true;
	}
	if (is_found)
		return 0;
	complain(COMMAND, "-v: none of these events has a field '%s'", value);
	return EXIT_FAILURE;
}

int hist_keys_open(const struct trace_input *input, const struct report_filter *filter, const char *text,
		   const char *value, struct hist_keys *ret_keys)
{
	struct hist_keys *keys = ret_keys;
	int status = 0, err;

	*keys = (struct hist_keys){ .table = input->table, .events = calloc(IDS, sizeof(struct hist_event *)) };
	err = keys->events ? export_fields_open(input->table, input->file->big, &keys->fields) : -ENOMEM;
	if (!err)
		status = read_keys(text ? text : "event", keys);
	for (int id = 0; !err && !status && id < IDS; id++)
		if (report_filter_names(filter, id) && export_event(keys->fields, id))
			err = find_fields(keys, id, value);
	if (err)
		return trace_input_fail_memory(input);
	for (unsigned int i = 0; !status && i < keys->nr; i++) {
		keys->keys[i].source = source_named(keys->keys[i].name);
		status = check_key(keys, i);
	}
	return status || !value ? status : check_value(keys, value, input->path, text != NULL);
}

void hist_keys_close(struct hist_keys *keys)
{
	for (unsigned int i = 0; i < keys->nr; i++)
		free(keys->keys[i].name);
	for (int id = 0; keys->events && id < IDS; id++)
		free(keys->events[id]);
	free(keys->events);
	export_fields_close(keys->fields);
}

/* ----------------------------------------------------------------------------------------------------------- events */

/* Equal numbers are equal keys, whatever the types of the fields. */
static void put_number(struct blob *key, uint64_t number, bool is_signed)
{
	const unsigned char kind = is_signed && number > INT64_MAX ? PART_SIGNED : PART_UNSIGNED;

	blob_put(key, &kind, 1);
	blob_put(key, &number, sizeof(number));
}

/* Zero and its negative are equal, and so are all NaN. */
static void put_real(struct blob *key, double number, bool is_float)
{
	const unsigned char kind = is_float ? PART_FLOAT : PART_DOUBLE;
	const double same = isnan(number) ? (double)NAN : number + 0.0;

	blob_put(key, &kind, 1);
	blob_put(key, &same, sizeof(same));
}

static void put_text(struct blob *key, const char *text, size_t size)
{
	const unsigned char kind = PART_TEXT;
	const uint64_t length = size;

	blob_put(key, &kind, 1);
	blob_put(key, &length, sizeof(length));
	blob_put(key, text, size);
}

/* The exponent of the next power of two. */
static uint64_t log2_of(uint64_t number)
{
	return number <= 1 ? 0 : 64u - (unsigned int)__builtin_clzll(number - 1);
}

static void put_in_form(const struct hist_key *key, uint64_t number, bool is_signed, struct blob *out)
{
	if (key->form == HIST_LOG2)
		put_number(out, log2_of(number), false);
	else
		put_number(out, number, is_signed);
}

static bool put_field(const struct hist_key *key, const struct export_field *field, const struct dat_event *event,
		      struct blob *out)
{
	struct export_value value;

	if (!export_value(field, event->data, event->size, &value))
		return false;
	if (value.kind == EXPORT_TEXT)
		put_text(out, (const char *)value.data, value.size);
	else if (value.kind == EXPORT_REAL)
		put_real(out, value.real, field->element == sizeof(float));
	else if (value.symbol && key->form == HIST_PLAIN)
		put_text(out, value.symbol, strlen(value.symbol));
	else
		put_in_form(key, value.u, field->is_signed, out);
	return true;
}

static void put_event_name(const struct export_event *event, struct blob *out)
{
	const size_t system = strlen(event->system), name = strlen(event->name);
	char text[512];

	snprintf(text, sizeof(text), "%s:%s", event->system, event->name);
	put_text(out, text, system + name + 1 < sizeof(text) ? system + name + 1 : sizeof(text) - 1);
}

static bool put_part(const struct hist_keys *keys, unsigned int i, const struct hist_event *found,
		     const struct dat_event *event, struct blob *out)
{
	const struct hist_key *key = &keys->keys[i];
	const char *comm;
	int tid;

	if (found->keys[i])
		return put_field(key, found->keys[i], event, out);
	tid = event_pid(keys->table, event->data, event->size);
	switch (key->source) {
	case HIST_PID:
		put_in_form(key, (uint64_t)(int64_t)tid, true, out);
		return true;
	case HIST_CPU:
		put_in_form(key, event->cpu, false, out);
		return true;
	case HIST_COMM:
		comm = event_comm_shown(keys->table, tid);
		put_text(out, comm, strlen(comm));
		return true;
	case HIST_EVENT:
		put_event_name(found->event, out);
		return true;
	default:
		return false;
	}
}

static const struct hist_event *event_of(const struct hist_keys *keys, const struct dat_event *event)
{
	const int id = event_id(keys->table, event->data, event->size);

	return id >= 0 && id < IDS ? keys->events[id] : NULL;
}

bool hist_key_of(const struct hist_keys *keys, const struct dat_event *event, struct blob *ret_key)
{
	const struct hist_event *found = event_of(keys, event);

	ret_key->size = 0;
	for (unsigned int i = 0; found && i < keys->nr; i++)
		if (!put_part(keys, i, found, event, ret_key))
			return false;
	return found != NULL;
}

bool hist_value_of(const struct hist_keys *keys, const struct dat_event *event, struct hist_value *ret_value)
{
	const struct hist_event *found = event_of(keys, event);
	struct export_value value;

	if (!found || !found->value || !export_value(found->value, event->data, event->size, &value))
		return false;
	*ret_value = (struct hist_value){ .has_decimals = value.kind == EXPORT_REAL };
	if (ret_value->has_decimals)
		ret_value->real = value.real;
	else
		ret_value->whole = found->value->is_signed ? (__int128)value.s : (__int128)value.u;
	return true;
}

/* ------------------------------------------------------------------------------------------------------------- text */

/* Read the next part of a key; *text is the text of a PART_TEXT. */
static struct part next_part(const unsigned char **at, const char **text)
{
	struct part part = { .kind = **at };

	memcpy(&part.number, *at + 1, sizeof(part.number));
	*text = (const char *)*at + PART_SIZE;
	*at += PART_SIZE + (part.kind == PART_TEXT ? part.number : 0);
	return part;
}

/* The shortest text that reads back as the number. */
static void real_text(const struct part *part, double *ret_number, char text[EVENT_FLOAT_TEXT])
{
	memcpy(ret_number, &part->number, sizeof(*ret_number));
	event_float_text(*ret_number, part->kind == PART_FLOAT ? sizeof(float) : sizeof(double), text);
}

static void put_name(struct blob *out, const char *text, size_t size, size_t width)
{
	blob_put(out, text, size);
	for (; size < width; size++)
		blob_put(out, " ", 1);
}

static void put_shown(const struct hist_keys *keys, enum hist_form form, const struct part *part, const char *text,
		      struct blob *out)
{
	const char *name = NULL;
	char real[EVENT_FLOAT_TEXT];
	double number;

	if (part->kind == PART_TEXT) {
		put_name(out, text, part->number, 50);
	} else if (part->kind == PART_FLOAT || part->kind == PART_DOUBLE) {
		real_text(part, &number, real);
		blob_printf(out, "%10s", real);
	} else if (form == HIST_HEX) {
		blob_printf(out, "%" PRIx64, part->number);
	} else if (form == HIST_LOG2) {
		blob_printf(out, "~ 2^%-2" PRIu64, part->number);
	} else if (form == HIST_EXECNAME) {
		name = event_comm_shown(keys->table, (int32_t)part->number);
		blob_printf(out, "%-16s[%10" PRIu64 "]", name, part->number);
	} else if (form == HIST_SYM) {
		name = tep_find_function(keys->table->tep, part->number);
		blob_printf(out, "[%" PRIx64 "] %-45s", part->number, name ? name : "");
	} else if (form == HIST_SYSCALL) {
		name = syscall_name((int64_t)part->number);
		blob_printf(out, "sys_%-26s[%3" PRIu64 "]", name ? name : "unknown", part->number);
	} else if (part->kind == PART_SIGNED) {
		blob_printf(out, "%10" PRId64, (int64_t)part->number);
	} else {
		blob_printf(out, "%10" PRIu64, part->number);
	}
}

void hist_key_put_text(const struct hist_keys *keys, const void *key, struct blob *out)
{
	const unsigned char *at = key;
	const char *text;

	for (unsigned int i = 0; i < keys->nr; i++) {
		const struct part part = next_part(&at, &text);

		blob_printf(out, "%s%s: ", i ? ", " : "{ ", keys->keys[i].name);
		put_shown(keys, keys->keys[i].form, &part, text, out);
	}
	blob_put(out, " }", 2);
}

void hist_key_put_json(const struct hist_keys *keys, const void *key, struct blob *out)
{
	const unsigned char *at = key;
	char real[EVENT_FLOAT_TEXT];
	const char *text;
	double number;

	for (unsigned int i = 0; i < keys->nr; i++) {
		const struct part part = next_part(&at, &text);

		blob_put(out, i ? "," : "", i != 0);
		json_string(out, keys->keys[i].name, strlen(keys->keys[i].name));
		blob_put(out, ":", 1);
		if (part.kind == PART_TEXT) {
			json_string(out, text, part.number);
		} else if (part.kind == PART_FLOAT || part.kind == PART_DOUBLE) {
			real_text(&part, &number, real);
			blob_printf(out, "%s", isfinite(number) ? real : "null");
		} else if (part.kind == PART_SIGNED) {
			blob_printf(out, "%" PRId64, (int64_t)part.number);
		} else {
			blob_printf(out, "%" PRIu64, part.number);
		}
	}
}
