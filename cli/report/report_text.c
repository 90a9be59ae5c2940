/* SPDX-License-Identifier: MIT */
/* The report as text: its first line, then one for each event (report_lines.h). */
#include "cli/common/missing_parts.h"
#include "cli/report/report.h"
#include "cli/report/report_spans.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/io/bytes.h"

/* The highest number in options CPUCOUNT; 0 without one. */
static uint32_t machine_cpus(const struct report *r)
{
	uint32_t cpus = 0;

	for (size_t i = 0; i < r->file->nr_options; i++) {
		const struct dat_option *option = &r->file->options[i];

		if (option->id == DAT_CPUCOUNT && option->size >= 4 && bytes_get32(option->data, r->file->big) > cpus)
			cpus = bytes_get32(option->data, r->file->big);
	}
	return cpus;
}

/* The number of the top buffer's CPUs; in version 7 at least that of the machine. */
uint32_t report_cpus(const struct report *r)
{
	const struct dat_buffer *top = NULL;
	uint32_t cpus = r->file->cpus;

	for (size_t i = 0; !top && i < r->file->nr_buffers; i++) {
		if (!r->file->buffers[i].name[0])
			top = &r->file->buffers[i];
	}
	if (r->file->version == 7)
		cpus = top && top->cpus > machine_cpus(r) ? top->cpus : machine_cpus(r);
	return cpus;
}

bool report_head(struct report *r)
{
	if (r->head_name)
		printf("%*s: ", r->head_width, r->head_name);
	printf("cpus=%" PRIu32 "\n", report_cpus(r));
	return report_written(r);
}

static int print_lines(struct report *r)
{
	struct dat_merge *merge;
	int status = report_merge_open(r, true, &merge);

	if (status)
		return status;
	r->lines.printer = &r->printer;
	r->lines.merge = merge;
	r->lines.select = &r->select;
	r->lines.at_once = r->follow.wanted;
	status = report_lines_print(&r->lines) ? report_fail_memory(r)
		 : r->lines.write_error	       ? 0
					       : report_damage(r, merge);
	if (r->stats)
		report_lines_stats(&r->lines);
	dat_merge_close(merge);
	return status;
}

static int print_events(struct report *r)
{
	struct report_wakeup wakeup;
	int status;

	r->lines.ts_check = r->ts_check;
	r->lines.buffers = r->file->buffers;
	if (r->wakeups) {
		report_wakeup_open(&wakeup, r->table);
		r->lines.wakeup = &wakeup;
	}
	status = print_lines(r);
	if (r->wakeups && !status)
		report_wakeup_end(&wakeup);
	if (r->wakeups)
		report_wakeup_close(&wakeup);
	number_map_free(&r->lines.last);
	return status;
}

int report_text(struct report *r)
{
	if (!report_head(r))
		return 0;
	report_verbose_cpus(r, true);
	return report_is_latency(r) ? report_latency(r) : print_events(r);
}

/*
 * To pair begins with ends, all CPUs of the selected buffers are read, and also the time before the first span that is
 * printed. 0; or the exit status, and one line was printed.
 */
static int open_spans(struct report *r)
{
	if (dat_merge_open(r->file, &r->time, report_select_has_buffer, &r->select, &r->lines.merge))
		return report_fail_memory(r);
	r->lines.printer = &r->printer;
	r->lines.select = &r->select;
	return 0;
}

/* For --tail: count the selected spans, to find the number of those that are not printed. Returns as above. */
static int skip_spans(struct report *r)
{
	struct report_window *window = &r->select.window;
	int err, status = open_spans(r);

	if (status)
		return status;
	err = report_spans_count(&r->lines);
	dat_merge_close(r->lines.merge);
	window->skip = window->selected > window->tail ? window->selected - window->tail : 0;
	report_select_again(&r->select);
	return err ? report_fail_memory(r) : 0;
}

int report_spans(struct report *r)
{
	uint64_t given_up = 0;
	int err, status = r->select.window.tail ? skip_spans(r) : 0;

	if (status || !report_head(r))
		return status;
	status = open_spans(r);
	if (status)
		return status;
	err = report_spans_print(&r->lines, r->time.seconds, &given_up);
	status = err ? report_fail_memory(r) : r->lines.write_error ? 0 : report_damage(r, r->lines.merge);
	complain_given_up(opts_command(), r->path, given_up);
	dat_merge_close(r->lines.merge);
	return status;
}
