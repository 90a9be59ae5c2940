/* SPDX-License-Identifier: MIT */
#include "format/io/function_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The names of one text: each is followed by its module's. */
struct function_names {
	struct function_names *next;
	char bytes[];
};

/* The digits of a 64-bit address. */
#define DIGITS_MAX 16

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int digit(char c)
{
	const int lower = c | 0x20;

	if (c >= '0' && c <= '9')
		return c - '0';
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Copy the characters up to a blank, and a NUL. Returns the first character that was not copied. */
static const char *copy_word(const char *at, const char *end, char **to)
{
	while (at < end && !is_blank(*at))
		*(*to)++ = *at++;
	*(*to)++ = '\0';
	return at;
}

/*
 * Read a line, "ffffffff81000000 T name" or "ffffffffc0000000 t name\t[module]", and append its names at *to: at most
 * as many bytes as the line has. False: it has no function.
 */
static bool take_line(const char *line, const char *end, char **to, struct listed_function *ret_function)
{
	const char *at = line;
	uint64_t address = 0;
	char type;

	for (; at < end && at - line < DIGITS_MAX && digit(*at) >= 0; at++)
		address = address << 4 | (uint64_t)digit(*at);
	if (at == line || end - at < 4 || at[0] != ' ' || is_blank(at[1]) || at[2] != ' ' || is_blank(at[3]))
		return false;
	/* Absolute symbols are offsets of per-CPU variables on x86-64; mapping symbols of ARM begin with a $. */
	type = at[1];
	at += 3;
	if (type == 'a' || type == 'A' || *at == '$')
		return false;
	*ret_function = (struct listed_function){ .address = address, .name = *to };
	at = copy_word(at, end, to);
	if (end - at > 2 && at[0] == '\t' && at[1] == '[' && !is_blank(at[2])) {
		copy_word(at + 2, end, to);
		/* Without the closing bracket. */
		(*to)--;
		(*to)[-1] = '\0';
	} else {
		*(*to)++ = '\0';
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct listed_function *one = a, *other = b;

	return one->address < other->address ? -1 : one->address > other->address;
}

static size_t count_lines(const char *text, const char *end)
{
	size_t nr = 1;

	while ((text = memchr(text, '\n', (size_t)(end - text)))) {
		text++;
		nr++;
	}
	return nr;
}

/*
 * libtraceevent sorts its list from the last line that it has read to the first. If functions have the same address,
 * that decides which of them is found; so the order before qsort() is the same here.
 */
int function_list_add(struct function_list *list, const char *text, size_t size)
{
	struct listed_function *all, *first;
	struct function_names *names;
	const char *at, *end;
	size_t lines, added;
	char *to;

	size = text ? strnlen(text, size) : 0;
	if (!size)
		return 0;
	end = text + size;
	lines = count_lines(text, end);
	names = malloc(sizeof(*names) + size);
	all = malloc((lines + list->nr + 1) * sizeof(*all));
	if (!names || !all) {
		free(names);
		free(all);
		return -ENOMEM;
	}
	to = names->bytes;
	first = all + lines;
	for (at = text; at < end;) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		line_end = line_end ? line_end : end;
		first -= take_line(at, line_end, &to, first - 1);
		at = line_end < end ? line_end + 1 : end;
	}
	added = (size_t)(all + lines - first);
	memmove(all, first, added * sizeof(*all));
	if (list->nr)
		memcpy(all + added, list->all, list->nr * sizeof(*all));
	free(list->all);
	list->all = all;
	list->nr += added;
	qsort(all, list->nr, sizeof(*all), compare);
	all[list->nr] = (struct listed_function){ 0, "" };
	names->next = list->names;
	list->names = names;
	return 0;
}

void function_list_free(struct function_list *list)
{
	struct function_names *names, *next;

	for (names = list->names; names; names = next) {
		next = names->next;
		free(names);
	}
	free(list->all);
	*list = (struct function_list){ 0 };
}

/* A function extends to the beginning of the next one. */
static int compare_extent(const void *key, const void *element)
{
	const uint64_t address = *(const uint64_t *)key;
	const struct listed_function *function = element;

	if (address < function->address)
		return -1;
	return address != function->address && address >= function[1].address;
}

const struct listed_function *function_list_find(const struct function_list *list, uint64_t address)
{
	if (!list->nr)
		return NULL;
	return bsearch(&address, list->all, list->nr, sizeof(*list->all), compare_extent);
}

const char *function_module(const struct listed_function *function)
{
	return function->name + strlen(function->name) + 1;
}
