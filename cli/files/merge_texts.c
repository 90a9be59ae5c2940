/* SPDX-License-Identifier: MIT */
/*
 * See merge_texts.h. The lines of all texts are written, each once; of the names of a thread, the first is taken. An
 * address in a record does not name its file. So a text at an address that means something else in another file is not
 * written: readers print the plain address instead.
 */
#include "cli/files/merge_texts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/files/merge_sites.h"
#include "format/dat/dat_lines.h"
#include "format/dat/dat_sites.h"
#include "format/io/blob.h"
#include "format/io/hash.h"

/* The text of a file; NULL: it is empty, or an earlier file has the same text, as parts of one recording do. */
static const struct dat_text *new_text_of(const struct merge *merge, unsigned int number, enum dat_id id)
{
	const struct dat_text *text = merge_text_of(merge->files[number].file, id);

	for (unsigned int i = 0; i < number && text->size; i++) {
		const struct dat_text *other = merge_text_of(merge->files[i].file, id);

		if (other->size == text->size && !memcmp(other->text, text->text, text->size))
			return NULL;
	}
	return text->size ? text : NULL;
}

/* ---------------------------------------------------------------------------------------------- symbols of a kernel */

static bool next_kernel_line(const struct dat_text *text, size_t *at, struct merge_line *ret_line)
{
	while (merge_next_line(text, at, ret_line))
		if (!dat_is_site(ret_line->address))
			return true;
	return false;
}

static bool are_equal(const struct merge_line *one, const struct merge_line *other)
{
	return one->size == other->size && !memcmp(one->text, other->text, one->size);
}

/* Whether the line of a text that begins here is equal to this one. The text ends with NUL. */
static bool is_line(const char *text, const struct merge_line *line)
{
	return !strncmp(text, line->text, line->size) && (!text[line->size] || text[line->size] == '\n');
}

/* Whether both texts have symbols of a kernel, and these differ. */
static bool have_other_symbols(const struct dat_text *one, const struct dat_text *other)
{
	size_t at = 0, other_at = 0;
	struct merge_line line, other_line;
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

/*
 * Compare the kernel's lines of a file with those of the files before it. A file may have several lines for one
 * address.
 */
static int compare_lines(struct merge *merge, const struct dat_text *text, struct number_map *lines)
{
	struct merge_line line;
	size_t at = 0;
	int err = 0;

	while (!err && next_kernel_line(text, &at, &line)) {
		const uint64_t known = number_map_get(lines, line.address);
		const char *other = (const char *)(uintptr_t)known;

		if (!known)
			err = number_map_set(lines, line.address, (uintptr_t)line.text);
		else if (other >= text->text && other < text->text + text->size)
			continue;
		else if (!is_line(other, &line))
			err = number_map_set(&merge->ambiguous, line.address, 1);
	}
	return err;
}

/* Find the addresses of printk formats that mean different things in the files. */
static int compare_printk(struct merge *merge)
{
	struct number_map lines = { 0 };
	int err = 0;

	for (unsigned int i = 0; i < merge->nr && !err; i++) {
		const struct dat_text *text = new_text_of(merge, i, DAT_PRINTK);

		if (text)
			err = compare_lines(merge, text, &lines);
	}
	number_map_free(&lines);
	return err;
}

/* The first file of another machine that has symbols; a recording of programs alone does not. NULL: no such file. */
static const struct merge_file *find_other_machine(const struct merge *merge, const struct merge_file *file)
{
	for (const struct merge_file *other = merge->files; other < file; other++) {
		struct merge_line line;
		size_t at = 0;

		if (merge_machine_is_other(&other->machine, &file->machine) &&
		    next_kernel_line(merge_text_of(other->file, DAT_KALLSYMS), &at, &line))
			return other;
	}
	return NULL;
}

/* Compare each file's symbols with those of a file of another machine. */
static void compare_symbols(struct merge *merge)
{
	for (unsigned int i = 0; i < merge->nr && merge->has_machines && !merge->hides_symbols; i++) {
		const struct merge_file *file = &merge->files[i], *other = find_other_machine(merge, file);

		if (other)
			merge->hides_symbols = have_other_symbols(merge_text_of(other->file, DAT_KALLSYMS),
								  merge_text_of(file->file, DAT_KALLSYMS));
	}
}

int merge_check_texts(struct merge *merge)
{
	int err;

	compare_symbols(merge);
	err = compare_printk(merge);
	return err ? err : merge_sites_add(merge);
}

/* -------------------------------------------------------------------------------------------------------- writing */

static bool is_hidden(const struct merge *merge, enum dat_id id, uint64_t address)
{
	if (dat_is_site(address)) /* merge_sites_put() has these */
		return true;
	if (id == DAT_KALLSYMS)
		return merge->hides_symbols;
	return number_map_get(&merge->ambiguous, address);
}

/* 1: an equal line was put before; 0: this is the first, and it is added to `seen`; -ENOMEM. */
static int is_seen(struct number_map *seen, const struct merge_line *line)
{
	uint64_t key = hash_bytes(line->text, line->size), known;

	/* Other lines may have the same hash. */
	while ((known = number_map_get(seen, key)) && !is_line((const char *)(uintptr_t)known, line))
		key = hash_step(key, 1);
	return known ? 1 : number_map_set(seen, key, (uintptr_t)line->text);
}

/* Put those lines of a text that no text before it has. 0, -ENOMEM. */
static int put_lines(const struct merge *merge, enum dat_id id, const struct dat_text *text, struct number_map *seen,
		     struct blob *all)
{
	struct merge_line line;
	size_t at = 0;
	int ret = 0;

	while (ret >= 0 && merge_next_line(text, &at, &line)) {
		if (is_hidden(merge, id, line.address))
			continue;
		ret = is_seen(seen, &line);
		if (ret)
			continue;
		blob_put(all, line.text, line.size);
		if (at <= text->size)
			blob_put(all, "\n", 1);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Put the lines "pid name" of a file, one for each thread. A malformed line ends the text, because readers would stop
 * there and miss the names of the files after it. 0, -ENOMEM.
 */
static int put_names(const struct dat_text *text, struct number_map *seen, struct blob *all)
{
	struct merge_line line;
	size_t at = 0;
	int err = 0;

	while (!err && merge_next_line(text, &at, &line)) {
		const char *name;
		uint64_t pid;

		if (!dat_line_thread(line.text, line.size, &pid, &name))
			break;
		if (number_map_get(seen, pid))
			continue;
		err = number_map_set(seen, pid, 1);
		blob_put(all, line.text, line.size);
		blob_put(all, "\n", 1);
	}
	return err;
}

/* Put the names of the threads of all files. If a thread has several names, readers use the first. */
static int put_threads(const struct merge *merge)
{
	struct blob all = BLOB_INIT;
	struct number_map seen = { 0 };
	int err = 0;

	for (unsigned int i = 0; i < merge->nr && !err; i++) {
		const struct dat_text *text = new_text_of(merge, i, DAT_CMDLINES);

		if (text)
			err = put_names(text, &seen, &all);
	}
	err = err ? err : all.error;
	if (!err && all.size)
		err = dat_write_text(merge->writer, DAT_CMDLINES, all.data, all.size);
	number_map_free(&seen);
	blob_free(&all);
	return err;
}

/* Put the lines of the texts of all files, those of one file after those of another. */
static int put_text(const struct merge *merge, enum dat_id id)
{
	struct blob all = BLOB_INIT;
	struct number_map seen = { 0 };
	int err = 0;

	for (unsigned int i = 0; i < merge->nr && !err; i++) {
		const struct dat_text *text = new_text_of(merge, i, id);

		if (!text)
			continue;
		if (all.size && all.data[all.size - 1] != '\n')
			blob_put(&all, "\n", 1);
		err = put_lines(merge, id, text, &seen, &all);
	}
	merge_sites_put(merge, id, &all);
	err = err ? err : all.error;
	if (!err && all.size)
		err = dat_write_text(merge->writer, id, all.data, all.size);
	number_map_free(&seen);
	blob_free(&all);
	return err;
}

int merge_put_texts(const struct merge *merge)
{
	int err = put_text(merge, DAT_KALLSYMS);

	if (!err)
		err = put_text(merge, DAT_PRINTK);
	return err ? err : put_threads(merge);
}
