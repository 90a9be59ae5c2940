/* SPDX-License-Identifier: MIT */
#include "cli/common/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/base/now.h"

#define PERIOD_NS UINT64_C(250000000)

void progress_init(struct progress *progress, bool quiet)
{
	progress->on = !quiet && isatty(STDERR_FILENO);
	progress->shown = false;
	progress->shown_at = 0;
}

bool progress_is_due(const struct progress *progress)
{
	return progress->on && now_ns() - progress->shown_at >= PERIOD_NS;
}

void progress_show(struct progress *progress, const char *format, ...)
{
	va_list args;

	if (!progress_is_due(progress))
		return;
	progress->shown_at = now_ns();
	progress->shown = true;
	fputc('\r', stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\033[K", stderr); /* erases the rest of a longer line that was there before */
	fflush(stderr);
}

void progress_clear(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
	progress->shown_at = 0;
}

static void show_percent(void *arg, uint64_t percent)
{
	progress_show(arg, "weaving: %" PRIu64 "%%", percent);
}

static void clear(void *arg)
{
	progress_clear(arg);
}

bool progress_finish(struct output *output, struct spool *spool, const struct selections *selections,
		     const struct drain_trouble *trouble)
{
	struct progress progress;
	bool good;

	progress_init(&progress, output->quiet);
	output->weaving = show_percent;
	output->woven = clear;
	output->weaving_arg = &progress;
	good = output_finish(output, spool, selections, trouble);
	output->weaving = NULL;
	output->woven = NULL;
	return good;
}
