/* SPDX-License-Identifier: MIT */
/*
 * Linked into programs that read hostile files, with --wrap for the functions below. Where a file is mapped, the pages
 * before and after it are inaccessible, so a read beyond it ends the process by a signal. And a request for much memory
 * at once fails the test: it would mean that a number in the file was trusted.
 */
#include <librecorder/detail/abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A view has a few hundred bytes for each of 65535 lanes at most; a log of 16 MiB is kept whole. */
#define ALLOCATION_MAX ((size_t)48 << 20)

/* The linker defines these names; no header can declare them. */
void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static size_t pages(size_t size)
{
	return (size + REC_MAP_PAGE - 1) & ~(size_t)(REC_MAP_PAGE - 1);
}

/* Which mappings have guards; further ones get none. */
static void *guarded_maps[256];

static void **find_slot(const void *at)
{
	for (size_t i = 0; i < sizeof(guarded_maps) / sizeof(guarded_maps[0]); i++)
		if (guarded_maps[i] == at)
			return &guarded_maps[i];
	return NULL;
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	void **slot = find_slot(NULL);
	unsigned char *guarded;

	if (fd < 0 || at || !slot)
		return __real_mmap(at, size, prot, flags, fd, offset);
	guarded = __real_mmap(NULL, pages(size) + 2ul * REC_MAP_PAGE, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (guarded == MAP_FAILED)
		return guarded;
	at = __real_mmap(guarded + REC_MAP_PAGE, size, prot, flags | MAP_FIXED, fd, offset);
	if (at == MAP_FAILED)
		__real_munmap(guarded, pages(size) + 2ul * REC_MAP_PAGE);
	else
		*slot = at;
	return at;
}

int __wrap_munmap(void *at, size_t size)
{
	void **slot = find_slot(at);

	if (!slot)
		return __real_munmap(at, size);
	*slot = NULL;
	return __real_munmap((unsigned char *)at - REC_MAP_PAGE, pages(size) + 2ul * REC_MAP_PAGE);
}

static void check(size_t size)
{
	if (size <= ALLOCATION_MAX)
		return;
	fprintf(stderr, "%zu bytes asked for at once\n", size);
	abort();
}

void *__wrap_malloc(size_t size)
{
	check(size);
	return __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	check(nr > ALLOCATION_MAX || size > ALLOCATION_MAX ? SIZE_MAX : nr * size);
	return __real_calloc(nr, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	check(size);
	return __real_realloc(memory, size);
}
