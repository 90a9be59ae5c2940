/* SPDX-License-Identifier: MIT */
#include "tests/unit/event_fixture.h"

#include "librecorder/process/process.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <librecorder/event_text.h>
#include <librecorder/log.h>
#include <librecorder/page.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>
#include <unistd.h>

static struct tep_handle *tep;
static char *text;
static size_t text_size;
static unsigned int count;

/* A new handle each time: libtraceevent accepts no more printk formats once it has looked one up. */
static void begin(void)
{
	char format[REC_EVENT_TEXT_MAX];
	int n;

	tep = tep_alloc();
	tep_set_long_size(tep, 8);
	tep_set_loglevel(TEP_LOG_ALL);
	n = rec_printf_event_text(REC_EVENT_ID_FIRST, format, sizeof(format));
	cr_assert_gt(n, 0);
	cr_assert_eq(tep_parse_event(tep, format, (unsigned long)n, "ftrace"), 0);
}

static void take_record(const struct rec_log_record *record)
{
	const struct rec_log_printf *site = (const void *)record;
	char format[REC_EVENT_TEXT_MAX];
	int n;

	if (record->kind == REC_LOG_EVENT) {
		n = rec_event_text((const void *)record, record->id, format, sizeof(format));
		cr_assert_gt(n, 0, "event %u has no text: %d", record->id, n);
		cr_assert_eq(tep_parse_event(tep, format, (unsigned long)n, "test"), 0, "%s", format);
	} else if (record->kind == REC_LOG_PRINTF) {
		n = rec_printf_format_text(site, format, sizeof(format));
		cr_assert_gt(n, 0);
		cr_assert_eq(tep_register_print_string(tep, format, site->site), 0);
		strcpy(format, rec_printf_function(site));
		cr_assert_eq(tep_register_function(tep, format, site->site, NULL), 0);
	}
}

static void take_log(struct rec_view *view)
{
	const size_t size = 4u << 20;
	const struct rec_log_record *record;
	unsigned char *log = malloc(size);
	size_t n = rec_view_log(view, 0, log, size), offset = 0;

	while ((record = rec_log_next(log, n, &offset)))
		take_record(record);
	cr_assert_eq(offset, n, "the log is read to its end");
	free(log);
}

static void print_page(FILE *out, const struct rec_page *page)
{
	struct rec_page_iter iter;
	struct rec_record record;
	struct tep_record tep_record;
	struct trace_seq seq;

	rec_page_iter_init(&iter, page->data, page->size);
	while (rec_page_next(&iter, &record) == 1) {
		if (record.offset < page->from)
			continue;
		memset(&tep_record, 0, sizeof(tep_record));
		tep_record.size = (int)record.size;
		tep_record.data = (void *)(uintptr_t)record.payload;
		trace_seq_init(&seq);
		tep_print_event(tep, &seq, &tep_record, "%s: %s", TEP_PRINT_NAME, TEP_PRINT_INFO);
		trace_seq_terminate(&seq);
		fprintf(out, "%s\n", seq.buffer);
		trace_seq_destroy(&seq);
		count++;
	}
}

static const char *print_view(struct rec_view *view)
{
	const int saved = dup(STDERR_FILENO), said = memfd_create("stderr", MFD_CLOEXEC);
	char what[4096] = "";
	struct rec_page page;
	FILE *out;

	fflush(stderr);
	dup2(said, STDERR_FILENO);
	begin();
	count = 0;
	free(text);
	out = open_memstream(&text, &text_size);
	take_log(view);
	for (unsigned int lane = 0; lane < rec_view_lanes(view); lane++)
		while (rec_view_read(view, lane, 0, &page) == 1)
			print_page(out, &page);
	fclose(out);
	tep_free(tep);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	cr_assert_eq(pread(said, what, sizeof(what) - 1, 0), 0, "libtraceevent says: %s", what);
	close(said);
	return text;
}

const char *event_fixture_text(void)
{
	static struct rec_view *view;

	if (!view)
		cr_assert_eq(rec_view_open(rec_process_path(), &view), 0, "%s", rec_process_path());
	return print_view(view);
}

const char *event_fixture_text_of(const char *path)
{
	struct rec_view *view;

	cr_assert_eq(rec_view_open(path, &view), 0, "%s", path);
	print_view(view);
	rec_view_close(view);
	return text;
}

unsigned int event_fixture_count(void)
{
	return count;
}
