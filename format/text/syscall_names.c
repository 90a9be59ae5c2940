/* SPDX-License-Identifier: MIT */
/* See syscall_names.h. format/include.am makes the list. */
#include "format/text/syscall_names.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

static const struct {
	int64_t number;
	const char *name;
} calls[] = {
#include "format/text/syscall_list.h"
};

#define NR_CALLS (sizeof(calls) / sizeof(calls[0]))

const char *syscall_name(int64_t number)
{
	for (size_t i = 0; i < NR_CALLS; i++)
		if (calls[i].number == number)
			return calls[i].name;
	return NULL;
}

int64_t syscall_number(const char *name)
{
	for (size_t i = 0; i < NR_CALLS; i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].number;
	return -1;
}
