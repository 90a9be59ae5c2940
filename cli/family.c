/* SPDX-License-Identifier: MIT */
#include "cli/family.h"

#include <errno.h>
#include <stdlib.h>

int family_add(struct family *family, const struct process *process)
{
	struct process *list = realloc(family->list, (family->nr + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	family->list = list;
	list[family->nr++] = *process;
	return 0;
}

/* A program that is started anew does not know when its parent began. But not later than itself. */
static bool is_parent(const struct process *one, const struct process *self, const struct process *parent)
{
	return one->pid == parent->pid &&
	       (parent->start_time ? one->start_time == parent->start_time : one->start_time <= self->start_time);
}

bool family_has(const struct family *family, const struct process *self, const struct process *parent)
{
	for (unsigned int i = 0; i < family->nr; i++) {
		const struct process *one = &family->list[i];

		if ((one->pid == self->pid && one->start_time == self->start_time) || is_parent(one, self, parent))
			return true;
	}
	return false;
}

void family_free(struct family *family)
{
	free(family->list);
	*family = (struct family){ 0 };
}
