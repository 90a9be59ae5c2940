/* SPDX-License-Identifier: MIT */
/* See elf_libraries.h. */
#include "cli/recording/elf_libraries.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recording/elf_search.h"

/* Limit of the list. Programs need at most some hundreds of libraries. */
#define LIBRARIES_MAX 4096u

/* The maximum size of a dynamic section. It has some entries for each library. */
#define DYNAMIC_MAX (UINT64_C(1) << 20)

/* A longer text is cut. The longest ones are lists of directories. */
#define TEXT_SIZE 16384u

struct dynamic {
	const struct elf *elf;
	unsigned char *entries;
	size_t size;
	/*
	 * The section with the texts. Only those that are needed are read: a large program has a hundred megabytes of
	 * names.
	 */
	Elf64_Shdr texts;
};

static int read_entries(struct dynamic *dynamic, const Elf64_Shdr *section)
{
	int err;

	if (section->sh_size > DYNAMIC_MAX)
		return -EFBIG;
	dynamic->size = (size_t)section->sh_size;
	dynamic->entries = malloc(dynamic->size + 1);
	if (!dynamic->entries)
		return -ENOMEM;
	err = elf_read(dynamic->elf, dynamic->entries, dynamic->size, section->sh_offset);
	if (err) {
		free(dynamic->entries);
		dynamic->entries = NULL;
	}
	return err;
}

/* Read the dynamic section. A static program has none, and needs no libraries. */
static int open_dynamic(const struct elf *elf, struct dynamic *dynamic)
{
	Elf64_Shdr section;
	int err = 0;

	*dynamic = (struct dynamic){ .elf = elf };
	for (uint64_t i = 1; !err && !dynamic->entries && i < elf->nr; i++) {
		err = elf_section(elf, i, &section);
		if (err || section.sh_type != SHT_DYNAMIC)
			continue;
		err = section.sh_link < elf->nr ? elf_section(elf, section.sh_link, &dynamic->texts) : -EBADMSG;
		if (!err)
			err = read_entries(dynamic, &section);
	}
	return err;
}

/* Read the text at an offset of its section. */
static bool read_text(const struct dynamic *dynamic, uint64_t offset, char text[TEXT_SIZE])
{
	const Elf64_Shdr *texts = &dynamic->texts;
	const uint64_t left = offset < texts->sh_size ? texts->sh_size - offset : 0;
	const size_t size = left < TEXT_SIZE - 1 ? (size_t)left : TEXT_SIZE - 1;

	text[size] = '\0';
	return size && texts->sh_offset <= dynamic->elf->size &&
	       !elf_read(dynamic->elf, text, size, texts->sh_offset + offset);
}

/* Read the text of the next entry with this tag, starting at *at. False: there are no more. */
static bool next_text(const struct dynamic *dynamic, int64_t tag, size_t *at, char text[TEXT_SIZE])
{
	const size_t each = dynamic->elf->is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	Elf64_Dyn wide = { .d_tag = DT_NULL };
	Elf32_Dyn narrow;

	while (dynamic->size - *at >= each) {
		if (dynamic->elf->is_64) {
			memcpy(&wide, dynamic->entries + *at, sizeof(wide));
		} else {
			memcpy(&narrow, dynamic->entries + *at, sizeof(narrow));
			wide.d_tag = narrow.d_tag;
			wide.d_un.d_val = narrow.d_un.d_val;
		}
		*at += each;
		if (wide.d_tag == DT_NULL)
			break;
		if (wide.d_tag == tag && read_text(dynamic, wide.d_un.d_val, text))
			return true;
	}
	*at = dynamic->size;
	return false;
}

static bool first_text(const struct dynamic *dynamic, int64_t tag, char text[TEXT_SIZE])
{
	size_t at = 0;

	return next_text(dynamic, tag, &at, text);
}

/* Add a file, unless it is already listed under this or another path. `name` is that by which it was found. */
static int add(struct elf_libraries *l, const char *path, const char *name, const struct elf *elf)
{
	struct elf_library *all;

	for (unsigned int i = 0; i < l->nr; i++)
		if (l->all[i].dev == elf->dev && l->all[i].inode == elf->inode)
			return 0;
	if (l->nr == LIBRARIES_MAX)
		return -EFBIG;
	all = realloc(l->all, (l->nr + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	l->all = all;
	all[l->nr] = (struct elf_library){
		.path = strdup(path), .name = strdup(name), .dev = elf->dev, .inode = elf->inode
	};
	l->nr++;
	return all[l->nr - 1].path && all[l->nr - 1].name ? 0 : -ENOMEM;
}

static int add_missing(struct elf_libraries *l, const char *name)
{
	char **missing;

	for (unsigned int i = 0; i < l->nr_missing; i++)
		if (!strcmp(l->missing[i], name))
			return 0;
	if (l->nr_missing == LIBRARIES_MAX)
		return -EFBIG;
	missing = realloc(l->missing, (l->nr_missing + 1) * sizeof(*missing));
	if (!missing)
		return -ENOMEM;
	l->missing = missing;
	missing[l->nr_missing] = strdup(name);
	if (!missing[l->nr_missing])
		return -ENOMEM;
	l->nr_missing++;
	return 0;
}

/* The loader does not search for a name under which it has already loaded a library. The first file has no name. */
static bool is_listed(const struct elf_libraries *l, const char *name)
{
	for (unsigned int i = 1; i < l->nr; i++)
		if (!strcmp(l->all[i].name, name))
			return true;
	return false;
}

static int add_needed(struct elf_libraries *l, const struct elf_needer *needer, const struct dynamic *dynamic)
{
	char path[4096], name[TEXT_SIZE];
	struct elf elf;
	size_t at = 0;
	int err = 0;

	while (!err && next_text(dynamic, DT_NEEDED, &at, name)) {
		if (is_listed(l, name))
			continue;
		err = elf_search(needer, name, path, &elf);
		if (err) {
			err = add_missing(l, name);
			continue;
		}
		err = add(l, path, name, &elf);
		elf_close(&elf);
	}
	return err;
}

/* Add the libraries that file number `i` needs. */
static int add_needed_by(struct elf_libraries *l, unsigned int i)
{
	/* Adding an element may move the list. */
	struct elf_needer needer = { .path = l->all[i].path };
	char real[PATH_MAX], list[TEXT_SIZE];
	struct dynamic dynamic;
	struct elf elf;
	int err = elf_open(l->all[i].path, &elf);

	if (err)
		return err;
	err = open_dynamic(&elf, &dynamic);
	if (!err) {
		needer.elf = &elf;
		/* The loader takes $ORIGIN of a program, which has no DT_SONAME, from /proc/self/exe. */
		if (!i && !first_text(&dynamic, DT_SONAME, list) && realpath(needer.path, real))
			needer.path = real;
		if (first_text(&dynamic, DT_RUNPATH, list))
			needer.runpath = list;
		else if (first_text(&dynamic, DT_RPATH, list))
			needer.rpath = list;
		err = add_needed(l, &needer, &dynamic);
		free(dynamic.entries);
	}
	elf_close(&elf);
	return err;
}

int elf_libraries_find(const char *path, struct elf_libraries *libraries)
{
	struct elf elf;
	int err;

	*libraries = (struct elf_libraries){ .nr = 0 };
	err = elf_open(path, &elf);
	if (err)
		return err;
	err = add(libraries, path, "", &elf);
	elf_close(&elf);
	for (unsigned int i = 0; !err && i < libraries->nr; i++) {
		err = add_needed_by(libraries, i);
		/* The libraries that a damaged file needs are not known, but its own events may be. */
		if (err != -ENOMEM)
			err = 0;
	}
	return err;
}

void elf_libraries_free(struct elf_libraries *libraries)
{
	for (unsigned int i = 0; i < libraries->nr; i++) {
		free(libraries->all[i].path);
		free(libraries->all[i].name);
	}
	for (unsigned int i = 0; i < libraries->nr_missing; i++)
		free(libraries->missing[i]);
	free(libraries->all);
	free(libraries->missing);
}
