/* SPDX-License-Identifier: MIT */
/* See elf_search.h. */
#include "cli/recording/elf_search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/io/read_at.h"

#define CACHE	    "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_MAX   (UINT32_C(64) << 20)

/* The head of the loader's cache, and its entry for each library. Places are offsets in the file. */
struct cache_head {
	char magic[20];
	uint32_t nr;
	uint32_t text_size;
	uint32_t reserved[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t name;
	uint32_t path;
	uint32_t os_version;
	uint64_t capabilities;
};

/* Open the library, unless it is for another machine: the loader skips those. */
static bool fits(const struct elf_needer *needer, const char *path, struct elf *ret_elf)
{
	struct elf elf;

	if (elf_open(path, &elf))
		return false;
	if (elf.is_64 != needer->elf->is_64 || elf.machine != needer->elf->machine) {
		elf_close(&elf);
		return false;
	}
	*ret_elf = elf;
	return true;
}

/* The directory part of the needer's path. */
static const char *origin_of(const struct elf_needer *needer, int *ret_size)
{
	const char *slash = strrchr(needer->path, '/');

	*ret_size = slash ? (int)(slash - needer->path) : 1;
	return slash ? needer->path : ".";
}

/*
 * Make the path of the library in a directory of a list; $ORIGIN at its beginning is replaced. False: the path is too
 * long.
 */
static bool make_path(const struct elf_needer *needer, const char *dir, size_t size, const char *name, char path[4096])
{
	static const char *const words[] = { "$ORIGIN", "${ORIGIN}" };
	const char *origin = "";
	int origin_size = 0;

	for (unsigned int i = 0; i < 2; i++) {
		const size_t length = strlen(words[i]);

		if (size >= length && !strncmp(dir, words[i], length)) {
			origin = origin_of(needer, &origin_size);
			dir += length;
			size -= length;
		}
	}
	return snprintf(path, 4096, "%.*s%.*s/%s", origin_size, origin, (int)size, dir, name) < 4096;
}

/* Search a list of directories separated by colons. An empty one is the working directory. */
static bool search_list(const struct elf_needer *needer, const char *list, const char *name, char path[4096],
			struct elf *ret_elf)
{
	while (list && *list) {
		const size_t size = strcspn(list, ":");

		if (make_path(needer, size ? list : ".", size ? size : 1, name, path) && fits(needer, path, ret_elf))
			return true;
		list += size + (list[size] == ':');
	}
	return false;
}

/* The text at `place` of the cache; NULL: it has no end within the cache. */
static const char *cache_text(const char *cache, size_t size, uint32_t place)
{
	return place < size && memchr(cache + place, '\0', size - place) ? cache + place : NULL;
}

static bool search_entries(const struct elf_needer *needer, const char *cache, size_t size, const char *name,
			   char path[4096], struct elf *ret_elf)
{
	struct cache_head head;
	struct cache_entry entry;

	memcpy(&head, cache, sizeof(head));
	if (memcmp(head.magic, CACHE_MAGIC, sizeof(head.magic)) != 0 || head.nr > (size - sizeof(head)) / sizeof(entry))
		return false;
	for (uint32_t i = 0; i < head.nr; i++) {
		const char *one, *at;

		memcpy(&entry, cache + sizeof(head) + i * sizeof(entry), sizeof(entry));
		one = cache_text(cache, size, entry.name);
		at = cache_text(cache, size, entry.path);
		if (one && at && !strcmp(one, name) && snprintf(path, 4096, "%s", at) < 4096 &&
		    fits(needer, path, ret_elf))
			return true;
	}
	return false;
}

/* Search the loader's cache. If it does not exist or has another form, only the standard directories are searched. */
static bool search_cache(const struct elf_needer *needer, const char *name, char path[4096], struct elf *ret_elf)
{
	const int fd = open(CACHE, O_RDONLY | O_CLOEXEC);
	const off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	bool found = false;
	char *cache = NULL;

	if (size >= (off_t)sizeof(struct cache_head) && size <= (off_t)CACHE_MAX)
		cache = malloc((size_t)size);
	if (cache && !read_exactly(fd, cache, (size_t)size, 0))
		found = search_entries(needer, cache, (size_t)size, name, path, ret_elf);
	free(cache);
	if (fd >= 0)
		close(fd);
	return found;
}

int elf_search(const struct elf_needer *needer, const char *name, char path[4096], struct elf *ret_elf)
{
	static const char standard[] = "/lib64:/usr/lib64:/lib:/usr/lib";
	bool found;

	if (strchr(name, '/'))
		found = snprintf(path, 4096, "%s", name) < 4096 && fits(needer, path, ret_elf);
	else
		found = search_list(needer, needer->rpath, name, path, ret_elf) ||
			search_list(needer, getenv("LD_LIBRARY_PATH"), name, path, ret_elf) ||
			search_list(needer, needer->runpath, name, path, ret_elf) ||
			search_cache(needer, name, path, ret_elf) ||
			search_list(needer, standard, name, path, ret_elf);
	return found ? 0 : -ENOENT;
}
