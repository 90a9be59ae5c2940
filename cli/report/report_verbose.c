/* SPDX-License-Identifier: MIT */
/* The lines about a file that a verbose report prints before the events, as trace-cmd does. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/common/opts.h"
#include "cli/report/report.h"

/* Whether lines of this level are printed; --debug includes all levels. */
static bool says(const struct report *r, enum verbosity level)
{
	return r->print.places || r->verbosity >= level;
}

void report_verbose(const struct report *r)
{
	if (says(r, VERBOSITY_INFO))
		printf("version = %u\n", r->file->version);
	for (size_t i = 0; says(r, VERBOSITY_WARNING) && i < r->file->nr_options; i++) {
		const struct dat_option *option = &r->file->options[i];

		if (option->id > DAT_OPTION_LAST)
			complain(opts_command(), "%s: unknown option %u", r->path, option->id);
	}
}

static bool is_empty(const struct dat_buffer *buffer, uint32_t cpu)
{
	for (uint32_t i = 0; i < buffer->nr_streams; i++)
		if (buffer->streams[i].cpu == cpu && buffer->streams[i].size)
			return false;
	return true;
}

void report_verbose_cpus(const struct report *r, bool named)
{
	for (size_t i = 0; says(r, VERBOSITY_INFO) && i < r->file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &r->file->buffers[i];

		for (uint32_t cpu = 0; named == !!buffer->name[0] && cpu < buffer->cpus; cpu++)
			if (is_empty(buffer, cpu))
				printf("CPU %" PRIu32 " is empty\n", cpu);
	}
}

void report_not_verbose(struct report *r)
{
	r->verbosity = VERBOSITY_NONE;
	r->print.places = false;
}
