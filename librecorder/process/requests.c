/* SPDX-License-Identifier: MIT */
/*
 * The requests of the program, in a list: the newest first. A program that switches back and forth does not grow the
 * list, because a request replaces an earlier one with the same patterns. Memory is taken and given back without the
 * process lock (process.h).
 */
#include "librecorder/process/requests.h"

#include <stdlib.h>
#include <string.h>

#include "librecorder/core/selector.h"

struct rec_request {
	struct rec_request *next; /* the request before this one */
	bool on;
	char text[]; /* a selector */
};

static struct rec_request *requests;

struct rec_request *rec_request_make(const char *selector, bool on)
{
	const size_t size = strlen(selector) + 1;
	struct rec_request *request = malloc(sizeof(*request) + size);

	if (!request)
		return NULL;
	memcpy(request->text, selector, size);
	request->on = on;
	request->next = NULL;
	return request;
}

/* Remove the requests with these patterns. Returns them. */
static struct rec_request *take_out(const char *text)
{
	struct rec_request **at = &requests, *removed = NULL;

	while (*at) {
		struct rec_request *request = *at;

		if (rec_selector_same_patterns(request->text, text)) {
			*at = request->next;
			request->next = removed;
			removed = request;
		} else {
			at = &request->next;
		}
	}
	return removed;
}

struct rec_request *rec_requests_add(struct rec_request *request)
{
	struct rec_request *removed = take_out(request->text);

	request->next = requests;
	requests = request;
	return removed;
}

void rec_requests_free(struct rec_request *removed)
{
	struct rec_request *next;

	for (; removed; removed = next) {
		next = removed->next;
		free(removed);
	}
}

void rec_requests_add_lines(const char *selectors)
{
	const char *end;
	struct rec_request *request;
	struct rec_selector selector;
	char *line;

	for (; *selectors; selectors = *end ? end + 1 : end) {
		end = strchrnul(selectors, '\n');
		line = strndup(selectors, (size_t)(end - selectors));
		request = line && rec_selector_parse(line, &selector) == 0 ? rec_request_make(line, true) : NULL;
		if (request)
			rec_requests_free(rec_requests_add(request));
		free(line);
	}
}

const char *rec_requests_find(const struct rec_words *system, const struct rec_words *name, bool *ret_on)
{
	struct rec_selector selector;

	for (const struct rec_request *request = requests; request; request = request->next) {
		if (rec_selector_parse(request->text, &selector) < 0 || !rec_selector_matches(&selector, system, name))
			continue;
		*ret_on = request->on;
		return request->text;
	}
	return NULL;
}
