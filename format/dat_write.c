/* SPDX-License-Identifier: MIT */
/*
 * The file is one piece of metadata, made in memory, then the pages of each CPU, aligned. What stands where:
 * trace-dat.md, parts 3 (version 6) and 4 (version 7). Choices made where the format leaves one:
 *
 * - The clock is always said, with text: trace-cmd 3.1.6 reads beyond an empty one.
 * - Version 6 carries no CPUCOUNT option: it breaks files whose table has another length.
 * - Version 7 has its options in front of the sections they point to, and no section of strings.
 */
#include "format/dat_write.h"
#include "format/blob.h"
#include "format/out_file.h"
#include "format/page_store.h"

#include <errno.h>
#include <librecorder/abi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PROLOGUE_MAGIC	    "\x17\x08\x44tracing"
#define NO_STRING	    UINT32_MAX

struct write_system {
	char *name;
	uint32_t nr_events;
	struct blob events; /* { u64 size, text }... */
};

struct dat_writer {
	struct out_file file;
	struct page_store *store;
	unsigned int version;
	uint32_t page_size;
	struct write_system *systems;
	size_t nr_systems;
	struct blob options; /* { u16 id, u32 size, payload }... */
	struct blob kallsyms, printk, cmdlines;
};

int dat_write_open(const char *path, unsigned int version, uint32_t page_size, unsigned int cpus,
		   struct dat_writer **ret_writer)
{
	struct dat_writer *writer;
	int err;

	if (version != 6 && version != 7)
		return -EINVAL;
	if (page_size < REC_SUBBUF_MIN || page_size > REC_SUBBUF_MAX || (page_size & (page_size - 1)))
		return -EINVAL;
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return -ENOMEM;
	writer->version = version;
	writer->page_size = page_size;
	writer->file.fd = -1;
	err = out_file_open(path, &writer->file);
	if (!err)
		err = page_store_open(writer->file.target, page_size, cpus, &writer->store);
	if (err) {
		dat_write_close(writer);
		return err;
	}
	*ret_writer = writer;
	return 0;
}

struct dat_writer *dat_write_close(struct dat_writer *writer)
{
	size_t i;

	if (!writer)
		return NULL;
	for (i = 0; i < writer->nr_systems; i++) {
		free(writer->systems[i].name);
		blob_free(&writer->systems[i].events);
	}
	free(writer->systems);
	blob_free(&writer->options);
	blob_free(&writer->kallsyms);
	blob_free(&writer->printk);
	blob_free(&writer->cmdlines);
	page_store_close(writer->store);
	out_file_abandon(&writer->file);
	free(writer);
	return NULL;
}

int dat_write_page(struct dat_writer *writer, unsigned int cpu, const void *page)
{
	return page_store_put(writer->store, cpu, page);
}

uint64_t dat_write_size(const struct dat_writer *writer, unsigned int cpu)
{
	return page_store_size(writer->store, cpu);
}

unsigned int dat_write_cpus(const struct dat_writer *writer)
{
	return page_store_cpus(writer->store);
}

static struct write_system *find_system(struct dat_writer *writer, const char *name)
{
	struct write_system *systems;
	size_t i;

	for (i = 0; i < writer->nr_systems; i++)
		if (!strcmp(writer->systems[i].name, name))
			return &writer->systems[i];
	systems = realloc(writer->systems, (writer->nr_systems + 1) * sizeof(*systems));
	if (!systems)
		return NULL;
	writer->systems = systems;
	memset(&systems[i], 0, sizeof(*systems));
	systems[i].name = strdup(name);
	if (!systems[i].name)
		return NULL;
	writer->nr_systems++;
	return &systems[i];
}

int dat_write_format(struct dat_writer *writer, const char *system_name, const char *text, size_t size)
{
	struct write_system *system = find_system(writer, system_name);

	if (!system)
		return -ENOMEM;
	blob_u64(&system->events, size);
	blob_put(&system->events, text, size);
	system->nr_events++;
	return system->events.error;
}

int dat_write_text(struct dat_writer *writer, enum dat_id id, const void *text, size_t size)
{
	struct blob *blob;

	if (id == DAT_KALLSYMS)
		blob = &writer->kallsyms;
	else if (id == DAT_PRINTK)
		blob = &writer->printk;
	else if (id == DAT_CMDLINES)
		blob = &writer->cmdlines;
	else
		return -EINVAL;
	if (id != DAT_CMDLINES && size > UINT32_MAX)
		return -EINVAL;
	blob_put(blob, text, size);
	return blob->error;
}

static void put_option(struct blob *out, enum dat_id id, const void *data, size_t size)
{
	blob_u16(out, (uint16_t)id);
	blob_u32(out, (uint32_t)size);
	blob_put(out, data, size);
}

int dat_write_option(struct dat_writer *writer, enum dat_id id, const void *data, size_t size)
{
	put_option(&writer->options, id, data, size);
	return writer->options.error;
}

/* ------------------------------------------------------------------------------------------------ the blobs */

/* Its numbers are read by viewers, its types must be one word each. */
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
		put_option(out, DAT_TRACECLOCK, text.data, text.size);
	blob_free(&text);
}

/* -------------------------------------------------------------------------------------------------- version 6 */

static void put_v6(struct blob *out, const struct dat_writer *writer, const char *clock, unsigned int nr_cpus)
{
	uint64_t offset;
	size_t table;
	size_t i;

	put_prologue(out, writer);
	for (i = 0; i < NR_SECTIONS; i++)
		sections[i].put(out, writer);
	blob_u32(out, nr_cpus);
	blob_string(out, "options  ");
	blob_put(out, writer->options.data, writer->options.size);
	put_clock_option(out, clock);
	blob_u16(out, DAT_DONE);
	blob_string(out, "flyrecord");
	table = out->size;
	for (i = 0; i < nr_cpus; i++) {
		blob_u64(out, 0);
		blob_u64(out, page_store_size(writer->store, (unsigned int)i));
	}
	blob_u64(out, strlen(clock) + 2);
	blob_printf(out, "[%s]", clock);
	blob_align(out, writer->page_size);
	offset = out->size;
	for (i = 0; i < nr_cpus; i++) {
		blob_set_u64(out, table + i * 16, offset);
		offset += page_store_size(writer->store, (unsigned int)i);
	}
}

/* -------------------------------------------------------------------------------------------------- version 7 */

/* Returns where the size stands, for end_section(). */
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

/* The option that describes the CPU data; returns where its section's offset stands. CPU offsets are put in later. */
static size_t put_buffer_option(struct blob *out, const struct dat_writer *writer, const char *clock)
{
	const unsigned int cpus = page_store_cpus(writer->store);
	struct blob payload = BLOB_INIT;
	uint32_t count = 0;
	size_t payload_at;
	size_t count_at;
	unsigned int i;

	blob_u64(&payload, 0);
	blob_string(&payload, "");
	blob_string(&payload, clock);
	blob_u32(&payload, writer->page_size);
	count_at = payload.size;
	blob_u32(&payload, 0);
	for (i = 0; i < cpus; i++) {
		if (!page_store_size(writer->store, i))
			continue;
		blob_u32(&payload, i);
		blob_u64(&payload, 0);
		blob_u64(&payload, page_store_size(writer->store, i));
		count++;
	}
	blob_set_u32(&payload, count_at, count);
	payload_at = out->size + sizeof(uint16_t) + sizeof(uint32_t);
	if (payload.error)
		out->error = payload.error;
	else
		put_option(out, DAT_BUFFER, payload.data, payload.size);
	blob_free(&payload);
	return payload_at;
}

/* Now that the data begins at `offset`: fill in the CPUs' offsets in the option whose payload stands at `at`. */
static uint64_t set_buffer_offsets(struct blob *out, size_t at, const struct dat_writer *writer, const char *clock,
				   uint64_t offset)
{
	const unsigned int cpus = page_store_cpus(writer->store);
	size_t entry = at + sizeof(uint64_t) + 1 + strlen(clock) + 1 + 2 * sizeof(uint32_t);
	unsigned int i;

	for (i = 0; i < cpus; i++) {
		if (!page_store_size(writer->store, i))
			continue;
		blob_set_u64(out, entry + sizeof(uint32_t), offset);
		entry += sizeof(uint32_t) + 2 * sizeof(uint64_t);
		offset += page_store_size(writer->store, i);
	}
	return offset;
}

static void put_v7(struct blob *out, const struct dat_writer *writer, const char *clock, unsigned int nr_cpus)
{
	size_t pointers[NR_SECTIONS];
	const uint64_t zero = 0;
	uint64_t data;
	size_t buffer;
	size_t size_at;
	size_t i;

	put_prologue(out, writer);
	blob_string(out, "none");
	blob_string(out, "");
	blob_u64(out, out->size + sizeof(uint64_t)); /* the options follow */

	size_at = begin_section(out, DAT_DONE);
	for (i = 0; i < NR_SECTIONS; i++) {
		put_option(out, sections[i].id, &zero, sizeof(zero));
		pointers[i] = out->size - sizeof(zero);
	}
	blob_put(out, writer->options.data, writer->options.size);
	put_option(out, DAT_CPUCOUNT, &(uint32_t){ nr_cpus }, sizeof(uint32_t));
	put_clock_option(out, clock);
	buffer = put_buffer_option(out, writer, clock);
	put_option(out, DAT_DONE, &zero, sizeof(zero));
	end_section(out, size_at, 0);

	for (i = 0; i < NR_SECTIONS; i++) {
		blob_set_u64(out, pointers[i], out->size);
		size_at = begin_section(out, sections[i].id);
		sections[i].put(out, writer);
		end_section(out, size_at, 0);
	}
	blob_set_u64(out, buffer, out->size);
	size_at = begin_section(out, DAT_BUFFER);
	blob_align(out, writer->page_size);
	data = set_buffer_offsets(out, buffer, writer, clock, out->size) - out->size;
	end_section(out, size_at, data);
}

/* ------------------------------------------------------------------------------------------------------------- */

int dat_write_finish(struct dat_writer *writer, const char *clock, unsigned int nr_cpus, uint64_t *ret_size)
{
	const unsigned int cpus = page_store_cpus(writer->store);
	struct blob meta = BLOB_INIT;
	uint64_t offset;
	unsigned int i;
	int err;

	if (nr_cpus < cpus)
		nr_cpus = cpus;
	if (writer->version == 7)
		put_v7(&meta, writer, clock, nr_cpus);
	else
		put_v6(&meta, writer, clock, nr_cpus);
	err = meta.error;
	if (!err)
		err = out_write_at(writer->file.fd, meta.data, meta.size, 0);
	offset = meta.size;
	blob_free(&meta);
	for (i = 0; i < cpus && !err; i++) {
		const uint64_t size = page_store_size(writer->store, i);

		err = page_store_copy(writer->store, i, writer->file.fd, offset);
		offset += size;
	}
	if (err)
		out_file_abandon(&writer->file);
	else
		err = out_file_commit(&writer->file);
	if (!err && ret_size)
		*ret_size = offset;
	return err;
}
