/* SPDX-License-Identifier: MIT */
/*
 * recorder hist: counts events by their fields, as the kernel's hist triggers do; or shows the distribution of a
 * field's values.
 */
#include "cli/cmd.h"

#include "cli/ask/hist_keys.h"
#include "cli/ask/hist_print.h"
#include "cli/ask/hist_table.h"
#include "cli/ask/svg_bars.h"
#include "cli/common/show_text.h"
#include "cli/common/terminal.h"
#include "cli/common/trace_events.h"
#include "cli/report/report_field.h"
#include "format/io/json.h"
#include "format/text/event_float.h"
#include "format/text/event_print.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "hist"

/* The size of a picture. */
#define BARS_MAX 60u

struct options {
	const char *events, *keys, *value;
	bool json, svg;
	unsigned int color;
};

struct counter {
	const struct options *o;
	struct trace_input input;
	struct report_filter *filter;
	struct hist_keys keys;
	struct hist_table table; /* used if there are keys, or no value */
	struct hist hist;	 /* of the value; used if there are no keys */
	uint64_t hits, dropped;	 /* number of events; of these, number without a field */
	struct dat_gaps gaps;
};

static bool is_distribution(const struct options *o)
{
	return o->value && !o->keys;
}

/* --------------------------------------------------------------------------------------------------------- counting */

static int count_event(struct counter *c, const struct dat_event *event, struct blob *key)
{
	struct hist_value value = { 0 };

	if ((c->o->value && !hist_value_of(&c->keys, event, &value)) || !hist_key_of(&c->keys, event, key)) {
		c->dropped++;
		return 0;
	}
	c->hits++;
	if (key->error)
		return -ENOMEM;
	if (!is_distribution(c->o))
		return hist_table_add(&c->table, key->data, key->size, &value);
	/* Numbers of more than 63 bits become INT64_MAX. */
	return hist_add(&c->hist, value.whole > INT64_MAX ? INT64_MAX : (int64_t)value.whole);
}

static int count_all(struct counter *c)
{
	struct blob key = BLOB_INIT;
	struct dat_merge *merge = NULL;
	struct dat_event event;
	int err = dat_merge_open(c->input.file, &c->input.time, NULL, NULL, &merge);

	while (!err && dat_merge_next(merge, &event)) {
		struct tep_record record = event_record(&event);

		dat_gaps_note(&c->gaps, &event);
		if (report_filter_has(c->filter, &event, &record))
			err = count_event(c, &event, &key);
	}
	if (!err)
		dat_gaps_end(&c->gaps, merge);
	dat_merge_close(merge);
	blob_free(&key);
	return err;
}

/* --------------------------------------------------------------------------------------------------------- printing */

static void put_real(double number, struct blob *out, bool is_text)
{
	char text[EVENT_FLOAT_TEXT];

	event_float_text(number, sizeof(number), text);
	if (is_text)
		blob_printf(out, "%10s", text);
	else
		blob_printf(out, "%s", isfinite(number) ? text : "null");
}

/* A sum beyond 64 bits is printed as a rounded number. */
static void put_sum(const struct hist_row *row, struct blob *out, bool is_text)
{
	const __int128 sum = row->sum.whole;

	if (row->sum.has_decimals)
		put_real(hist_row_sum(row), out, is_text);
	else if (sum >= 0 && sum <= UINT64_MAX)
		blob_printf(out, is_text ? "%10" PRIu64 : "%" PRIu64, (uint64_t)sum);
	else if (sum < 0 && sum >= INT64_MIN)
		blob_printf(out, is_text ? "%10" PRId64 : "%" PRId64, (int64_t)sum);
	else
		blob_printf(out, "%.17g", (double)sum);
}

static void print_text(const struct counter *c, struct hist_row **rows, struct blob *out)
{
	for (size_t i = 0; rows[i]; i++) {
		out->size = 0;
		hist_key_put_text(&c->keys, rows[i]->key, out);
		blob_printf(out, " hitcount: %10" PRIu64, rows[i]->hits);
		if (c->o->value) {
			blob_printf(out, "  %s: ", c->o->value);
			put_sum(rows[i], out, true);
		}
		show_text(stdout, (const char *)out->data, out->size, false);
		putchar('\n');
	}
	printf("\nTotals:\n    Hits: %" PRIu64 "\n    Entries: %zu\n    Dropped: %" PRIu64 "\n", c->hits, c->table.nr,
	       c->dropped);
}

static void print_json(const struct counter *c, struct hist_row **rows, struct blob *out)
{
	blob_printf(out, "{\"name\":");
	json_string(out, c->o->events, strlen(c->o->events));
	blob_printf(out, ",\"hits\":%" PRIu64 ",\"entries\":%zu,\"dropped\":%" PRIu64, c->hits, c->table.nr,
		    c->dropped);
	hist_put_gaps(out, &c->gaps);
	blob_printf(out, ",\"rows\":[");
	for (size_t i = 0; rows[i]; i++) {
		blob_printf(out, "%s{\"key\":{", i ? "," : "");
		hist_key_put_json(&c->keys, rows[i]->key, out);
		blob_printf(out, "},\"hitcount\":%" PRIu64, rows[i]->hits);
		if (c->o->value) {
			blob_printf(out, ",\"sum\":");
			put_sum(rows[i], out, false);
		}
		blob_printf(out, "}");
	}
	blob_printf(out, "]}\n");
	show_bytes(stdout, out->data, out->size);
}

/* Print the picture: a bar for each key, the most frequent keys first. */
static void print_svg(const struct counter *c, struct hist_row **rows, struct blob *out)
{
	const size_t nr = c->table.nr, shown = nr < BARS_MAX ? nr : BARS_MAX;
	struct svg_bars bars;
	char line[96];

	svg_open(&bars, stdout, c->o->events, 2, (unsigned int)shown);
	snprintf(line, sizeof(line), "%" PRIu64 " events, %zu keys%s", c->hits, nr,
		 shown < nr ? "; the most frequent ones are shown" : "");
	svg_line(&bars, line);
	if (c->gaps.places || c->gaps.damaged)
		svg_line(&bars, "Events are missing from the trace.");
	for (size_t i = nr; i > nr - shown; i--) {
		out->size = 0;
		hist_key_put_text(&c->keys, rows[i - 1]->key, out);
		svg_bar(&bars, (const char *)out->data, out->size, rows[i - 1]->hits, rows[nr - 1]->hits);
	}
	svg_close(&bars);
}

static int print_table(const struct counter *c)
{
	struct hist_row **rows = hist_table_rows(&c->table);
	struct blob out = BLOB_INIT;
	int err;

	if (!rows)
		return -ENOMEM;
	if (c->o->json)
		print_json(c, rows, &out);
	else if (c->o->svg)
		print_svg(c, rows, &out);
	else
		print_text(c, rows, &out);
	err = out.error;
	blob_free(&out);
	free(rows);
	return err;
}

static int print_distribution(const struct counter *c)
{
	struct blob name = BLOB_INIT;
	struct hist_shown shown = { .of = "values", .hist = &c->hist, .gaps = &c->gaps };
	int err = 0;

	blob_printf(&name, "%s of %s", c->o->value, c->o->events);
	blob_put(&name, "", 1);
	shown.name = (const char *)name.data;
	if (name.error)
		err = -ENOMEM;
	else if (c->o->json)
		err = hist_print_json(&shown);
	else if (c->o->svg)
		hist_print_svg(&shown);
	else
		hist_print_text(&shown);
	blob_free(&name);
	return err;
}

/* ------------------------------------------------------------------------------------------------------------- main */

static int count_and_print(struct counter *c)
{
	int status, err = count_all(c);

	if (!err) {
		signal(SIGPIPE, SIG_IGN);
		terminal_start();
		err = is_distribution(c->o) ? print_distribution(c) : print_table(c);
	}
	if (err)
		return trace_input_fail_memory(&c->input);
	status = trace_input_report_gaps(&c->input, &c->gaps);
	trace_report_absent(c->input.command, c->input.path, c->input.table);
	if (!c->hits)
		complain(COMMAND, "%s: there is nothing to count", c->input.path);
	return c->hits ? status : EXIT_FAILURE;
}

static int open_filter(struct counter *c)
{
	const struct report_filter_file of = { c->input.file, &c->input.time, c->input.table, false, NULL };

	return report_filter_open(COMMAND, c->o->events, &of, &c->filter);
}

static int run(const struct options *o, const char *path)
{
	struct counter c = { .o = o, .table = HIST_TABLE_INIT, .hist = HIST_INIT };
	int status = trace_input_open(COMMAND, path, &c.input);

	if (!status)
		status = open_filter(&c);
	if (!status)
		status = hist_keys_open(&c.input, c.filter, o->keys, o->value, &c.keys);
	if (!status)
		status = count_and_print(&c);
	hist_table_free(&c.table);
	hist_free(&c.hist);
	hist_keys_close(&c.keys);
	report_filter_close(c.filter);
	return trace_input_close(&c.input, status);
}

int cmd_hist(int argc, char **argv)
{
	struct options o = { 0 };
	const struct opt table[] = {
		OPT_STRING('e', "event", "EVENT",
			   "count these events: SYSTEM:NAME, patterns, a filter, as for report -F", &o.events),
		OPT_STRING('k', "key", "FIELDS",
			   "count by fields, separated by commas; also cpu, common_pid, comm, event", &o.keys),
		OPT_STRING('v', "value", "FIELD", "with -k, add up FIELD; alone, print how it is distributed",
			   &o.value),
		OPT_FLAG(0, "json", "print a JSON object", &o.json),
		OPT_FLAG(0, "svg", "write a picture to standard output", &o.svg),
		OPT_COLOR(o.color),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "-e EVENT [FILE]",
		.about =
			"Count the events of FILE, by default trace.dat, by key as the kernel's hist triggers do; or "
			"print how the\n"
			"values of a field are distributed. A field may have a suffix: .hex, .log2, .execname, .sym, "
			".syscall.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (!o.events) {
		complain(COMMAND, "which events? -e SYSTEM:NAME expected");
		return EXIT_USAGE;
	}
	if (o.json && o.svg) {
		complain(COMMAND, "--json and --svg exclude each other");
		return EXIT_USAGE;
	}
	terminal_use(o.color);
	return run(&o, operands[0] ? operands[0] : "trace.dat");
}
