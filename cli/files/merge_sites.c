/* SPDX-License-Identifier: MIT */
/*
 * See merge_sites.h. A site keeps its address unless another one has it. A record whose site has no text in its file
 * gets an address that no site has, so that it is not printed with the text of another file.
 */
#include "cli/files/merge_sites.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_lines.h"
#include "format/dat/dat_sites.h"
#include "format/io/bytes.h"
#include "format/io/text_pool.h"

#define UNKNOWN_SITE (DAT_SITE_BASE | UINT64_C(0xfffffffff0))

struct merge_sites {
	struct text_pool texts;
	struct number_map addresses;  /* by the text's address in the pool */
	struct number_map used;	      /* by address: 1 */
	uint64_t next;		      /* addresses below are in use, or were */
	struct blob printk, kallsyms; /* lines of the result */
};

const struct dat_text *merge_text_of(const struct dat_file *file, enum dat_id id)
{
	if (id == DAT_KALLSYMS)
		return dat_symbols(file);
	return id == DAT_PRINTK ? &file->printk : &file->cmdlines;
}

bool merge_next_line(const struct dat_text *text, size_t *at, struct merge_line *ret_line)
{
	const char *line, *end;
	char *rest;
	size_t size;

	if (*at >= text->size)
		return false;
	line = text->text + *at;
	end = memchr(line, '\n', text->size - *at);
	*at += (end ? (size_t)(end - line) : text->size - *at) + 1;
	/* A damaged text may contain a NUL, which then ends the line. */
	size = strnlen(line, end ? (size_t)(end - line) : text->size - (size_t)(line - text->text));
	*ret_line = (struct merge_line){ .text = line, .size = size, .rest = line, .rest_size = size };
	if (!size)
		return true;
	ret_line->address = strtoull(line, &rest, 16);
	if (rest > line + size) { /* strtoull() found the number on a later line: this one is blank */
		ret_line->address = 0;
		return true;
	}
	ret_line->rest = rest;
	ret_line->rest_size = size - (size_t)(rest - line);
	return true;
}

/* ------------------------------------------------------------------------------------------------------- records */

/* Find the formats of the events of rec_printf. The kernel's trace_printk has the same name, and other addresses. */
static int find_formats(struct merge_file *file)
{
	for (size_t i = 0; i < file->file->nr_formats; i++) {
		const struct dat_format *format = &file->file->formats[i];
		const char *id = dat_line_id(format->text.text);
		struct merge_printf *all, one;
		uint32_t size;

		if (strcmp(format->system, "ftrace") != 0 || !dat_line_is_named(format->text.text, "bprint") || !id)
			continue;
		one.type = (uint16_t)strtoul(id, NULL, 10);
		if (!dat_line_field(format->text.text, " ip;", &one.ip, &size) ||
		    !dat_line_field(format->text.text, " fmt;", &one.fmt, &size))
			continue;
		all = realloc(file->printfs, (file->nr_printfs + 1) * sizeof(*all));
		if (!all)
			return -ENOMEM;
		file->printfs = all;
		all[file->nr_printfs++] = one;
	}
	return 0;
}

static void put_address(unsigned char *at, uint64_t address, bool big)
{
	for (unsigned int i = 0; i < sizeof(address); i++)
		at[big ? sizeof(address) - 1 - i : i] = (unsigned char)(address >> (8 * i));
}

static void rename_address(const struct merge_file *file, unsigned char *record, uint32_t size, uint32_t offset)
{
	uint64_t address, renamed;

	if (size < sizeof(address) || offset > size - sizeof(address))
		return;
	address = bytes_get64(record + offset, file->file->big);
	if (!dat_is_site(address))
		return;
	renamed = number_map_get(&file->sites, address);
	put_address(record + offset, renamed ? renamed : UNKNOWN_SITE, file->file->big);
}

void merge_sites_rename(const struct merge_file *file, uint16_t type, unsigned char *record, uint32_t size)
{
	for (unsigned int i = 0; i < file->nr_printfs; i++) {
		if (file->printfs[i].type != type)
			continue;
		rename_address(file, record, size, file->printfs[i].ip);
		rename_address(file, record, size, file->printfs[i].fmt);
	}
}

/* --------------------------------------------------------------------------------------------------------- texts */

/* Add a site to the result. 0, -ENOMEM. */
static int add_site(struct merge_sites *sites, uint64_t address, const struct merge_line *printk,
		    const struct merge_line *symbol, uint64_t *ret_address)
{
	struct blob key = BLOB_INIT;
	const struct pooled_text *text;
	int err = -ENOMEM;

	blob_put(&key, printk->rest, printk->rest_size);
	blob_put(&key, "", 1);
	blob_put(&key, symbol->rest, symbol->rest_size);
	text = key.error ? NULL : text_pool_add(&sites->texts, (const char *)key.data, key.size);
	blob_free(&key);
	if (!text)
		return -ENOMEM;
	*ret_address = number_map_get(&sites->addresses, (uintptr_t)text);
	if (*ret_address)
		return 0;
	while (number_map_get(&sites->used, address) || address >= UNKNOWN_SITE) {
		address = sites->next;
		sites->next += DAT_SITE_STEP;
	}
	err = number_map_set(&sites->used, address, 1);
	if (!err)
		err = number_map_set(&sites->addresses, (uintptr_t)text, address);
	if (printk->rest_size)
		blob_printf(&sites->printk, "0x%" PRIx64 "%.*s\n", address, (int)printk->rest_size, printk->rest);
	if (symbol->rest_size)
		blob_printf(&sites->kallsyms, "%" PRIx64 "%.*s\n", address, (int)symbol->rest_size, symbol->rest);
	*ret_address = address;
	return err ? err : sites->printk.error ? sites->printk.error : sites->kallsyms.error;
}

/* Find the first line of each site in a text, by address. 0, -ENOMEM. */
static int find_lines(const struct dat_text *text, struct number_map *lines)
{
	struct merge_line line;
	size_t at = 0, before = 0;
	int err = 0;

	for (; !err && merge_next_line(text, &at, &line); before = at)
		if (dat_is_site(line.address) && !number_map_get(lines, line.address))
			err = number_map_set(lines, line.address, before + 1);
	return err;
}

static struct merge_line line_of(const struct dat_text *text, const struct number_map *lines, uint64_t address)
{
	size_t at = number_map_get(lines, address);
	struct merge_line line = { .rest = "" };

	if (at--)
		merge_next_line(text, &at, &line);
	return line;
}

/* Add the sites of one of a file's two texts that are not known yet. */
static int add_sites(struct merge_sites *sites, struct merge_file *file, const struct dat_text *text,
		     const struct number_map *printk, const struct number_map *symbols)
{
	struct merge_line line;
	size_t at = 0;
	int err = 0;

	while (!err && merge_next_line(text, &at, &line)) {
		struct merge_line format, symbol;
		uint64_t address;

		if (!dat_is_site(line.address) || number_map_get(&file->sites, line.address))
			continue;
		format = line_of(merge_text_of(file->file, DAT_PRINTK), printk, line.address);
		symbol = line_of(merge_text_of(file->file, DAT_KALLSYMS), symbols, line.address);
		err = add_site(sites, line.address, &format, &symbol, &address);
		if (!err)
			err = number_map_set(&file->sites, line.address, address);
	}
	return err;
}

static int add_file(struct merge_sites *sites, struct merge_file *file)
{
	const struct dat_text *printk = merge_text_of(file->file, DAT_PRINTK);
	const struct dat_text *kallsyms = merge_text_of(file->file, DAT_KALLSYMS);
	struct number_map formats = { 0 }, symbols = { 0 };
	int err = find_formats(file);

	if (!err)
		err = find_lines(printk, &formats);
	if (!err)
		err = find_lines(kallsyms, &symbols);
	if (!err)
		err = add_sites(sites, file, printk, &formats, &symbols);
	if (!err)
		err = add_sites(sites, file, kallsyms, &formats, &symbols);
	number_map_free(&formats);
	number_map_free(&symbols);
	return err;
}

int merge_sites_add(struct merge *merge)
{
	int err = 0;

	merge->sites = calloc(1, sizeof(*merge->sites));
	if (!merge->sites)
		return -ENOMEM;
	merge->sites->next = DAT_SITE_BASE;
	for (unsigned int i = 0; i < merge->nr && !err; i++)
		err = add_file(merge->sites, &merge->files[i]);
	return err;
}

void merge_sites_put(const struct merge *merge, enum dat_id id, struct blob *text)
{
	const struct blob *lines = id == DAT_PRINTK ? &merge->sites->printk : &merge->sites->kallsyms;

	if (!lines->size)
		return;
	if (text->size && text->data[text->size - 1] != '\n')
		blob_put(text, "\n", 1);
	blob_put(text, lines->data, lines->size);
}

void merge_sites_free(struct merge *merge)
{
	for (unsigned int i = 0; i < merge->nr; i++) {
		number_map_free(&merge->files[i].sites);
		free(merge->files[i].printfs);
	}
	if (!merge->sites)
		return;
	text_pool_close(&merge->sites->texts);
	number_map_free(&merge->sites->addresses);
	number_map_free(&merge->sites->used);
	blob_free(&merge->sites->printk);
	blob_free(&merge->sites->kallsyms);
	free(merge->sites);
}
