/* SPDX-License-Identifier: MIT */
/*
 * The blobs, and the order of the parts in a file of version 6 (trace-dat.md, parts 3 and 4). Where the format permits
 * a choice, this writer chooses:
 *
 * - The clock is always given, with text: trace-cmd 3.1.6 reads beyond an empty one.
 * - Version 6 carries no CPUCOUNT option: it breaks files whose table has another length.
 * - Version 7 has its options before the sections they point to, and no section of strings.
 * - An instance without pages is left out.
 */
#include "format/dat/dat_write_private.h"

#include <errno.h>
#include <librecorder/page.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PROLOGUE_MAGIC "\x17\x08\x44tracing"

void dat_put_option(struct blob *out, enum dat_id id, const void *data, size_t size)
{
	blob_u16(out, (uint16_t)id);
	blob_u32(out, (uint32_t)size);
	blob_put(out, data, size);
}

void dat_put_option_blob(struct blob *out, enum dat_id id, struct blob *payload)
{
	if (payload->error)
		out->error = payload->error;
	else
		dat_put_option(out, id, payload->data, payload->size);
	blob_free(payload);
}

/* ------------------------------------------------------------------------------------------------ the blobs */

/* Put the text header_page. Viewers read its numbers; each type must be a single word. */
static void put_header_page(struct blob *out, uint32_t page_size)
{
	struct blob text = BLOB_INIT;

	blob_printf(&text, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n");
	blob_printf(&text, "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n", REC_SUBBUF_HEADER_SIZE,
		    page_size - REC_SUBBUF_HEADER_SIZE);
	blob_string(out, "header_page");
	blob_u64(out, text.size);
	blob_put(out, text.data, text.size);
	if (text.error)
		out->error = text.error;
	blob_free(&text);
}

static void put_header_info(struct blob *out, const struct dat_writer *writer)
{
	const struct dat_shape *shape = &writer->shape;
	static const char header_event[] = "# the word before each event\n"
					   "\ttype_len    :    5 bits\n"
					   "\ttime_delta  :   27 bits\n"
					   "\tarray       :   32 bits\n"
					   "\n"
					   "\tpadding     : type == 29\n"
					   "\ttime_extend : type == 30\n"
					   "\ttime_stamp  : type == 31\n"
					   "\tdata max type_len  == 28\n";

	if (shape->header_page) {
		blob_string(out, "header_page");
		blob_u64(out, shape->header_page_size);
		blob_put(out, shape->header_page, shape->header_page_size);
		blob_string(out, "header_event");
		blob_u64(out, shape->header_event_size);
		blob_put(out, shape->header_event, shape->header_event_size);
		return;
	}
	put_header_page(out, writer->buffers[0].page_size);
	blob_string(out, "header_event");
	blob_u64(out, sizeof(header_event) - 1);
	blob_put(out, header_event, sizeof(header_event) - 1);
}

static bool is_ftrace(const struct write_system *system)
{
	return !strcmp(system->name, "ftrace");
}

static void put_ftrace_events(struct blob *out, const struct dat_writer *writer)
{
	size_t i;

	for (i = 0; i < writer->nr_systems; i++) {
		const struct write_system *system = &writer->systems[i];

		if (is_ftrace(system)) {
			blob_u32(out, system->nr_events);
			blob_put(out, system->events.data, system->events.size);
			return;
		}
	}
	blob_u32(out, 0);
}

static void put_event_formats(struct blob *out, const struct dat_writer *writer)
{
	const size_t count_at = out->size;
	uint32_t count = 0;
	size_t i;

	blob_u32(out, 0);
	for (i = 0; i < writer->nr_systems; i++) {
		const struct write_system *system = &writer->systems[i];

		if (is_ftrace(system))
			continue;
		blob_string(out, system->name);
		blob_u32(out, system->nr_events);
		blob_put(out, system->events.data, system->events.size);
		count++;
	}
	blob_set_u32(out, count_at, count);
}

static void put_kallsyms(struct blob *out, const struct dat_writer *writer)
{
	blob_u32(out, (uint32_t)writer->kallsyms.size);
	blob_put(out, writer->kallsyms.data, writer->kallsyms.size);
}

static void put_printk(struct blob *out, const struct dat_writer *writer)
{
	blob_u32(out, (uint32_t)writer->printk.size);
	blob_put(out, writer->printk.data, writer->printk.size);
}

static void put_cmdlines(struct blob *out, const struct dat_writer *writer)
{
	blob_u64(out, writer->cmdlines.size);
	blob_put(out, writer->cmdlines.data, writer->cmdlines.size);
}

const struct dat_blob dat_blobs[DAT_NR_BLOBS] = {
	{ DAT_HEADER_INFO, put_header_info },
	{ DAT_FTRACE_EVENTS, put_ftrace_events },
	{ DAT_EVENT_FORMATS, put_event_formats },
	{ DAT_KALLSYMS, put_kallsyms },
	{ DAT_PRINTK, put_printk },
	{ DAT_CMDLINES, put_cmdlines },
};

void dat_put_prologue(struct blob *out, const struct dat_writer *writer)
{
	const unsigned char big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != writer->swapped;
	/* The size of the commit word, not that of this program's long. */
	const unsigned char size_of_long = (unsigned char)(writer->shape.header_page ? writer->shape.long_size : 8);

	blob_put(out, PROLOGUE_MAGIC, sizeof(PROLOGUE_MAGIC) - 1);
	blob_string(out, writer->version == 7 ? "7" : "6");
	blob_put(out, &big, 1);
	blob_put(out, &size_of_long, 1);
	blob_u32(out, writer->buffers[0].page_size);
}

void dat_put_clock(struct blob *out, const char *clock)
{
	struct blob text = BLOB_INIT;

	if (!clock)
		return;
	/* "[mono]", as the kernel marks the current one in its list of clocks. */
	blob_printf(&text, "[%s]", clock);
	blob_put(&text, "", 1);
	dat_put_option_blob(out, DAT_TRACECLOCK, &text);
}

uint64_t dat_pages_after(const struct dat_writer *writer, uint64_t size)
{
	const uint64_t page = writer->buffers[0].page_size;
	const uint64_t first = (size + page - 1) & ~(page - 1);

	return first < writer->straight ? writer->straight : first;
}

bool dat_is_shown(const struct dat_writer *writer, unsigned int number)
{
	return number == 0 || dat_stored_buffer(writer, number) > 0;
}

/* -------------------------------------------------------------------------------------------------- version 6 */

/*
 * Writes the option with the place of an instance's table, which is not known yet. Returns the position of that number.
 */
static size_t put_v6_instance(struct blob *out, const char *name)
{
	struct blob payload = BLOB_SWAPPED(out->swapped);
	size_t at;

	blob_u64(&payload, 0);
	blob_string(&payload, name);
	at = out->size + sizeof(uint16_t) + sizeof(uint32_t);
	dat_put_option_blob(out, DAT_BUFFER, &payload);
	return at;
}

static void put_v6_table(struct blob *out, const struct dat_writer *writer, unsigned int number, const char *clock,
			 unsigned int nr_cpus, uint64_t *offset)
{
	unsigned int cpu;

	blob_string(out, "flyrecord");
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		blob_u64(out, *offset);
		blob_u64(out, dat_stored_size(writer, number, cpu));
		*offset += dat_stored_size(writer, number, cpu);
	}
	if (!clock)
		return;
	blob_u64(out, strlen(clock) + 2);
	blob_printf(out, "[%s]", clock);
}

/* Put the tables of all buffers, whose pages begin at `data`; then padding up to there. */
static void put_v6_tables(struct blob *out, struct dat_writer *writer, const size_t *places, const char *clock,
			  unsigned int nr_cpus, uint64_t data)
{
	unsigned int i;

	for (i = 0; i < writer->nr_buffers; i++) {
		writer->buffers[i].data = data;
		if (!dat_is_shown(writer, i))
			continue;
		if (i)
			blob_set_u64(out, places[i], out->size);
		put_v6_table(out, writer, i, clock, nr_cpus, &data);
	}
	blob_zeros(out, writer->buffers[0].data);
}

static void put_v6(struct blob *out, struct dat_writer *writer, const char *clock, unsigned int nr_cpus)
{
	const size_t table = sizeof("flyrecord") + (size_t)nr_cpus * 16 +
			     (clock ? sizeof(uint64_t) + strlen(clock) + 2 : 0);
	size_t *places = calloc(writer->nr_buffers, sizeof(*places));
	unsigned int tables = 0;
	uint64_t data;
	size_t i;

	if (!places) {
		out->error = -ENOMEM;
		return;
	}
	dat_put_prologue(out, writer);
	for (i = 0; i < DAT_NR_BLOBS; i++)
		dat_blobs[i].put(out, writer);
	blob_u32(out, nr_cpus);
	blob_string(out, "options  ");
	blob_put(out, writer->options.data, writer->options.size);
	dat_put_clock(out, clock);
	for (i = 0; i < writer->nr_buffers; i++) {
		if (i && dat_is_shown(writer, (unsigned int)i))
			places[i] = put_v6_instance(out, writer->buffers[i].name);
		tables += dat_is_shown(writer, (unsigned int)i);
	}
	blob_u16(out, DAT_DONE);
	data = dat_pages_after(writer, out->size + tables * table);
	if (!out->error)
		put_v6_tables(out, writer, places, clock, nr_cpus, data);
	free(places);
}

/* ------------------------------------------------------------------------------------------------------------- */

void dat_layout(struct blob *out, struct dat_writer *writer, const char *clock, unsigned int nr_cpus)
{
	if (writer->version == 7)
		dat_layout_v7(out, writer, clock, nr_cpus);
	else
		put_v6(out, writer, clock, nr_cpus);
}
