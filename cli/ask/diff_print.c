/* SPDX-License-Identifier: MIT */
/* See diff_print.h. */
#include "cli/ask/diff_print.h"

#include "cli/common/show_text.h"
#include "cli/common/terminal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- JSON */

/* Prints a number; null if it is infinite, which JSON does not have. */
static void json_number(const char *name, double value)
{
	if (isfinite(value))
		printf(", \"%s\": %.9g", name, value);
	else
		printf(", \"%s\": null", name);
}

static void json_row(const struct diff_row *row)
{
	static const char *const kinds[] = { "span", "class", "latency", "events" };

	printf("{\"kind\": \"%s\", \"name\": ", kinds[row->kind]);
	show_json(stdout, row->series ? row->series->name : "*");
	if (row->kind == DIFF_CLASS && row->series)
		printf(", \"class\": \"%s\"", row->series->class);
	printf(", \"statistic\": \"%s\"", diff_statistic_name(row->statistic));
	json_number("a", row->a);
	json_number("b", row->b);
	json_number("change", row->change);
	json_number("low", row->low);
	json_number("high", row->high);
	json_number("effect", row->effect);
	json_number("p", row->p);
	json_number("adjusted", row->adjusted);
	printf(", \"changed\": %s, \"values\": [%zu, %zu], \"units\": [%zu, %zu]}\n",
	       row->is_changed ? "true" : "false", row->nr_values[0], row->nr_values[1], row->nr_units[0],
	       row->nr_units[1]);
}

void diff_print_json(const struct diff_result *result, bool all)
{
	for (size_t i = 0; i < (all ? result->nr_rows : result->nr_changed); i++)
		json_row(&result->rows[i]);
}

/* ------------------------------------------------------------------------------------------------------------- text */

/* Print four digits with their unit; or, for events and for times that are not nanoseconds, a number. */
static void value_text(const struct diff_row *row, bool is_ns, double value, char *text, size_t size)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t i = 0;

	if (isnan(value)) {
		snprintf(text, size, "-");
		return;
	}
	if (row->kind == DIFF_COUNT || !is_ns) {
		/* Ticks are whole numbers, or means of some. */
		snprintf(text, size, row->kind == DIFF_COUNT ? "%.6g" : "%.15g", value);
		return;
	}
	while (i < 3 && value < units[i].ns)
		i++;
	snprintf(text, size, "%.4g %s", value / units[i].ns, units[i].name);
}

/* Print a change with its sign. If the value was 0 before, it is "new". */
static void change_text(double change, char *text, size_t size)
{
	if (isinf(change))
		snprintf(text, size, "new");
	else if (fabs(change) >= 10)
		snprintf(text, size, "x%.1f", change + 1);
	else
		snprintf(text, size, "%+.1f%%", 100 * change);
}

static void print_name(const struct diff_row *row)
{
	static const char *const common[] = { "all spans", "all spans", "all tasks", "all events" };
	const char *name = row->series ? row->series->name : common[row->kind];

	fputs(paint(PAINT_NAME), stdout);
	show_text(stdout, name, strlen(name), false);
	fputs(paint_end(), stdout);
}

static void print_what(const struct diff_row *row)
{
	if (row->kind == DIFF_CLASS)
		printf(", %s", row->series ? row->series->class : "a class");
	else if (row->kind == DIFF_LATENCY)
		fputs(", wait after wake-up", stdout);
	printf(", %s", diff_statistic_name(row->statistic));
}

static void print_row(const struct diff_row *row, bool is_ns)
{
	char a[32], b[32], change[32], low[32], high[32];

	value_text(row, is_ns, row->a, a, sizeof(a));
	value_text(row, is_ns, row->b, b, sizeof(b));
	change_text(row->change, change, sizeof(change));
	change_text(row->low, low, sizeof(low));
	change_text(row->high, high, sizeof(high));
	printf("%s%8s%s  ", paint(row->is_changed ? PAINT_BAD : PAINT_DIM), change, paint_end());
	print_name(row);
	print_what(row);
	if (!row->series)
		printf(" of %zu\n", row->nr_values[0]);
	else if (isinf(row->change))
		printf(": %s -> %s; effect %+.2f, p %.2g\n", a, b, row->effect, row->adjusted);
	else
		printf(": %s -> %s; %s to %s, effect %+.2f, p %.2g\n", a, b, low, high, row->effect, row->adjusted);
}

void diff_print_text(const struct diff_result *result, const unsigned int runs[2], bool is_ns, bool all)
{
	printf("%s%zu of %zu comparisons changed%s, %u run%s against %u", paint(PAINT_TITLE), result->nr_changed,
	       result->nr_rows, paint_end(), runs[0], runs[0] == 1 ? "" : "s", runs[1]);
	puts(result->by_runs ? "" : "; too few runs to know how much runs vary, so small changes may be missed");
	for (size_t i = 0; i < (all ? result->nr_rows : result->nr_changed); i++)
		print_row(&result->rows[i], is_ns);
}
