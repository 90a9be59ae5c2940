/* SPDX-License-Identifier: MIT */
/* See hist_print.h. */
#include "cli/ask/hist_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask/svg_bars.h"
#include "cli/base/human_ns.h"
#include "cli/common/show_text.h"
#include "cli/common/terminal.h"
#include "cli/report/report_field.h"
#include "format/hist/hist_rows.h"
#include "format/io/json.h"

#define BAR_WIDTH 50u

static const struct figure {
	const char *name;
	uint32_t millionths;
} percentiles[] = { { "p50", 500000 }, { "p90", 900000 }, { "p99", 990000 }, { "p99.9", 999000 } };

#define NR_PERCENTILES (sizeof(percentiles) / sizeof(percentiles[0]))

const char *hist_text(int64_t value, bool is_ns, char to[HIST_TEXT_SIZE])
{
	char text[HUMAN_NS_SIZE];

	if (!is_ns || value < 0) {
		snprintf(to, HIST_TEXT_SIZE, "%" PRId64 "%s", value, is_ns ? " ns" : "");
		return to;
	}
	snprintf(to, HIST_TEXT_SIZE, "%s", human_ns_trimmed((uint64_t)value, text));
	return to;
}

static const char *mean_text(const struct hist_shown *shown, char to[HIST_TEXT_SIZE])
{
	const double mean = hist_mean(shown->hist);

	if (shown->is_ns && mean >= 0)
		return hist_text((int64_t)(mean + 0.5), true, to);
	snprintf(to, HIST_TEXT_SIZE, "%.3f", mean);
	return to;
}

/* ------------------------------------------------------------------------------------------------------------- text */

static void print_figure(const char *name, const char *text)
{
	printf("  %-6s %s%12s%s\n", name, paint(PAINT_TIME), text, paint_end());
}

static void print_figures(const struct hist_shown *shown)
{
	char text[HIST_TEXT_SIZE];

	if (!shown->hist->count)
		return;
	print_figure("min", hist_text(shown->hist->min, shown->is_ns, text));
	print_figure("mean", mean_text(shown, text));
	for (size_t i = 0; i < NR_PERCENTILES; i++)
		print_figure(percentiles[i].name,
			     hist_text(hist_percentile(shown->hist, percentiles[i].millionths), shown->is_ns, text));
	print_figure("max", hist_text(shown->hist->max, shown->is_ns, text));
}

static void print_left_out(const struct hist_shown *shown)
{
	const struct series_counts *counts = shown->counts;

	if (counts && counts->no_begin)
		printf("  left out: %" PRIu64 " whose begin is not in the trace\n", counts->no_begin);
	if (counts && counts->no_end)
		printf("  left out: %" PRIu64 " whose end is not in the trace\n", counts->no_end);
	if (counts && counts->cut)
		printf("  left out: %" PRIu64 " cut short, or with lost events inside\n", counts->cut);
}

static void print_rows(const struct hist_shown *shown)
{
	struct hist_rows rows;
	struct hist_bucket row;
	char low[HIST_TEXT_SIZE], high[HIST_TEXT_SIZE];

	hist_rows_open(shown->hist, &rows);
	if (shown->hist->count)
		putchar('\n');
	while (hist_rows_next(&rows, &row)) {
		unsigned int length = (unsigned int)((double)row.count / (double)rows.highest * BAR_WIDTH + 0.5);

		/* If a row has values, its bar is visible, however few there are. */
		length = row.count && !length ? 1 : length;
		hist_text(row.low, shown->is_ns, low);
		hist_text(row.high, shown->is_ns, high);
		printf("  %12s .. %12s %10" PRIu64 "%s%s", low, high, row.count, length ? "  " : "", paint(PAINT_GOOD));
		for (unsigned int i = 0; i < length; i++)
			putchar('#');
		printf("%s\n", paint_end());
	}
}

void hist_print_text(const struct hist_shown *shown)
{
	fputs(paint(PAINT_TITLE), stdout);
	show_text(stdout, shown->name, strlen(shown->name), false);
	printf("%s: %" PRIu64 " %s\n", paint_end(), shown->hist->count, shown->of);
	print_figures(shown);
	print_left_out(shown);
	print_rows(shown);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

/* Put a number; null if there are no values. */
static void put_number(struct blob *out, const struct hist *hist, const char *name, int64_t value)
{
	if (hist->count)
		blob_printf(out, ",\"%s\":%" PRId64, name, value);
	else
		blob_printf(out, ",\"%s\":null", name);
}

static void put_figures(struct blob *out, const struct hist *hist)
{
	int64_t sum;

	blob_printf(out, ",\"count\":%" PRIu64, hist->count);
	put_number(out, hist, "min", hist->min);
	if (hist->count)
		blob_printf(out, ",\"mean\":%.17g", hist_mean(hist));
	else
		blob_printf(out, ",\"mean\":null");
	/* A sum beyond 64 bits is printed as a rounded number. */
	if (hist_sum(hist, &sum))
		blob_printf(out, ",\"sum\":%" PRId64, sum);
	else
		blob_printf(out, ",\"sum\":%.17g", hist_mean(hist) * (double)hist->count);
	for (size_t i = 0; i < NR_PERCENTILES; i++)
		put_number(out, hist, percentiles[i].name, hist_percentile(hist, percentiles[i].millionths));
	put_number(out, hist, "max", hist->max);
}

void hist_put_gaps(struct blob *out, const struct dat_gaps *gaps)
{
	if (gaps->is_unknown)
		blob_printf(out, ",\"lost\":null");
	else
		blob_printf(out, ",\"lost\":%" PRIu64, gaps->lost);
	blob_printf(out, ",\"losses\":%" PRIu64 ",\"damaged_pages\":%" PRIu64, gaps->places, gaps->damaged);
}

int hist_print_json(const struct hist_shown *shown)
{
	struct blob out = BLOB_INIT;
	struct hist_bucket bucket;
	const char *comma = "";
	uint32_t place = 0;
	int err;

	blob_printf(&out, "{\"name\":");
	json_string(&out, shown->name, strlen(shown->name));
	blob_printf(&out, ",\"unit\":\"%s\"", shown->is_ns ? "ns" : "");
	put_figures(&out, shown->hist);
	if (shown->counts)
		blob_printf(&out, ",\"no_begin\":%" PRIu64 ",\"no_end\":%" PRIu64 ",\"cut\":%" PRIu64,
			    shown->counts->no_begin, shown->counts->no_end, shown->counts->cut);
	hist_put_gaps(&out, shown->gaps);
	blob_printf(&out, ",\"buckets\":[");
	while (hist_next(shown->hist, &place, &bucket)) {
		blob_printf(&out, "%s[%" PRId64 ",%" PRId64 ",%" PRIu64 "]", comma, bucket.low, bucket.high,
			    bucket.count);
		comma = ",";
	}
	blob_printf(&out, "]}\n");
	err = out.error;
	if (!err)
		show_bytes(stdout, out.data, out.size);
	blob_free(&out);
	return err;
}

/* ---------------------------------------------------------------------------------------------------------- picture */

/* Print a line of figures: "p50 1.2 ms p90 ..." */
static void put_svg_figures(struct svg_bars *bars, const struct hist_shown *shown)
{
	char text[HIST_TEXT_SIZE], line[(NR_PERCENTILES + 3) * (HIST_TEXT_SIZE + 8)];
	int at;

	snprintf(line, sizeof(line), "%" PRIu64 " %s", shown->hist->count, shown->of);
	svg_line(bars, line);
	if (!shown->hist->count)
		return;
	at = snprintf(line, sizeof(line), "min %s", hist_text(shown->hist->min, shown->is_ns, text));
	at += snprintf(line + at, sizeof(line) - (size_t)at, ", mean %s", mean_text(shown, text));
	snprintf(line + at, sizeof(line) - (size_t)at, ", max %s", hist_text(shown->hist->max, shown->is_ns, text));
	svg_line(bars, line);
	at = 0;
	for (size_t i = 0; i < NR_PERCENTILES; i++) {
		hist_text(hist_percentile(shown->hist, percentiles[i].millionths), shown->is_ns, text);
		at += snprintf(line + at, sizeof(line) - (size_t)at, "%s%s %s", i ? ", " : "", percentiles[i].name,
			       text);
	}
	svg_line(bars, line);
}

void hist_print_svg(const struct hist_shown *shown)
{
	char low[HIST_TEXT_SIZE], high[HIST_TEXT_SIZE], label[2 * HIST_TEXT_SIZE + 4];
	const bool has_gaps = shown->gaps->places || shown->gaps->damaged;
	struct svg_bars bars;
	struct hist_rows rows;
	struct hist_bucket row;
	unsigned int nr = 0;

	for (hist_rows_open(shown->hist, &rows); hist_rows_next(&rows, &row);)
		nr++;
	svg_open(&bars, stdout, shown->name, 4, nr);
	put_svg_figures(&bars, shown);
	if (has_gaps)
		svg_line(&bars, "Events are missing from the trace.");
	for (hist_rows_open(shown->hist, &rows); hist_rows_next(&rows, &row);) {
		snprintf(label, sizeof(label), "%s .. %s", hist_text(row.low, shown->is_ns, low),
			 hist_text(row.high, shown->is_ns, high));
		svg_bar(&bars, label, strlen(label), row.count, rows.highest);
	}
	svg_close(&bars);
}
