/* SPDX-License-Identifier: MIT */
/*
 * See merge_texts.h. The texts are concatenated: readers use the first name of a thread. An address in a record does
 * not name its file. So a text at an address that means something else in another file is not written: readers print
 * the plain address instead.
 */
#include "cli/files/merge_texts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_sites.h"
#include "format/io/blob.h"

static const struct dat_text *text_of(const struct merge_file *file, enum dat_id id)
{
	if (id == DAT_KALLSYMS)
		return dat_symbols(file->file);
	return id == DAT_PRINTK ? &file->file->printk : &file->file->cmdlines;
}

/* The text of a file; NULL: it is empty, or that of a file before it, as in parts of one file. */
static const struct dat_text *new_text_of(const struct merge *merge, unsigned int number, enum dat_id id)
{
	const struct dat_text *text = text_of(&merge->files[number], id);

	for (unsigned int i = 0; i < number && text->size; i++) {
		const struct dat_text *other = text_of(&merge->files[i], id);

		if (other->size == text->size && !memcmp(other->text, text->text, text->size))
			return NULL;
	}
	return text->size ? text : NULL;
}

/* ---------------------------------------------------------------------------------------------------------- lines */

struct line {
	const char *text;
	size_t size; /* without the line feed */
	uint64_t address;
};

/* The next line at *at, which is advanced. False: there are no more. */
static bool next_line(const struct dat_text *text, size_t *at, struct line *ret_line)
{
	const char *line, *end;
	size_t size;

	if (*at >= text->size)
		return false;
	line = text->text + *at;
	end = memchr(line, '\n', text->size - *at);
	size = end ? (size_t)(end - line) : text->size - *at;
	/* A NUL, which a damaged text may have, ends the line: so equal characters of another text are not its end. */
	*ret_line = (struct line){ .text = line, .size = strnlen(line, size) };
	if (ret_line->size)
		ret_line->address = strtoull(line, NULL, 16);
	*at += size + 1;
	return true;
}

static bool next_kernel_line(const struct dat_text *text, size_t *at, struct line *ret_line)
{
	while (next_line(text, at, ret_line))
		if (!dat_is_site(ret_line->address))
			return true;
	return false;
}

static bool are_equal(const struct line *one, const struct line *other)
{
	return one->size == other->size && !memcmp(one->text, other->text, one->size);
}

/* Whether both texts have symbols of a kernel, and these differ. */
static bool have_other_symbols(const struct dat_text *one, const struct dat_text *other)
{
	size_t at = 0, other_at = 0;
	struct line line, other_line;
	bool is_more = next_kernel_line(one, &at, &line);
	bool other_is_more = next_kernel_line(other, &other_at, &other_line);

	if (!is_more || !other_is_more)
		return false;
	while (is_more && other_is_more && are_equal(&line, &other_line)) {
		is_more = next_kernel_line(one, &at, &line);
		other_is_more = next_kernel_line(other, &other_at, &other_line);
	}
	return is_more || other_is_more;
}

/* ------------------------------------------------------------------------------------------------------ addresses */

#define AMBIGUOUS 1u /* in a map by addresses, instead of the line's place */

/*
 * Compare a file's lines with those of the files before it. -EEXIST: a site has another line there. A file may have
 * several lines of one address itself.
 */
static int compare_lines(struct merge *merge, const struct dat_text *text, enum dat_id id, struct number_map *lines)
{
	struct line line;
	size_t at = 0;
	int err = 0;

	while (!err && next_line(text, &at, &line)) {
		const bool is_site = dat_is_site(line.address);
		const uint64_t known = number_map_get(lines, line.address);
		const char *other = (const char *)(uintptr_t)known;

		if (id == DAT_KALLSYMS && !is_site)
			continue;
		if (!known)
			err = number_map_set(lines, line.address, (uintptr_t)line.text);
		else if (known == AMBIGUOUS || (other >= text->text && other < text->text + text->size))
			continue;
		else if (strncmp(other, line.text, line.size) != 0 || (other[line.size] && other[line.size] != '\n'))
			err = is_site ? -EEXIST : number_map_set(&merge->ambiguous, line.address, AMBIGUOUS);
	}
	return err;
}

static int compare_texts(struct merge *merge, enum dat_id id, unsigned int *ret_file)
{
	struct number_map lines = { 0 };
	int err = 0;

	for (unsigned int i = 0; i < merge->nr && !err; i++) {
		const struct dat_text *text = new_text_of(merge, i, id);

		*ret_file = i;
		if (text)
			err = compare_lines(merge, text, id, &lines);
	}
	number_map_free(&lines);
	return err;
}

int merge_check_texts(struct merge *merge, unsigned int *ret_file, struct dat_error *ret_error)
{
	const struct dat_text *first = text_of(&merge->files[0], DAT_KALLSYMS);
	int err;

	for (unsigned int i = 1; i < merge->nr && !merge->hides_symbols; i++)
		merge->hides_symbols = merge->files[i].clock.is_elsewhere &&
				       have_other_symbols(first, text_of(&merge->files[i], DAT_KALLSYMS));
	err = compare_texts(merge, DAT_PRINTK, ret_file);
	if (!err)
		err = compare_texts(merge, DAT_KALLSYMS, ret_file);
	if (err != -EEXIST)
		return err;
	snprintf(ret_error->text, sizeof(ret_error->text),
		 "its rec_printf calls have the addresses of other calls in a file before it");
	return -EOPNOTSUPP;
}

/* -------------------------------------------------------------------------------------------------------- writing */

static bool is_hidden(const struct merge *merge, enum dat_id id, uint64_t address)
{
	if (id == DAT_KALLSYMS)
		return merge->hides_symbols && !dat_is_site(address);
	return id == DAT_PRINTK && number_map_get(&merge->ambiguous, address);
}

static void put_lines(const struct merge *merge, enum dat_id id, const struct dat_text *text, struct blob *all)
{
	struct line line;
	size_t at = 0;

	while (next_line(text, &at, &line)) {
		if (is_hidden(merge, id, line.address))
			continue;
		blob_put(all, line.text, line.size);
		if (at <= text->size)
			blob_put(all, "\n", 1);
	}
}

/* Put the texts of all files, one after the other; equal texts only once. */
static int put_text(const struct merge *merge, enum dat_id id)
{
	struct blob all = BLOB_INIT;
	int err;

	for (unsigned int i = 0; i < merge->nr; i++) {
		const struct dat_text *text = new_text_of(merge, i, id);

		if (!text)
			continue;
		if (all.size && all.data[all.size - 1] != '\n')
			blob_put(&all, "\n", 1);
		put_lines(merge, id, text, &all);
	}
	err = all.error;
	if (!err && all.size)
		err = dat_write_text(merge->writer, id, all.data, all.size);
	blob_free(&all);
	return err;
}

int merge_put_texts(const struct merge *merge)
{
	int err = put_text(merge, DAT_KALLSYMS);

	if (!err)
		err = put_text(merge, DAT_PRINTK);
	return err ? err : put_text(merge, DAT_CMDLINES);
}
