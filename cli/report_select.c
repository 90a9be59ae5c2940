/* SPDX-License-Identifier: MIT */
#include "cli/report_select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The flags of an event that -I and -S leave out (facts trace-dat 1.7). */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10

static int out_of_memory(void)
{
	complain("report", "out of memory");
	return EXIT_FAILURE;
}

static bool parse_number(const char **text, uint32_t *ret_number)
{
	unsigned long number;
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	number = strtoul(*text, &end, 10);
	if (errno || number >= 1u << 20)
		return false;
	*text = end;
	*ret_number = (uint32_t)number;
	return true;
}

static int want_cpus(struct report_select *select, uint32_t first, uint32_t last)
{
	if (last >= select->nr_wanted) {
		bool *wanted = realloc(select->wanted, last + 1);

		if (!wanted)
			return out_of_memory();
		memset(wanted + select->nr_wanted, 0, last + 1 - select->nr_wanted);
		select->wanted = wanted;
		select->nr_wanted = last + 1;
	}
	memset(select->wanted + first, true, last - first + 1);
	return 0;
}

/* "0,2-5" */
int report_select_cpus(struct report_select *select)
{
	const char *at = select->cpus;
	uint32_t first, last;
	int status;

	if (!at)
		return 0;
	while (parse_number(&at, &first)) {
		last = first;
		if (*at == '-') {
			at++;
			if (!parse_number(&at, &last) || last < first)
				break;
		}
		status = want_cpus(select, first, last);
		if (status)
			return status;
		if (!*at)
			return 0;
		if (*at != ',' && *at != ':')
			break;
		at++;
	}
	complain("report", "--cpu '%s' is not a list of CPUs such as 0,2-5", select->cpus);
	return EXIT_USAGE;
}

bool report_select_has_cpu(const void *arg, const struct dat_buffer *buffer, uint32_t cpu)
{
	const struct report_select *select = arg;

	(void)buffer;
	return !select->cpus || (cpu < select->nr_wanted && select->wanted[cpu]);
}

static int open_filters(struct report_select *select, const struct dat_file *file, const struct dat_time *time)
{
	int status = 0;

	select->filter = calloc(select->filters.nr ? select->filters.nr : 1, sizeof(struct report_filter *));
	if (!select->filter)
		return out_of_memory();
	for (unsigned int i = 0; !status && i < select->filters.nr; i++) {
		status = report_filter_open(select->filters.items[i], file, select->table, !time->seconds, &select->filter[i]);
		select->nr_filters += !status;
	}
	return status;
}

/* One filter that takes the event is enough. */
static bool filters_take(const struct report_select *select, const struct dat_event *event, const struct tep_record *record)
{
	for (unsigned int i = 0; i < select->nr_filters; i++)
		if (report_filter_has(select->filter[i], event, record))
			return true;
	return !select->nr_filters;
}

/*
 * A stack belongs to the event in front of it on its CPU. trace-cmd 3.1.6 shows every stack of a CPU, whatever the
 * filters say of it, once an event of that CPU was shown.
 */
bool report_select_has(struct report_select *select, const struct dat_event *event, struct tep_record *record)
{
	bool has_stacks = event->cpu < select->nr_stack_cpus;

	if (select->no_hardirq || select->no_softirq) {
		int flags = event_flags(select->table, record->data, (uint32_t)record->size);

		if (flags > 0 && ((select->no_hardirq && flags & FLAG_HARDIRQ) || (select->no_softirq && flags & FLAG_SOFTIRQ)))
			return false;
	}
	if (filters_take(select, event, record)) {
		if (has_stacks)
			select->stack_follows[event->cpu] = true;
		return true;
	}
	return has_stacks && select->stack_follows[event->cpu] &&
	       event_id(select->table, record->data, (uint32_t)record->size) == select->stack_id;
}

static int open_stacks(struct report_select *select, const struct dat_file *file)
{
	struct tep_event *event = tep_find_event_by_name(select->table->tep, "ftrace", "kernel_stack");

	select->stack_id = event ? event->id : -1;
	for (size_t i = 0; i < file->nr_buffers; i++) {
		if (file->buffers[i].cpus > select->nr_stack_cpus)
			select->nr_stack_cpus = file->buffers[i].cpus;
	}
	select->stack_follows = calloc(select->nr_stack_cpus ? select->nr_stack_cpus : 1, sizeof(bool));
	return select->stack_follows ? 0 : out_of_memory();
}

/* A CPU that the file does not have would print nothing, without a reason. */
static int check_cpus(const struct report_select *select, const struct dat_file *file)
{
	uint32_t cpus = file->cpus;

	for (size_t i = 0; i < file->nr_buffers; i++)
		if (file->buffers[i].cpus > cpus)
			cpus = file->buffers[i].cpus;
	for (uint32_t cpu = 0; cpu < select->nr_wanted && cpu < cpus; cpu++)
		if (select->wanted[cpu])
			return 0;
	if (!select->cpus || !cpus)
		return 0;
	complain("report", "--cpu '%s': the file has only CPUs 0 to %u", select->cpus, cpus - 1);
	return EXIT_FAILURE;
}

int report_select_open(struct report_select *select, const struct dat_file *file, const struct dat_time *time,
		       struct event_table *table)
{
	int status;

	select->table = table;
	status = check_cpus(select, file);
	if (!status)
		status = open_filters(select, file, time);
	return status ? status : open_stacks(select, file);
}

void report_select_close(struct report_select *select)
{
	for (unsigned int i = 0; i < select->nr_filters; i++)
		report_filter_close(select->filter[i]);
	free(select->filter);
	free(select->stack_follows);
	free(select->wanted);
	opt_list_free(&select->filters);
}
