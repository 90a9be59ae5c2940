/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

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
	fputs("\033[K", stderr); /* erases what the last line had more */
	fflush(stderr);
}

void progress_clear(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
	progress->shown_at = 0;
}

const char *human_size(uint64_t bytes, char *text, int size)
{
	static const char units[][3] = { "kB", "MB", "GB", "TB" };
	double value = (double)bytes / 1000;
	unsigned int unit = 0;

	if (bytes < 1000) {
		snprintf(text, (size_t)size, "%u bytes", (unsigned int)bytes);
		return text;
	}
	/* What would be rounded to 1000 of one unit is 1.0 of the next. */
	while (value >= 999.95 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(text, (size_t)size, "%.1f %s", value, units[unit]);
	return text;
}
