/* SPDX-License-Identifier: MIT */
#include "cli/record/record_buffers.h"

#include <stdlib.h>
#include <string.h>

/* The maximum length of a buffer's name. The instance's directory has a longer name, which the kernel limits to 255. */
#define NAME_MOST 200u

static bool refuse(const char *name, const char *why)
{
	complain(opts_command(), "buffer '%s' (-B) %s", name, why);
	return false;
}

static bool is_name(const struct record_buffers *buffers, const char *name)
{
	bool given = buffers->now.name && !strcmp(buffers->now.name, name);

	for (unsigned int i = 0; i < buffers->nr; i++)
		given |= buffers->before[i].name && !strcmp(buffers->before[i].name, name);
	if (given)
		return refuse(name, "is given twice");
	for (const char *at = name; *at; at++)
		if (*at == '/' || (unsigned char)*at < ' ')
			return refuse(name, "has a character that a name of an instance cannot have");
	if (!*name || strlen(name) > NAME_MOST || !strcmp(name, ".") || !strcmp(name, ".."))
		return refuse(name, "needs a name of 1 to 200 characters");
	return true;
}

/* Append `now` to the buffers before it. */
static bool push(struct record_buffers *buffers)
{
	struct record_buffer *before = realloc(buffers->before, (buffers->nr + 1) * sizeof(*before));

	if (!before) {
		complain(opts_command(), "out of memory");
		return false;
	}
	/* If -P is given twice, the last one applies. */
	if (*buffers->programs != buffers->programs_before) {
		for (unsigned int i = 0; i < buffers->nr; i++)
			before[i].has_pids = false;
		buffers->now.has_pids = true;
	}
	buffers->programs_before = *buffers->programs;
	buffers->before = before;
	before[buffers->nr++] = buffers->now;
	return true;
}

bool record_buffers_begin(void *arg, const struct opt *opt, const char *name)
{
	struct record_buffers *buffers = arg;

	if (!is_name(buffers, name))
		return false;
	if (buffers->nr == RECORD_BUFFERS_MAX)
		return refuse(name, "is the 64th buffer: a recording has at most 63");
	if (!push(buffers))
		return false;
	buffers->now = (struct record_buffer){ .name = name };
	if (opt_list_add(buffers->events, opt, name))
		return true;
	complain(opts_command(), "out of memory");
	return false;
}

bool record_buffers_end(struct record_buffers *buffers)
{
	bool only_command = false, ignore_missing = false;

	if (!push(buffers))
		return false;
	buffers->now = buffers->before[0];
	memmove(buffers->before, buffers->before + 1, --buffers->nr * sizeof(*buffers->before));
	for (unsigned int i = 0; i <= buffers->nr; i++) {
		only_command |= record_buffers_get(buffers, i)->request.only_command;
		ignore_missing |= record_buffers_get(buffers, i)->request.ignore_missing;
	}
	for (unsigned int i = 0; i <= buffers->nr; i++) {
		record_buffers_get(buffers, i)->request.only_command = only_command;
		record_buffers_get(buffers, i)->request.ignore_missing = ignore_missing;
	}
	return true;
}

struct record_buffer *record_buffers_get(struct record_buffers *buffers, unsigned int i)
{
	if (!i)
		return &buffers->now;
	return i <= buffers->nr ? &buffers->before[i - 1] : NULL;
}

bool record_buffers_any(const struct record_buffers *buffers)
{
	bool any = kernel_request_is_any(&buffers->now.request);

	for (unsigned int i = 0; i < buffers->nr; i++)
		any |= kernel_request_is_any(&buffers->before[i].request);
	return any;
}

static void free_one(struct record_buffer *buffer)
{
	kernel_request_free(&buffer->request);
	opt_list_free(&buffer->functions);
	opt_list_free(&buffer->options);
}

void record_buffers_free(struct record_buffers *buffers)
{
	free_one(&buffers->now);
	for (unsigned int i = 0; i < buffers->nr; i++)
		free_one(&buffers->before[i]);
	free(buffers->before);
	buffers->before = NULL;
	buffers->nr = 0;
}
