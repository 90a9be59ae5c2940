/* SPDX-License-Identifier: MIT */
/*
 * Print programs (format/print) compared with libtraceevent: for every event of the running kernel, with
 * libtraceevent's plugins, records of random numbers, texts and arrays have the same text, byte for byte. Some records
 * are cut or name bytes that they do not have: a program must refuse these, or print the same. It also counts the
 * events without a program.
 *
 *   kernel_print [SEED [RECORDS]]     records of each event
 */
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <trace-seq.h>
#include <unistd.h>

#include "format/print/print_program.h"
#include "format/text/event_parse.h"
#include "tests/oracle/kernel_tracefs.h"

#define RECORDS	  200u
#define TAIL_MAX  96u /* bytes after the fixed fields */
#define SHOWN_MAX 20u

/* Events without a program: fewer than 3 of 100. */
#define WITHOUT_MAX 3u

struct test {
	struct event_table *table;
	struct print_context context;
	unsigned int records;
	unsigned int checks;
	uint64_t functions[16]; /* addresses that have names */
};

static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

static void say(struct test *test, bool good, const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++test->checks, name);
}

/* ------------------------------------------------------------------------------------------------------ the formats */

static char *read_text(const char *path, size_t *ret_size)
{
	FILE *in = fopen(path, "r"), *out;
	char *text = NULL, block[4096];
	size_t n;

	*ret_size = 0;
	out = in ? open_memstream(&text, ret_size) : NULL;
	while (out && (n = fread(block, 1, sizeof(block), in)) > 0)
		fwrite(block, 1, n, out);
	if (out)
		fclose(out);
	if (in)
		fclose(in);
	return text;
}

/* "…/events/SYSTEM/EVENT/format" */
static char *system_of(const char *path)
{
	const char *end = path;

	for (unsigned int i = 0; i < 2; i++)
		end = memrchr(path, '/', i ? (size_t)(end - path) : strlen(path));
	path = (const char *)memrchr(path, '/', (size_t)(end - path)) + 1;
	return strndup(path, (size_t)(end - path));
}

static struct event_table *open_table(const char *root)
{
	struct dat_file file = { .commit_size = 8, .long_size = 8, .version = 6 };
	struct event_table *table = NULL;
	char pattern[320];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/events/*/*/format", root);
	if (glob(pattern, 0, NULL, &found))
		return NULL;
	file.formats = calloc(found.gl_pathc, sizeof(*file.formats));
	for (size_t i = 0; file.formats && i < found.gl_pathc; i++) {
		struct dat_format *format = &file.formats[file.nr_formats];

		format->text.text = read_text(found.gl_pathv[i], &format->text.size);
		if (format->text.text) {
			format->system = system_of(found.gl_pathv[i]);
			file.nr_formats++;
		}
	}
	globfree(&found);
	file.kallsyms.text = read_text("/proc/kallsyms", &file.kallsyms.size);
	snprintf(pattern, sizeof(pattern), "%s/printk_formats", root);
	file.printk.text = read_text(pattern, &file.printk.size);
	if (event_table_open(&file, 0, &table))
		table = NULL;
	for (size_t i = 0; i < file.nr_formats; i++) {
		free(file.formats[i].text.text);
		free((char *)(uintptr_t)file.formats[i].system);
	}
	free(file.formats);
	free(file.kallsyms.text);
	free(file.printk.text);
	return table;
}

/* Finds some of the kernel's functions. If the kernel hides its addresses, makes names of our own instead. */
static void find_functions(struct test *test)
{
	for (unsigned int i = 0; i < 16; i++) {
		char line[64];
		int size;

		test->functions[i] = UINT64_C(0xffffffff81000000) + (uint64_t)i * 4096;
		if (tep_find_function(test->table->tep, test->functions[i]))
			continue;
		size = snprintf(line, sizeof(line), "%" PRIx64 " t made_%u\n", test->functions[i], i);
		if (event_table_add_symbols(test->table, line, (size_t)size)) {
			fprintf(stderr, "out of memory\n");
			exit(2);
		}
	}
}

/* ------------------------------------------------------------------------------------------------------ the records */

static void put_number(unsigned char *at, uint32_t size, const struct test *test)
{
	uint64_t number = 0;

	switch (draw(6)) {
	case 0:
		number = draw(16);
		break;
	case 1:
		number = draw(1u << 16);
		break;
	case 2:
		number = UINT64_C(1) << draw(64);
		break;
	case 3:
		number = test->functions[draw(16)] + draw(64);
		break;
	case 4:
		number = (uint64_t)draw(1u << 31) << 33 ^ (uint64_t)draw(1u << 31) << 10 ^ draw(1u << 20);
		break;
	default:
		number = draw(2) ? UINT64_MAX : 0;
	}
	memcpy(at, &number, size < 8 ? size : 8);
}

static void put_text(unsigned char *at, uint32_t size)
{
	const uint32_t length = draw(size + 1);

	for (uint32_t i = 0; i < size; i++)
		at[i] = (unsigned char)(i < length ? 33 + draw(90) : 0);
}

/* An array, an address of the network, a socket. */
static void put_bytes(unsigned char *at, uint32_t size)
{
	const uint32_t zeros = draw(4);

	for (uint32_t i = 0; i < size; i++)
		at[i] = draw(4) >= zeros ? (unsigned char)draw(256) : 0;
	if (draw(2))
		at[1] = 0;
	if (draw(2))
		at[0] = draw(2) ? AF_INET : AF_INET6;
	if (size == 16 && !draw(4))
		memcpy(at, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
}

/* A dynamic field; one in 16 names bytes that the record does not have, or a text without an end. */
static void put_dynamic(unsigned char *record, uint32_t size, const struct event_type *type,
			const struct tep_format_field *field)
{
	const uint32_t room = size - type->need, offset = type->need + (room ? draw(room) : 0);
	uint32_t length = offset < size ? draw(size - offset + 1) : 0, word;

	if (field->elementsize > 1)
		length -= length % field->elementsize;
	if (draw(16) == 0)
		length += draw(64);
	else if (length)
		record[offset + length - 1] = 0;
	word = length << 16 |
	       (offset - (field->flags & TEP_FIELD_IS_RELATIVE ? (uint32_t)(field->offset + field->size) : 0));
	if (field->size == 4)
		memcpy(record + field->offset, &word, sizeof(word));
}

static void put_fields(const struct test *test, unsigned char *record, uint32_t size, const struct event_type *type)
{
	const struct tep_format_field *field;

	put_text(record + type->need, size - type->need);
	for (field = type->event->format.fields; field; field = field->next) {
		unsigned char *at = record + field->offset;

		if (field->flags & TEP_FIELD_IS_DYNAMIC)
			continue;
		if (field->flags & TEP_FIELD_IS_STRING)
			put_text(at, (uint32_t)field->size);
		else if (field->size > 8)
			put_bytes(at, (uint32_t)field->size);
		else
			put_number(at, (uint32_t)field->size, test);
	}
	for (field = type->event->format.fields; field; field = field->next)
		if (field->flags & TEP_FIELD_IS_DYNAMIC)
			put_dynamic(record, size, type, field);
}

/* --------------------------------------------------------------------------------------------------- the comparison */

struct count {
	unsigned int same, refused, unsafe, different;
};

/* The text by libtraceevent, which may read beyond the record: `room` bytes are readable from its start. */
static void print_reference(const struct test *test, unsigned char *room, uint32_t size, struct trace_seq *seq)
{
	struct tep_record record = { .data = room, .size = (int)size, .record_size = (int)size, .ref_count = 1 };

	trace_seq_reset(seq);
	tep_print_event(test->table->tep, seq, &record, "%s", TEP_PRINT_INFO);
}

static void compare(const struct test *test, const struct event_type *type, const struct print_program *program,
		    struct trace_seq *seq, struct count *count)
{
	const uint32_t size = type->need + draw(TAIL_MAX);
	const uint32_t cut = draw(32) ? 0 : draw(size < 16 ? size : 16);
	unsigned char *room = calloc(1, size + EVENT_SLACK), *exact = malloc(size - cut);
	struct print_text text = { 0 };

	if (!room || !exact)
		abort();
	put_fields(test, room, size, type);
	memcpy(room + test->table->type_offset, &type->event->id, 2);
	memcpy(exact, room, size - cut);
	if (!event_check(type, room)) {
		count->unsafe++;
	} else if (!print_program_run(program, (struct print_context *)&test->context, exact, size - cut, &text)) {
		count->refused++;
	} else {
		print_reference(test, room, size - cut, seq);
		if (text.size == seq->len && !memcmp(text.text, seq->buffer, text.size)) {
			count->same++;
		} else if (count->different++ < 1) {
			printf("# %s:%s: '%.*s' and not '%.*s'\n", type->event->system, type->event->name,
			       (int)text.size, text.text, (int)seq->len, seq->buffer);
		}
	}
	print_text_free(&text);
	free(room);
	free(exact);
}

static void compare_all(struct test *test)
{
	unsigned int without = 0, different = 0, never = 0, printed = 0;
	struct trace_seq seq;

	trace_seq_init(&seq);
	for (uint32_t i = 0; i < test->table->nr_events; i++) {
		const struct event_type *type = &test->table->all[i];
		struct print_program *program = NULL;
		struct count count = { 0 };

		if (type->event->id <= 0 || type->event->id > 65535 || print_program_compile(type->event, &program)) {
			if (without++ < 300)
				printf("# no program: %s:%s\n", type->event->system, type->event->name);
			continue;
		}
		for (unsigned int n = 0; n < test->records; n++)
			compare(test, type, program, &seq, &count);
		different += count.different;
		printed += count.same;
		/* No record had sizes that event_check() permits: events of this format are printed field by field. */
		if (!count.same && count.refused > count.unsafe && never++ < SHOWN_MAX)
			printf("# %s:%s: %u refused, %u unsafe\n", type->event->system, type->event->name,
			       count.refused, count.unsafe);
		print_program_free(program);
	}
	trace_seq_destroy(&seq);
	printf("# %u events, %u without a program; %u records with the same text\n", test->table->nr_events, without,
	       printed);
	say(test, test->table->nr_events > 100 && printed > test->records, "the kernel's events have programs");
	say(test, !different, "no program's text differs from libtraceevent's");
	say(test, !never, "every program prints some of its records");
	say(test, without * 100 < WITHOUT_MAX * test->table->nr_events, "fewer than 3 % of the events have no program");
}

int main(int argc, char **argv)
{
	struct test test = { .records = RECORDS };
	struct tracefs fs;
	char name[64];
	const char *why;

	snprintf(name, sizeof(name), "recorder-test-print-%d", (int)getpid());
	why = tracefs_open(&fs, name);
	if (why) {
		printf("1..0 # SKIP %s\n", why);
		return 0;
	}
	state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	if (argc > 2)
		test.records = (unsigned int)strtoul(argv[2], NULL, 0);
	test.table = open_table(fs.root);
	say(&test, test.table != NULL, "the kernel's formats are read");
	if (test.table) {
		find_functions(&test);
		print_context_open(&test.context, &test.table->functions);
		compare_all(&test);
		event_table_close(test.table);
	}
	say(&test, tracefs_close(&fs), "the instance is removed");
	printf("1..%u\n", test.checks);
	return 0;
}
