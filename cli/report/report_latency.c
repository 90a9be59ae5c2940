/* SPDX-License-Identifier: MIT */
/* A file of a latency tracer, such as wakeup or irqsoff: it has the tracer's text instead of events. */
#include "cli/report/report.h"

#include <string.h>

#include "cli/common/show_text.h"

/* The text that was read and not yet printed. */
struct window {
	size_t size;
	char text[65536];
};

static const struct dat_buffer *find_text(const struct report *r)
{
	for (size_t i = 0; i < r->file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &r->file->buffers[i];

		if (buffer->latency && !buffer->name[0])
			return buffer;
	}
	return NULL;
}

bool report_is_latency(const struct report *r)
{
	return find_text(r);
}

/* Print up to the last line feed, if there is one, so that no UTF-8 character is cut. */
static void print_lines(const struct report *r, struct window *window)
{
	const char *end = memrchr(window->text, '\n', window->size);
	const size_t size = end ? (size_t)(end + 1 - window->text) : window->size;

	if (r->lines.escapes)
		show_text(stdout, window->text, size, true);
	else
		show_bytes(stdout, window->text, size);
	window->size -= size;
	memmove(window->text, window->text + size, window->size);
}

static void add_text(const struct report *r, struct window *window, const struct dat_page *page)
{
	for (size_t at = 0; at < page->size;) {
		size_t size = sizeof(window->text) - window->size;

		if (size > page->size - at)
			size = page->size - at;
		memcpy(window->text + window->size, page->data + at, size);
		window->size += size;
		at += size;
		if (window->size == sizeof(window->text))
			print_lines(r, window);
	}
}

int report_latency(struct report *r)
{
	const struct dat_buffer *buffer = find_text(r);
	struct window window = { 0 };
	struct dat_error error = { 0 };
	struct dat_cursor cursor;
	struct dat_page page;
	int ret;

	if (dat_cursor_open(r->file, buffer, &buffer->text, &cursor))
		return report_fail_memory(r);
	while ((ret = dat_cursor_next(&cursor, &page, &error)) > 0 && report_written(r))
		add_text(r, &window, &page);
	while (window.size)
		print_lines(r, &window);
	dat_cursor_close(&cursor);
	if (ret < 0)
		return report_fail(r, &error);
	putchar('\n'); /* as trace-cmd does */
	return 0;
}
