/* SPDX-License-Identifier: MIT */
/*
 * A target of libfuzzer.sh: records of any bytes, printed by the compiled formats of a trace.dat. A program reads only
 * the record, and prints the same text as libtraceevent.
 *
 * An input: the number of the event, then its record. FUZZ_FILE names the trace.dat with the formats.
 */
#include "format/dat/dat_compress.h"
#include "format/dat/dat_read.h"
#include "format/print/print_program.h"
#include "format/text/event_parse.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace-seq.h>

#define RECORD_MAX 2048u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct event_table *table;
static struct print_program **programs; /* NULL: only libtraceevent prints the event */
static struct print_context context;
static struct trace_seq seq;

static void check(bool fine)
{
	if (!fine)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *path = getenv("FUZZ_FILE");
	struct dat_error error;
	struct dat_file *file;

	(void)argc;
	(void)argv;
	check(path && dat_open_rest(path, dat_compress_zstd(), &file, &error) == 0);
	check(event_table_open(file, EVENT_NO_PLUGINS, &table) == 0 && table->nr_events);
	dat_close(file);
	programs = calloc(table->nr_events, sizeof(*programs));
	check(programs != NULL);
	for (uint32_t i = 0; i < table->nr_events; i++)
		if (print_program_compile(table->all[i].event, &programs[i]))
			programs[i] = NULL;
	print_context_open(&context, &table->functions);
	trace_seq_init(&seq);
	return 0;
}

/* libtraceevent may read beyond the record, and write to it. */
static void compare(unsigned char *room, size_t size, const struct print_text *text)
{
	struct tep_record record = { .data = room, .size = (int)size, .record_size = (int)size, .ref_count = 1 };

	trace_seq_reset(&seq);
	tep_print_event(table->tep, &seq, &record, "%s", TEP_PRINT_INFO);
	if (text->size == seq.len && !memcmp(text->text, seq.buffer, text->size))
		return;
	fprintf(stderr, "'%.*s', and libtraceevent: '%.*s'\n", (int)text->size, text->text, (int)seq.len, seq.buffer);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct event_type *type;
	struct print_text text = { 0 };
	unsigned char *exact, *room;
	uint32_t i;

	if (!size)
		return 0;
	i = data[0] % table->nr_events;
	type = &table->all[i];
	data++;
	size = size - 1 < RECORD_MAX ? size - 1 : RECORD_MAX;
	if (size < 8 || size < type->need || !programs[i])
		return 0;
	room = calloc(1, size + EVENT_SLACK);
	exact = malloc(size);
	check(room && exact);
	memcpy(room, data, size);
	memcpy(room + table->type_offset, &type->event->id, 2);
	memcpy(exact, room, size);
	if (event_check(type, room) &&
	    print_program_run(programs[i], &context, exact, (uint32_t)size, &text))
		compare(room, size, &text);
	print_text_free(&text);
	free(exact);
	free(room);
	return 0;
}
