/* SPDX-License-Identifier: MIT */
/*
 * The requests of the program, in a list: the newest first. A program that switches back and forth does not grow the
 * list, because a request replaces an earlier one with the same patterns.
 */
#include "librecorder/process/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "librecorder/core/selector.h"

struct request {
	struct request *next; /* the request before this one */
	bool on;
	char text[]; /* a selector */
};

static struct request *requests;

static void forget(const char *text)
{
	struct request **at = &requests;

	while (*at) {
		struct request *request = *at;

		if (rec_selector_same_patterns(request->text, text)) {
			*at = request->next;
			free(request);
		} else {
			at = &request->next;
		}
	}
}

int rec_requests_add(const char *selector, bool on)
{
	const size_t size = strlen(selector) + 1;
	struct request *request = malloc(sizeof(*request) + size);

	if (!request)
		return -ENOMEM;
	forget(selector);
	memcpy(request->text, selector, size);
	request->on = on;
	request->next = requests;
	requests = request;
	return 0;
}

void rec_requests_add_lines(const char *selectors)
{
	const char *end;
	struct rec_selector selector;
	char *line;

	for (; *selectors; selectors = *end ? end + 1 : end) {
		end = strchrnul(selectors, '\n');
		line = strndup(selectors, (size_t)(end - selectors));
		if (line && rec_selector_parse(line, &selector) == 0)
			rec_requests_add(line, true);
		free(line);
	}
}

const char *rec_requests_find(const struct rec_words *system, const struct rec_words *name, bool *ret_on)
{
	struct rec_selector selector;

	for (const struct request *request = requests; request; request = request->next) {
		if (rec_selector_parse(request->text, &selector) < 0 || !rec_selector_matches(&selector, system, name))
			continue;
		*ret_on = request->on;
		return request->text;
	}
	return NULL;
}
