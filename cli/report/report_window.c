/* SPDX-License-Identifier: MIT */
#include "cli/common/opts.h"
#include "cli/report/report_window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base/duration.h"
#include "cli/report/report.h"
#include "format/dat/dat_seek.h"

#define NS_PER_S 1000000000u
#define FRACTION 9 /* number of digits of a fraction that are used: nanoseconds */
#define SHOWN	 6 /* number of digits of the fraction that the report prints without -t */

/* A time that is printed as N microseconds is at most this much earlier, or this much later. */
#define ROUNDED_UP   500
#define ROUNDED_DOWN 499

/* A time of more seconds does not fit into nanoseconds. */
#define SECONDS_MAX ((time_t)(INT64_MAX / NS_PER_S))

/* One of the two ends. */
struct edge {
	const char *option;
	const char *text;
	uint64_t start;	  /* what "+TIME" is added to */
	uint64_t from;	  /* where the search for "@EVENT" begins */
	uint64_t first, last; /* times of the file's first and last event */
};

static int wrong(const struct edge *edge, const char *reason)
{
	complain(opts_command(), "%s '%s': %s", edge->option, edge->text, reason);
	return EXIT_USAGE;
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

/* Read a time, with `units` as duration_read_ns(). If the clock does not count nanoseconds, it is a whole number. */
static bool read_time(const char *text, bool seconds, bool units, uint64_t *ret_ns)
{
	char *end;

	if (seconds)
		return (units || !text[strspn(text, "0123456789.")]) && duration_read_ns(text, ret_ns);
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret_ns = strtoull(text, &end, 10);
	return !errno && !*end;
}

/* ------------------------------------------------------------------------------------------------------ clock times */

/* How shown times and times of day are converted. */
struct day_clock {
	struct clock_reading readings[CLOCK_READINGS];
	unsigned int nr; /* 0: not known */
	uint64_t shift;	 /* shown time minus the file's time */
};

/* If the file has a date, the shown times are times of day; otherwise the readings of the clocks give the relation. */
static struct day_clock find_day_clock(const struct report *r)
{
	struct day_clock clock = { .shift = (uint64_t)r->time.adjusted };
	int64_t date;

	if (r->raw_ts)
		return clock;
	if (dat_time_date(r->file, &date)) {
		clock.readings[0].realtime = (uint64_t)date;
		clock.nr = 1;
		clock.shift += r->no_date ? 0 : (uint64_t)date;
	} else if (!r->hz) {
		clock.nr = dat_time_readings(r->file, clock.readings);
	}
	return clock;
}

static uint64_t day_of_shown(const struct day_clock *clock, uint64_t shown)
{
	return clock_reading_realtime(clock->readings, clock->nr, shown - clock->shift);
}

/* A time of day before the clock's time 0 is shown as 0. */
static uint64_t shown_of_day(const struct day_clock *clock, uint64_t day)
{
	const uint64_t shown = clock_reading_mono(clock->readings, clock->nr, day) + clock->shift;

	return shown > INT64_MAX ? 0 : shown;
}

/* A local date as nanoseconds since 1970. */
static uint64_t day_time(struct tm date, uint64_t fraction)
{
	time_t seconds;

	date.tm_isdst = -1;
	seconds = mktime(&date);
	if (seconds < 0)
		return 0;
	return seconds < SECONDS_MAX ? (uint64_t)seconds * NS_PER_S + fraction : INT64_MAX;
}

/* Reads a time of day into *date, which already has the day. False: the text is not a time of day. */
static bool read_day(const char *text, struct tm *date, bool *ret_dated, uint64_t *ret_fraction)
{
	struct tm given = *date;
	const char *rest = strptime(text, "%Y-%m-%d", &given);

	*ret_dated = rest != NULL;
	*ret_fraction = 0;
	if (rest)
		*date = given;
	rest = rest ? rest + strspn(rest, " T") : text;
	date->tm_sec = 0;
	rest = strptime(rest, "%H:%M", date);
	if (rest && *rest == ':')
		rest = strptime(rest + 1, "%S", date);
	if (rest && *rest == '.') {
		char number[16];

		snprintf(number, sizeof(number), "0%.*s", FRACTION + 1, rest);
		rest += 1 + strspn(rest + 1, "0123456789");
		if (!duration_read_ns(number, ret_fraction))
			rest = NULL;
	}
	return rest && !*rest;
}

/*
 * Read a time of day, "14:03" or "14:03:05.25", with an optional date in front. Without a date it is on the day of the
 * first event, or on the next day if the file reaches that time.
 */
static int read_clock(const struct report *r, const struct edge *edge, uint64_t *ret_ts)
{
	const struct day_clock clock = find_day_clock(r);
	uint64_t first, last, fraction, time;
	struct tm day;
	time_t seconds;
	bool dated;

	if (!clock.nr)
		return wrong(
			edge,
			"the file's times are not dates, and it has no readings of the time of day; use a time as "
			"report prints it, or +TIME");
	first = day_of_shown(&clock, edge->first);
	last = day_of_shown(&clock, edge->last);
	seconds = (time_t)(first / NS_PER_S);
	if (!localtime_r(&seconds, &day))
		return wrong(edge, "the file's first event has no valid date");
	if (!read_day(edge->text, &day, &dated, &fraction))
		return wrong(edge, "expected HH:MM:SS, if needed with YYYY-MM-DD in front");
	time = day_time(day, fraction);
	if (!dated && time < first) {
		uint64_t next;

		day.tm_mday++;
		next = day_time(day, fraction);
		time = next <= last ? next : time;
	}
	*ret_ts = shown_of_day(&clock, time);
	return 0;
}

/* ----------------------------------------------------------------------------------------------------------- events */

/* Find the first event at or after edge->from that passes the filter after '@'. */
static int find_event(struct report *r, const struct edge *edge, uint64_t *ret_ts)
{
	const struct report_filter_file of = { r->file, &r->time, r->table, r->follow.wanted, &r->select.contexts };
	struct report_filter *filter;
	struct dat_merge *merge;
	struct tep_record record;
	struct dat_event event;
	bool found = false;
	int status = report_filter_open("report", edge->text + 1, &of, &filter);

	if (status)
		return status;
	if (dat_merge_open_at(r->file, &r->time, report_select_has_cpu, &r->select, edge->from, &merge)) {
		report_filter_close(filter);
		return report_fail_memory(r);
	}
	while (!found && !status && dat_merge_next(merge, &event)) {
		if (event.ts < edge->from)
			continue;
		record = event_record(&event);
		found = report_filter_has(filter, &event, &record);
	}
	dat_merge_close(merge);
	report_filter_close(filter);
	if (!found && !status) {
		complain(opts_command(), "%s '%s': the file has no such event%s", edge->option, edge->text,
			 edge->from > edge->first ? " from --since on" : "");
		return EXIT_FAILURE;
	}
	if (found)
		*ret_ts = event.ts;
	return status;
}

/* ----------------------------------------------------------------------------------------------------- the two ends */

static int find_edge(struct report *r, const struct edge *edge, uint64_t *ret_ts)
{
	const char *text = edge->text;
	uint64_t time;

	if (*text == '@')
		return find_event(r, edge, ret_ts);
	if (strchr(text, ':'))
		return read_clock(r, edge, ret_ts);
	if (!read_time(text + strspn(text, "+-"), r->time.seconds, *text == '+' || *text == '-', &time) ||
	    strspn(text, "+-") > 1)
		return wrong(
			edge,
			r->time.seconds
				? "expected a time as report prints it, +TIME after the start, -TIME before the end, "
				  "HH:MM:SS, or @EVENT"
				: "expected a whole number as report prints it, the same with + or -, or @EVENT");
	if (*text == '+')
		*ret_ts = time > UINT64_MAX - edge->start ? UINT64_MAX : edge->start + time;
	else if (*text == '-')
		*ret_ts = time > edge->last ? 0 : edge->last - time;
	else
		*ret_ts = time;
	return 0;
}

/* Whether a time has the form in which the report prints times that it has rounded. */
static bool is_rounded(const struct report *r, const char *text)
{
	const char *point = strchr(text, '.');

	return r->time.seconds && point && !text[strspn(text, "0123456789.")] && strlen(point + 1) == SHOWN;
}

/* Find the times of the first and the last event of the selected streams. */
static int find_ends(struct report *r, struct edge *edge)
{
	struct dat_merge *merge;
	struct dat_event event;
	uint64_t ts;
	int ret = 0;

	if (dat_merge_open(r->file, &r->time, report_select_has_cpu, &r->select, &merge))
		return report_fail_memory(r);
	if (dat_merge_next(merge, &event))
		edge->first = event.ts;
	dat_merge_close(merge);
	for (size_t i = 0; ret >= 0 && i < r->file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &r->file->buffers[i];

		for (uint32_t s = 0; ret >= 0 && s < buffer->nr_streams; s++) {
			if (!report_select_has_cpu(&r->select, buffer, buffer->streams[s].cpu))
				continue;
			ret = dat_last_time(r->file, buffer, &buffer->streams[s], &r->time, &ts);
			if (ret > 0 && ts > edge->last)
				edge->last = ts;
		}
	}
	return ret < 0 ? report_fail_memory(r) : 0;
}

/* ----------------------------------------------------------------------------------------------------------- --tail */

/*
 * Finds the time from which on each selected stream has at most `places` pages or chunks. *ret_from 0: that includes
 * all of them. Returns 0; -ENOMEM.
 */
static int time_of_tail(struct report *r, uint64_t places, uint64_t *ret_ts)
{
	*ret_ts = 0;
	for (size_t i = 0; i < r->file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &r->file->buffers[i];

		for (uint32_t s = 0; s < buffer->nr_streams; s++) {
			struct dat_places p;
			uint64_t ts;
			int err;

			if (!report_select_has_cpu(&r->select, buffer, buffer->streams[s].cpu))
				continue;
			err = dat_places_open(r->file, buffer, &buffer->streams[s], &r->time, &p);
			if (err)
				return err;
			if (p.nr > places && dat_places_time(&p, p.nr - places, &ts) && ts > *ret_ts)
				*ret_ts = ts;
			dat_places_close(&p);
		}
	}
	return 0;
}

/* Counts the selected events in the window. */
static int count(struct report *r, uint64_t *ret_count)
{
	struct report_walk walk;
	struct tep_record record;
	struct dat_event event;
	const int status = report_walk_open(r, r->choice.lines, &walk);

	if (status)
		return status;
	*ret_count = 0;
	while (report_walk_next(&walk, &event, &record))
		++*ret_count;
	report_walk_close(&walk);
	report_select_again(&r->select);
	return 0;
}

/* Look back, four times as far each time, until enough selected events are found. */
static int find_tail(struct report *r)
{
	struct report_window *window = &r->select.window;
	const uint64_t since = window->since, tail = window->tail, head = window->head;
	uint64_t found = 0, from = 1;
	int status = 0;

	window->head = 0;
	for (uint64_t places = 1; !status && found < tail && from; places *= 4) {
		if (time_of_tail(r, places, &from))
			return report_fail_memory(r);
		if (from < since)
			from = 0;
		window->since = from ? from : since;
		status = count(r, &found);
	}
	window->skip = found > tail ? found - tail : 0;
	window->head = head;
	return status;
}

/* Find the start and the end. A rounded time stands for all times that are printed as this one. */
static int find_edges(struct report *r)
{
	struct report_window *window = &r->select.window;
	struct edge edge = { "--since", window->since_text, 0, 0, 0, 0 };
	int status = find_ends(r, &edge);

	edge.start = edge.from = edge.first;
	if (!status && window->since_text)
		status = find_edge(r, &edge, &window->since);
	if (window->since > edge.start)
		edge.start = window->since;
	if (window->since_text && is_rounded(r, window->since_text))
		window->since -= window->since < ROUNDED_UP ? window->since : ROUNDED_UP;
	if (window->since > edge.from)
		edge.from = window->since;
	edge.option = "--until";
	edge.text = window->until_text;
	if (!status && window->until_text)
		status = find_edge(r, &edge, &window->until);
	if (window->until_text && is_rounded(r, window->until_text) && window->until < UINT64_MAX - ROUNDED_DOWN)
		window->until += ROUNDED_DOWN;
	return status;
}

int report_window_open(struct report *r)
{
	struct report_window *window = &r->select.window;
	int status = 0;

	window->until = UINT64_MAX;
	if (window->since_text || window->until_text)
		status = find_edges(r);
	/* Spans are counted in another way: see report_spans(). */
	if (!status && window->tail && !r->choice.spans)
		status = find_tail(r);
	return status;
}
