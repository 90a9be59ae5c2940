/* SPDX-License-Identifier: MIT */
#include "cli/common/opts.h"
#include "cli/report/report_list.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/show_text.h"
#include "cli/report/report.h"
#include "format/dat/dat_seek.h"

bool report_lists_any(const struct report_lists *lists)
{
	return lists->page_size || lists->endian || lists->formats || lists->formats_of || lists->check ||
	       lists->functions || lists->printk || lists->events || lists->cpus || lists->first || lists->last ||
	       lists->version || lists->uname || lists->stat;
}

/* ---------------------------------------------------------------------------------------------------------- formats */

/* The two expressions of "SYSTEM:EVENT", or a single one that is searched for in both names. */
struct pattern {
	regex_t system, event;
	bool both; /* if a system matches, all its events are listed */
};

static int compile(regex_t *regex, const char *text, size_t size)
{
	char *copy = strndup(text, size);
	int err = copy ? regcomp(regex, copy, REG_ICASE | REG_NOSUB) : REG_ESPACE;

	free(copy);
	return err;
}

static int open_pattern(const char *text, struct pattern *ret_pattern)
{
	const char *colon;
	int err;

	/* If there is only one side, trace-cmd searches for it in both names. */
	text += strspn(text, ":");
	colon = strchr(text, ':');
	ret_pattern->both = !colon || !colon[1];
	err = compile(&ret_pattern->system, text, colon ? (size_t)(colon - text) : strlen(text));
	if (err)
		return err;
	if (ret_pattern->both)
		err = compile(&ret_pattern->event, text, strcspn(text, ":"));
	else
		err = compile(&ret_pattern->event, colon + 1, strlen(colon + 1));
	if (err)
		regfree(&ret_pattern->system);
	return err;
}

static void close_pattern(struct pattern *pattern)
{
	regfree(&pattern->system);
	regfree(&pattern->event);
}

/* The name of a format text: "name: submit". */
static void name_of(const struct dat_format *format, char name[256])
{
	const char *text = format->text.text ? format->text.text : "";

	if (strncmp(text, "name: ", 6) != 0)
		text = "";
	else
		text += 6;
	snprintf(name, 256, "%.*s", (int)strcspn(text, "\n"), text);
}

static bool matches(const struct pattern *pattern, const struct dat_format *format)
{
	const bool system = !regexec(&pattern->system, format->system, 0, NULL, 0);
	char name[256];
	bool event;

	name_of(format, name);
	event = !regexec(&pattern->event, name, 0, NULL, 0);
	return pattern->both ? system || event : system && event;
}

/* The first formats of system "ftrace" are those of the tracers, which trace-cmd does not list. */
static size_t first_event(const struct dat_file *file)
{
	size_t i = 0;

	while (i < file->nr_formats && !strcmp(file->formats[i].system, "ftrace"))
		i++;
	return i;
}

static int list_formats(struct report *r)
{
	const char *system = NULL, *text = r->lists.formats_of;
	struct pattern pattern;
	int err = text ? open_pattern(text, &pattern) : 0;

	if (err) {
		complain(opts_command(), "--event '%s' is not a regular expression", text);
		return EXIT_USAGE;
	}
	for (size_t i = first_event(r->file); i < r->file->nr_formats; i++) {
		const struct dat_format *format = &r->file->formats[i];

		if (text && !matches(&pattern, format))
			continue;
		if (!system || strcmp(system, format->system) != 0)
			printf("\nsystem: %s\n", format->system);
		system = format->system;
		fwrite(format->text.text, 1, format->text.size, stdout);
		putchar('\n');
	}
	if (text)
		close_pattern(&pattern);
	return 0;
}

static int list_all_formats(struct report *r)
{
	r->lists.formats_of = NULL;
	return list_formats(r);
}

/* ------------------------------------------------------------------------------------------------------------- CPUs */

/* The data of an event that are shown. */
struct moment {
	uint64_t ts;
	bool known; /* the file describes the event */
};

/* Find the first event from the time `from` on, or the last one. 1; 0: the stream has no such event; -ENOMEM. */
static int find_moment(const struct report *r, const struct dat_buffer *buffer, const struct dat_stream *stream,
		       uint64_t from, bool last, struct moment *ret_moment)
{
	struct dat_merge *merge;
	struct dat_event event;
	int found = 0;

	if (dat_merge_open_stream(r->file, &r->time, buffer, stream, from, &merge))
		return -ENOMEM;
	while ((last || !found) && dat_merge_next(merge, &event)) {
		found = 1;
		ret_moment->ts = event.ts;
		ret_moment->known = event_type(r->table, event_id(r->table, event.data, event.size)) != NULL;
	}
	dat_merge_close(merge);
	return found;
}

static int find_last(const struct report *r, const struct dat_buffer *buffer, const struct dat_stream *stream,
		     struct moment *ret_moment)
{
	uint64_t ts;
	int found = dat_last_time(r->file, buffer, stream, &r->time, &ts);

	return found > 0 ? find_moment(r, buffer, stream, ts, true, ret_moment) : found;
}

static void print_time(const struct report *r, const char *what, const struct moment *moment)
{
	const uint64_t ts = moment->ts, us = (ts + 500) / 1000;

	printf("\t%s event:", what);
	if (!moment->known)
		printf("[UNKNOWN EVENT]");
	else if (!r->time.seconds)
		printf("%12" PRIu64, ts);
	else if (r->print.full_ts)
		printf("%5" PRIu64 ".%09" PRIu64, ts / 1000000000, ts % 1000000000);
	else
		printf("%5" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
}

/* Lists the CPUs of the buffer without a name, as trace-cmd does; CPUs without events are left out. */
static int list_cpus(struct report *r)
{
	printf("List of CPUs in %s with data:\n", r->path);
	for (size_t i = 0; i < r->file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &r->file->buffers[i];

		for (uint32_t s = 0; !buffer->name[0] && s < buffer->nr_streams; s++) {
			const struct dat_stream *stream = &buffer->streams[s];
			struct moment first, last = { 0 };
			int found = find_moment(r, buffer, stream, 0, false, &first);

			if (!found)
				continue;
			if (found > 0 && r->lists.last)
				found = find_last(r, buffer, stream, &last);
			if (found < 0)
				return report_fail_memory(r);
			printf("  %" PRIu32, stream->cpu);
			if (r->lists.first)
				print_time(r, "First", &first);
			if (r->lists.last)
				print_time(r, "Last", &last);
			putchar('\n');
		}
	}
	return 0;
}

/* ---------------------------------------------------------------------------------------------- texts of the making */

static void print_option(const struct report *r, unsigned int id, const char *what)
{
	const struct dat_option *option = dat_option(r->file, id);

	if (option)
		printf("%s\n", option->data);
	else
		printf(" %s was not recorded in this file\n", what);
}

static int list_version(struct report *r)
{
	report_head(r);
	print_option(r, DAT_VERSION, "version");
	return 0;
}

/* Print the uname; trace-cmd prints the version as well. */
static int list_uname(struct report *r)
{
	report_head(r);
	print_option(r, DAT_UNAME, "uname");
	print_option(r, DAT_VERSION, "version");
	return 0;
}

/* Print where the streams are in the file, in the order of their CPUs. */
static void print_places(const struct dat_buffer *buffer)
{
	uint32_t next = 0;

	for (uint32_t cpu = 0; cpu < buffer->cpus; cpu++) {
		const bool has_data = next < buffer->nr_streams && buffer->streams[next].cpu == cpu;
		const struct dat_stream *stream = has_data ? &buffer->streams[next++] : NULL;

		printf("CPU%" PRIu32 " data recorded at offset=0x%" PRIx64 "\n    %" PRIu64 " bytes in size\n", cpu,
		       stream ? stream->offset : 0, stream ? stream->size : 0);
	}
}

static int list_stat(struct report *r)
{
	bool found = false;

	report_head(r);
	printf("\nKernel buffer statistics:\n"
	       "  Note: \"entries\" are the entries left in the kernel ring buffer and are not\n"
	       "        recorded in the trace data. They should all be zero.\n\n");
	for (size_t i = 0; i < r->file->nr_options; i++) {
		if (r->file->options[i].id != DAT_CPUSTAT)
			continue;
		puts(r->file->options[i].data);
		found = true;
	}
	puts(found ? "" : " No stats in this file");
	for (size_t i = 0; i < r->file->nr_buffers; i++) {
		if (!r->file->buffers[i].name[0]) {
			print_places(&r->file->buffers[i]);
			break;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------------ small lists */

static int list_page_size(struct report *r)
{
	printf("file page size is %" PRIu32 ", and host page size is %ld\n", r->file->page_size, sysconf(_SC_PAGESIZE));
	return 0;
}

static int list_endian(struct report *r)
{
	printf("file is %s endian and host is %s endian\n", r->file->big ? "big" : "little",
	       __BYTE_ORDER == __BIG_ENDIAN ? "big" : "little");
	return 0;
}

static int list_functions(struct report *r)
{
	const struct function_list *functions = event_table_functions(r->table);

	for (size_t i = 0; i < functions->nr; i++) {
		const char *module = function_module(&functions->all[i]);

		printf("%016" PRIx64 " %s", functions->all[i].address, functions->all[i].name);
		if (*module)
			printf(" [%s]", module);
		putchar('\n');
	}
	return 0;
}

static int list_printk(struct report *r)
{
	tep_print_printk(r->table->tep);
	return 0;
}

static int list_events(struct report *r)
{
	struct tep_event **events = tep_list_events(r->table->tep, TEP_EVENT_SORT_SYSTEM);

	for (uint32_t i = 0; events && i < r->table->nr_events; i++)
		printf("%s:%s\n", events[i]->system, events[i]->name);
	return 0;
}

/* Whether libtraceevent could parse all formats. The exit status is the result, as with trace-cmd. */
static int check_formats(struct report *r)
{
	return r->table->failed.nr ? EINVAL : 0;
}

static int print_list(void *arg)
{
	struct report *r = arg;
	const struct report_lists *lists = &r->lists;
	const struct {
		bool wanted;
		int (*list)(struct report *r);
	} all[] = {
		{ lists->page_size, list_page_size },
		{ lists->endian, list_endian },
		{ lists->formats, list_all_formats },
		{ lists->formats_of != NULL, list_formats },
		{ lists->check, check_formats },
		{ lists->functions, list_functions },
		{ lists->printk, list_printk },
		{ lists->events, list_events },
		{ lists->cpus || lists->first || lists->last, list_cpus },
		{ lists->version, list_version },
		{ lists->uname, list_uname },
		{ lists->stat, list_stat },
	};
	unsigned int i = 0;

	while (!all[i].wanted)
		i++;
	return all[i].list(r);
}

/* Whether the list is one that trace-cmd prints only for the first file. */
static bool is_of_first_file(const struct report_lists *lists)
{
	return lists->page_size || lists->endian || lists->formats || lists->formats_of || lists->check ||
	       lists->functions || lists->printk || lists->events;
}

int report_list(struct report *r)
{
	const int status = r->lines.escapes ? show_escaped(print_list, r) : print_list(r);

	report_written(r);
	/* With -V, libtraceevent prints messages when it is closed. After these lists trace-cmd prints none of them. */
	if (is_of_first_file(&r->lists) || r->lists.cpus || r->lists.first || r->lists.last)
		tep_set_loglevel(TEP_LOG_NONE);
	return status == -ENOMEM ? report_fail_memory(r) : status;
}

int report_list_several(struct report *all, unsigned int nr)
{
	const bool first_only = is_of_first_file(&all->lists);
	int status = 0;

	report_name_heads(all, nr);
	for (unsigned int i = 0; i < (first_only ? 1 : nr) && !status; i++)
		status = report_list(&all[i]);
	return status;
}
