/* SPDX-License-Identifier: MIT */
/*
 * The description of a CTF trace, in its language TSDL (https://diamon.org/ctf/v1.8.3). Names of fields get an
 * underscore in front, as is usual, because they may be keywords of the language; readers remove it.
 */
#include "format/export/ctf_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NR_IDS 65536u
#define SECOND INT64_C(1000000000)

/* ctf.c writes a packet's beginning, an event's header and its context in this form. */
static const char head[] =
	"/* CTF 1.8 */\n\n"
	"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := s32;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := real;\n\n"
	"trace {\n"
	"\tmajor = 1;\n"
	"\tminor = 8;\n"
	"\tbyte_order = le;\n"
	"\tpacket.header := struct { u32 magic; u32 stream_id; };\n"
	"};\n\n"
	"env {\n"
	"\ttracer_name = \"recorder\";\n"
	"};\n\n";

static const char stream[] =
	"typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := ts;\n\n"
	"stream {\n"
	"\tid = 0;\n"
	"\tpacket.context := struct {\n"
	"\t\tts timestamp_begin;\n"
	"\t\tts timestamp_end;\n"
	"\t\tu64 content_size;\n"
	"\t\tu64 packet_size;\n"
	"\t\tu64 events_discarded;\n"
	"\t\tu32 cpu_id;\n"
	"\t};\n"
	"\tevent.header := struct { u16 id; ts timestamp; };\n"
	"\tevent.context := struct { s32 _tid; string _procname; };\n"
	"};\n\n";

static void put_clock(struct blob *out, const struct export_trace *trace)
{
	int64_t offset = trace->has_realtime ? trace->realtime : 0;
	int64_t seconds = offset / SECOND - (offset % SECOND < 0);

	blob_printf(out,
		    "clock {\n\tname = monotonic;\n\tfreq = 1000000000;\n\toffset_s = %" PRId64 ";\n\toffset = %" PRId64
		    ";\n};\n\n",
		    seconds, offset - seconds * SECOND);
}

/* Put a string of the language. */
static void put_quoted(struct blob *out, const char *text)
{
	blob_put(out, "\"", 1);
	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			blob_printf(out, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			blob_printf(out, "\\%03o", c);
		else
			blob_put(out, text, 1);
	}
	blob_put(out, "\"", 1);
}

/*
 * Put a field's name as an identifier. To keep identifiers apart, the field's number is added if a character was
 * replaced, or if an earlier field has the same name.
 */
static void put_name(struct blob *out, const struct export_event *event, uint32_t index)
{
	const char *name = event->fields[index].name;

	blob_put(out, "_", 1);
	for (const char *at = name; *at; at++) {
		const bool is_plain = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *at);

		blob_put(out, is_plain ? at : "_", 1);
	}
	if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != strlen(name)) {
		blob_printf(out, "_%u", index);
		return;
	}
	for (uint32_t i = 0; i < index; i++) {
		if (!strcmp(event->fields[i].name, name)) {
			blob_printf(out, "_%u", index);
			return;
		}
	}
}

static void put_integer(struct blob *out, const struct export_field *field)
{
	const bool is_hex = field->tep->flags & TEP_FIELD_IS_POINTER;

	blob_printf(out, "integer { size = %u; align = 8; signed = %s;%s }", field->element * 8,
		    field->is_signed ? "true" : "false", is_hex ? " base = 16;" : "");
}

static int64_t sign_extended(uint64_t value, uint32_t size)
{
	const unsigned int unused = 64 - 8 * size;

	return (int64_t)(value << unused) >> unused;
}

static void put_enumeration(struct blob *out, const struct export_field *field)
{
	blob_printf(out, "enum : ");
	put_integer(out, field);
	blob_printf(out, " {");
	for (uint32_t i = 0; i < field->nr_symbols; i++) {
		const uint64_t value = field->symbols[i].value;

		blob_printf(out, "%s ", i ? "," : "");
		put_quoted(out, field->symbols[i].name);
		if (field->is_signed)
			blob_printf(out, " = %" PRId64, sign_extended(value, field->element));
		else
			blob_printf(out, " = %" PRIu64, value);
	}
	blob_printf(out, " }");
}

static void put_field(struct blob *out, const struct export_event *event, uint32_t index)
{
	const struct export_field *field = &event->fields[index];

	blob_printf(out, "\t\t");
	switch (field->kind) {
	case EXPORT_UNSIGNED:
	case EXPORT_SIGNED:
		if (field->nr_symbols)
			put_enumeration(out, field);
		else
			put_integer(out, field);
		break;
	case EXPORT_REAL:
		blob_printf(out, "real");
		break;
	case EXPORT_TEXT:
		blob_printf(out, "string");
		break;
	case EXPORT_ARRAY:
	case EXPORT_BYTES:
		blob_printf(out, "u32 _");
		put_name(out, event, index);
		blob_printf(out, "_length;\n\t\t");
		put_integer(out, field);
		break;
	}
	blob_printf(out, " ");
	put_name(out, event, index);
	if (field->kind == EXPORT_ARRAY || field->kind == EXPORT_BYTES) {
		blob_printf(out, "[_");
		put_name(out, event, index);
		blob_printf(out, "_length]");
	}
	blob_printf(out, ";\n");
}

static void put_event(struct blob *out, const struct export_event *event, uint32_t id)
{
	char name[256];

	snprintf(name, sizeof(name), "%s:%s", event->system, event->name);
	blob_printf(out, "event {\n\tname = ");
	put_quoted(out, name);
	blob_printf(out, ";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", id);
	if (export_has_text(event))
		blob_printf(out, "\t\tstring _text;\n");
	else
		for (uint32_t i = 0; i < event->nr_fields; i++)
			put_field(out, event, i);
	blob_printf(out, "\t};\n};\n\n");
}

int ctf_metadata(const struct export_trace *trace, const unsigned char *used, struct blob *metadata)
{
	blob_printf(metadata, "%s", head);
	put_clock(metadata, trace);
	blob_printf(metadata, "%s", stream);
	for (uint32_t id = 0; id < NR_IDS; id++) {
		const struct export_event *event = used[id] ? export_event(trace->fields, (int)id) : NULL;

		if (event)
			put_event(metadata, event, id);
	}
	return metadata->error;
}
