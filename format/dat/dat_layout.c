/* SPDX-License-Identifier: MIT */
/*
 * The order of the parts in the file: trace-dat.md, parts 3 (version 6) and 4 (version 7). Choices made where the
 * format leaves one:
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
#define NO_STRING      UINT32_MAX
#define SECTION_SIZE   16u /* of a header of version 7 */

void dat_put_option(struct blob *out, enum dat_id id, const void *data, size_t size)
{
	blob_u16(out, (uint16_t)id);
	blob_u32(out, (uint32_t)size);
	blob_put(out, data, size);
}

/* ------------------------------------------------------------------------------------------------ the blobs */

/* Viewers read its numbers; its types must be one word each. */
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
	static const char header_event[] = "# the word before each event\n"
					   "\ttype_len    :    5 bits\n"
					   "\ttime_delta  :   27 bits\n"
					   "\tarray       :   32 bits\n"
					   "\n"
					   "\tpadding     : type == 29\n"
					   "\ttime_extend : type == 30\n"
					   "\ttime_stamp  : type == 31\n"
					   "\tdata max type_len  == 28\n";

	put_header_page(out, writer->page_size);
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

/* In the order of version 6. */
static const struct {
	enum dat_id id;
	void (*put)(struct blob *out, const struct dat_writer *writer);
} sections[] = {
	{ DAT_HEADER_INFO, put_header_info },
	{ DAT_FTRACE_EVENTS, put_ftrace_events },
	{ DAT_EVENT_FORMATS, put_event_formats },
	{ DAT_KALLSYMS, put_kallsyms },
	{ DAT_PRINTK, put_printk },
	{ DAT_CMDLINES, put_cmdlines },
};

#define NR_SECTIONS (sizeof(sections) / sizeof(sections[0]))

static void put_prologue(struct blob *out, const struct dat_writer *writer)
{
	const unsigned char big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const unsigned char size_of_long = sizeof(uint64_t); /* the commit word's, whatever this program is */

	blob_put(out, PROLOGUE_MAGIC, sizeof(PROLOGUE_MAGIC) - 1);
	blob_string(out, writer->version == 7 ? "7" : "6");
	blob_put(out, &big, 1);
	blob_put(out, &size_of_long, 1);
	blob_u32(out, writer->page_size);
}

/* "[mono]", as the kernel marks the current one in its list of clocks. */
static void put_clock_option(struct blob *out, const char *clock)
{
	struct blob text = BLOB_INIT;

	blob_printf(&text, "[%s]", clock);
	blob_put(&text, "", 1);
	if (text.error)
		out->error = text.error;
	else
		dat_put_option(out, DAT_TRACECLOCK, text.data, text.size);
	blob_free(&text);
}

static uint64_t buffer_size(const struct dat_writer *writer, unsigned int number)
{
	uint64_t size = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < writer->buffers[number].nr_cpus; cpu++)
		size += dat_write_size(writer, number, cpu);
	return size;
}

/* Where pages can begin after `size` bytes; the top buffer's may be there already. */
static uint64_t pages_behind(const struct dat_writer *writer, uint64_t size)
{
	const uint64_t page = writer->page_size;
	const uint64_t first = (size + page - 1) & ~(page - 1);

	return first < writer->straight ? writer->straight : first;
}

/* Whether the file has this buffer. */
static bool is_shown(const struct dat_writer *writer, unsigned int number)
{
	return number == 0 || buffer_size(writer, number) > 0;
}

/* -------------------------------------------------------------------------------------------------- version 6 */

/* Writes where the table of an instance is. Returns the position of that number, which is not known yet. */
static size_t put_v6_instance(struct blob *out, const char *name)
{
	struct blob payload = BLOB_INIT;
	size_t at;

	blob_u64(&payload, 0);
	blob_string(&payload, name);
	at = out->size + sizeof(uint16_t) + sizeof(uint32_t);
	if (payload.error)
		out->error = payload.error;
	else
		dat_put_option(out, DAT_BUFFER, payload.data, payload.size);
	blob_free(&payload);
	return at;
}

static void put_v6_table(struct blob *out, const struct dat_writer *writer, unsigned int number, const char *clock,
			 unsigned int nr_cpus, uint64_t *offset)
{
	unsigned int cpu;

	blob_string(out, "flyrecord");
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		blob_u64(out, *offset);
		blob_u64(out, dat_write_size(writer, number, cpu));
		*offset += dat_write_size(writer, number, cpu);
	}
	blob_u64(out, strlen(clock) + 2);
	blob_printf(out, "[%s]", clock);
}

/* The tables of all buffers, with pages that begin at `data`; then padding up to there. */
static void put_v6_tables(struct blob *out, struct dat_writer *writer, const size_t *places, const char *clock,
			  unsigned int nr_cpus, uint64_t data)
{
	unsigned int i;

	for (i = 0; i < writer->nr_buffers; i++) {
		writer->buffers[i].data = data;
		if (!is_shown(writer, i))
			continue;
		if (i)
			blob_set_u64(out, places[i], out->size);
		put_v6_table(out, writer, i, clock, nr_cpus, &data);
	}
	blob_zeros(out, writer->buffers[0].data);
}

static void put_v6(struct blob *out, struct dat_writer *writer, const char *clock, unsigned int nr_cpus)
{
	const size_t table = sizeof("flyrecord") + (size_t)nr_cpus * 16 + sizeof(uint64_t) + strlen(clock) + 2;
	size_t *places = calloc(writer->nr_buffers, sizeof(*places));
	unsigned int tables = 0;
	uint64_t data;
	size_t i;

	if (!places) {
		out->error = -ENOMEM;
		return;
	}
	put_prologue(out, writer);
	for (i = 0; i < NR_SECTIONS; i++)
		sections[i].put(out, writer);
	blob_u32(out, nr_cpus);
	blob_string(out, "options  ");
	blob_put(out, writer->options.data, writer->options.size);
	put_clock_option(out, clock);
	for (i = 0; i < writer->nr_buffers; i++) {
		if (i && is_shown(writer, (unsigned int)i))
			places[i] = put_v6_instance(out, writer->buffers[i].name);
		tables += is_shown(writer, (unsigned int)i);
	}
	blob_u16(out, DAT_DONE);
	data = pages_behind(writer, out->size + tables * table);
	if (!out->error)
		put_v6_tables(out, writer, places, clock, nr_cpus, data);
	free(places);
}

/* -------------------------------------------------------------------------------------------------- version 7 */

/* Returns the position of the size, for end_section(). */
static size_t begin_section(struct blob *out, enum dat_id id)
{
	blob_u16(out, (uint16_t)id);
	blob_u16(out, 0);
	blob_u32(out, NO_STRING);
	blob_u64(out, 0);
	return out->size - sizeof(uint64_t);
}

static void end_section(struct blob *out, size_t size_at, uint64_t more)
{
	blob_set_u64(out, size_at, out->size - size_at - sizeof(uint64_t) + more);
}

/* The section of a buffer, up to its pages, which begin at `data`. */
static void put_buffer_section(struct blob *out, const struct dat_writer *writer, unsigned int number, uint64_t data)
{
	const size_t size_at = begin_section(out, DAT_BUFFER);

	blob_zeros(out, data);
	end_section(out, size_at, buffer_size(writer, number));
}

/* The option that describes a buffer, whose section is at `section` and whose pages begin at `data`. */
static void put_buffer_option(struct blob *out, const struct dat_writer *writer, unsigned int number, const char *clock,
			      uint64_t section, uint64_t data)
{
	const struct write_buffer *buffer = &writer->buffers[number];
	struct blob payload = BLOB_INIT;
	uint32_t count = 0;
	size_t count_at;
	unsigned int cpu;

	blob_u64(&payload, section);
	blob_string(&payload, buffer->name);
	blob_string(&payload, clock);
	blob_u32(&payload, writer->page_size);
	count_at = payload.size;
	blob_u32(&payload, 0);
	for (cpu = 0; cpu < buffer->nr_cpus; cpu++) {
		const uint64_t size = dat_write_size(writer, number, cpu);

		if (!size)
			continue;
		blob_u32(&payload, cpu);
		blob_u64(&payload, data);
		blob_u64(&payload, size);
		data += size;
		count++;
	}
	blob_set_u32(&payload, count_at, count);
	if (payload.error)
		out->error = payload.error;
	else
		dat_put_option(out, DAT_BUFFER, payload.data, payload.size);
	blob_free(&payload);
}

/*
 * The options of all buffers; the top one's section is at `section`. Those of
 * instances take a page before their pages.
 */
static void put_buffer_options(struct blob *out, struct dat_writer *writer, const char *clock, uint64_t section)
{
	uint64_t data = pages_behind(writer, section + SECTION_SIZE);
	unsigned int i;

	for (i = 0; i < writer->nr_buffers; i++) {
		if (!is_shown(writer, i))
			continue;
		if (i) {
			section = data;
			data += writer->page_size;
		}
		writer->buffers[i].data = data;
		put_buffer_option(out, writer, i, clock, section, data);
		data += buffer_size(writer, i);
	}
}

static void put_v7_options(struct blob *out, struct dat_writer *writer, const char *clock, unsigned int nr_cpus,
			   const uint64_t *places, uint64_t buffer)
{
	const size_t size_at = begin_section(out, DAT_DONE);
	const uint64_t zero = 0;
	size_t i;

	for (i = 0; i < NR_SECTIONS; i++)
		dat_put_option(out, sections[i].id, &places[i], sizeof(places[i]));
	blob_put(out, writer->options.data, writer->options.size);
	dat_put_option(out, DAT_CPUCOUNT, &(uint32_t){ nr_cpus }, sizeof(uint32_t));
	put_clock_option(out, clock);
	put_buffer_options(out, writer, clock, buffer);
	dat_put_option(out, DAT_DONE, &zero, sizeof(zero));
	end_section(out, size_at, 0);
}

static void put_v7(struct blob *out, struct dat_writer *writer, const char *clock, unsigned int nr_cpus)
{
	uint64_t places[NR_SECTIONS] = { 0 };
	struct blob body = BLOB_INIT;
	size_t start, size_at, i;

	put_prologue(out, writer);
	blob_string(out, "none");
	blob_string(out, "");
	blob_u64(out, out->size + sizeof(uint64_t)); /* the options follow */

	/* They are put twice: only after the first time are the positions of the sections after them known. */
	start = out->size;
	put_v7_options(out, writer, clock, nr_cpus, places, 0);
	for (i = 0; i < NR_SECTIONS; i++) {
		places[i] = out->size + body.size;
		size_at = begin_section(&body, sections[i].id);
		sections[i].put(&body, writer);
		end_section(&body, size_at, 0);
	}
	out->size = start;
	put_v7_options(out, writer, clock, nr_cpus, places, places[0] + body.size);
	blob_put(out, body.data, body.size);
	if (body.error)
		out->error = body.error;
	blob_free(&body);
	put_buffer_section(out, writer, 0, writer->buffers[0].data);
}

/* ------------------------------------------------------------------------------------------------------------- */

void dat_layout(struct blob *out, struct dat_writer *writer, const char *clock, unsigned int nr_cpus)
{
	if (writer->version == 7)
		put_v7(out, writer, clock, nr_cpus);
	else
		put_v6(out, writer, clock, nr_cpus);
}

int dat_layout_sections(const struct dat_writer *writer)
{
	struct blob head = BLOB_INIT;
	unsigned int i;
	int err = 0;

	for (i = 1; i < writer->nr_buffers && writer->version == 7 && !err; i++) {
		if (!is_shown(writer, i))
			continue;
		head.size = 0;
		put_buffer_section(&head, writer, i, writer->page_size);
		err = head.error;
		if (!err)
			err = out_write_at(writer->file.fd, head.data, head.size, writer->buffers[i].data - head.size);
	}
	blob_free(&head);
	return err;
}
