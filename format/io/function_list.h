/* SPDX-License-Identifier: MIT */
/*
 * The kernel's functions by address, from texts in the form of /proc/kallsyms. For well-formed lines a look-up has the
 * same result as libtraceevent's, whose own parser calls sscanf() for each of 150,000 lines.
 */
#ifndef FORMAT_FUNCTION_LIST_H
#define FORMAT_FUNCTION_LIST_H

#include <stddef.h>
#include <stdint.h>

struct listed_function {
	uint64_t address;
	const char *name; /* and after its NUL the module's; empty: it is in no module */
};

struct function_list {
	struct listed_function *all; /* by address; one more, with address 0, is at the end */
	size_t nr;
	struct function_names *names;
};

/*
 * Add the functions of a text, which ends after size bytes or at a NUL, and is not needed afterwards. Malformed lines
 * are left out, as are absolute symbols and names that begin with a $. NULL: there is no text. 0; -ENOMEM: nothing was
 * added.
 */
int function_list_add(struct function_list *list, const char *text, size_t size);

void function_list_free(struct function_list *list);

/*
 * The function that has the address. NULL: the address is before the first function, or after the beginning of the last
 * one, whose end is unknown. Any number of threads may look up functions at the same time.
 */
const struct listed_function *function_list_find(const struct function_list *list, uint64_t address);

/* Empty: the function is in no module. */
const char *function_module(const struct listed_function *function);

#endif
