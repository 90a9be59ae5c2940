/* SPDX-License-Identifier: MIT */
#include "cli/common/opts.h"
#include "cli/report/report_select.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The flags of an event that -I and -S leave out (facts trace-dat 1.7). */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10

static int out_of_memory(void)
{
	complain(opts_command(), "out of memory");
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

/*
 * Read a list of CPUs, "0,2-5". As with trace-cmd, blanks may precede a number, and a separator may follow the last
 * one.
 */
static int read_cpus(struct report_select *select, const char *list)
{
	const char *at = list + strspn(list, " ");
	uint32_t first, last;
	int status;

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
		if (*at && !strchr(",: ", *at))
			break;
		at += *at != '\0';
		if (!*at)
			return 0;
		at += strspn(at, " ");
	}
	complain(opts_command(), "--cpu '%s' is not a list of CPUs such as 0,2-5", list);
	return EXIT_USAGE;
}

int report_select_cpus(struct report_select *select)
{
	int status = 0;

	for (unsigned int i = 0; !status && i < select->choice->cpus.nr; i++)
		status = read_cpus(select, select->choice->cpus.items[i]);
	return status;
}

/* Whether the name, which is a pattern, matches a buffer; "top" is the buffer without a name. */
static bool is_buffer(const char *name, const struct dat_buffer *buffer)
{
	return !fnmatch(name, buffer->name, 0) || (!buffer->name[0] && !strcmp(name, "top"));
}

bool report_select_has_number(const struct report_select *select, uint32_t cpu)
{
	return !select->choice->cpus.nr || (cpu < select->nr_wanted && select->wanted[cpu]);
}

bool report_select_has_buffer(const void *arg, const struct dat_buffer *buffer, uint32_t cpu)
{
	const struct report_select *select = arg;

	(void)cpu;
	for (unsigned int i = 0; i < select->choice->buffers.nr; i++)
		if (is_buffer(select->choice->buffers.items[i], buffer))
			return true;
	return !select->choice->buffers.nr;
}

bool report_select_has_cpu(const void *arg, const struct dat_buffer *buffer, uint32_t cpu)
{
	return report_select_has_number(arg, cpu) && report_select_has_buffer(arg, buffer, cpu);
}

/* Open the filters that select events, then those after -v that leave events out. */
static int open_filters(struct report_select *select, const struct dat_file *file, const struct dat_time *time)
{
	const struct opt_list *filters = &select->choice->filters;
	const struct report_filter_file of = { file, time, select->table, select->grows, &select->contexts };
	bool wanted = true;
	int status = 0;

	select->filter = calloc(filters->nr ? filters->nr : 1, sizeof(struct report_filter *));
	if (!select->filter)
		return out_of_memory();
	for (unsigned int i = 0; !status && i < filters->nr; i++) {
		if (!filters->items[i]) {
			wanted = false;
			continue;
		}
		status = report_filter_open("report", filters->items[i], &of, &select->filter[select->nr_filters]);
		select->nr_filters += !status;
		select->nr_wanted_filters += !status && wanted;
	}
	return status;
}

/* Whether an event passes: one filter or task matches it. */
static bool is_wanted(const struct report_select *select, const struct dat_event *event,
		      const struct tep_record *record)
{
	for (unsigned int i = 0; i < select->nr_wanted_filters; i++)
		if (report_filter_has(select->filter[i], event, record))
			return true;
	return (!select->nr_wanted_filters && !select->tasks.nr) ||
	       about_tasks_has(&select->tasks, record->data, (uint32_t)record->size);
}

static bool is_left_out(const struct report_select *select, const struct dat_event *event,
			const struct tep_record *record)
{
	for (unsigned int i = select->nr_wanted_filters; i < select->nr_filters; i++)
		if (report_filter_has(select->filter[i], event, record))
			return true;
	return false;
}

/*
 * A stack belongs to the event before it on its CPU. trace-cmd 3.1.6 shows every stack of a CPU once an event of that
 * CPU was shown, whether the filters select the stack or not.
 */
bool report_select_has(struct report_select *select, const struct dat_event *event, struct tep_record *record)
{
	bool has_stacks = event->cpu < select->nr_stack_cpus;

	if (event->ts < select->window.since)
		return false;
	if (select->choice->no_hardirq || select->choice->no_softirq) {
		int flags = event_flags(select->table, record->data, (uint32_t)record->size);

		if (flags > 0 && ((select->choice->no_hardirq && flags & FLAG_HARDIRQ) ||
				  (select->choice->no_softirq && flags & FLAG_SOFTIRQ)))
			return false;
	}
	if (is_wanted(select, event, record)) {
		const bool shown = !is_left_out(select, event, record);

		if (has_stacks)
			select->stack_follows[event->cpu] = shown;
		return shown;
	}
	return has_stacks && select->stack_follows[event->cpu] &&
	       event_id(select->table, record->data, (uint32_t)record->size) == select->stack_id &&
	       !is_left_out(select, event, record);
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

/*
 * A task selects events of any type. If an event is selected, so is the stack after it, whether filters select stacks
 * or not.
 */
static int open_types(struct report_select *select)
{
	const struct event_table *table = select->table;

	if (!select->nr_wanted_filters || select->tasks.nr || !event_ids_lead(table))
		return 0;
	select->types = calloc(EVENT_NR_IDS, sizeof(bool));
	if (!select->types)
		return out_of_memory();
	for (int id = 0; id < (int)EVENT_NR_IDS; id++) {
		select->types[id] = id == select->stack_id;
		for (unsigned int i = 0; i < select->nr_wanted_filters; i++)
			select->types[id] |= report_filter_names(select->filter[i], id);
	}
	return 0;
}

void report_select_types(const struct report_select *select, const struct tep_event *call, struct dat_merge *merge)
{
	if (select->types && !(call && call->id >= 0 && call->id < (int)EVENT_NR_IDS && select->types[call->id]))
		dat_merge_only(merge, select->types);
}

/* Report a CPU that the file does not have: otherwise nothing would be printed, without a reason. */
static int check_cpus(const struct report_select *select, const struct dat_file *file)
{
	uint32_t cpus = file->cpus;

	for (size_t i = 0; i < file->nr_buffers; i++)
		if (file->buffers[i].cpus > cpus)
			cpus = file->buffers[i].cpus;
	for (uint32_t cpu = 0; cpu < select->nr_wanted && cpu < cpus; cpu++)
		if (select->wanted[cpu])
			return 0;
	if (!select->choice->cpus.nr || !cpus)
		return 0;
	complain(opts_command(), "--cpu '%s': the file has only CPUs 0 to %u", select->choice->cpus.items[0],
		 cpus - 1);
	return EXIT_FAILURE;
}

static int no_buffer(const char *name, const struct dat_file *file)
{
	char names[256] = "";
	size_t used = 0;

	for (size_t b = 0; b < file->nr_buffers && used < sizeof(names); b++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s'%s'", b ? ", " : "",
					 file->buffers[b].name[0] ? file->buffers[b].name : "top");
	complain(opts_command(), "-B '%s': the file has no such buffer, only %s", name, names);
	return EXIT_FAILURE;
}

/* Report a pattern that matches no buffer: otherwise nothing would be printed, without a reason. */
static int check_buffers(const struct report_select *select, const struct dat_file *file)
{
	for (unsigned int i = 0; i < select->choice->buffers.nr; i++) {
		const char *name = select->choice->buffers.items[i];
		bool found = false;

		for (size_t b = 0; !found && b < file->nr_buffers; b++)
			found = is_buffer(name, &file->buffers[b]);
		if (found)
			continue;
		return no_buffer(name, file);
	}
	return 0;
}

int report_select_open(struct report_select *select, const struct dat_file *file, const struct dat_time *time,
		       struct event_table *table)
{
	int status;

	select->table = table;
	status = check_cpus(select, file);
	if (!status)
		status = check_buffers(select, file);
	if (!status)
		status = open_filters(select, file, time);
	if (!status)
		status = report_tasks_open(&select->tasks, &select->choice->pids, &select->choice->comms, table);
	if (!status)
		status = open_stacks(select, file);
	return status ? status : open_types(select);
}

void report_select_close(struct report_select *select)
{
	for (unsigned int i = 0; i < select->nr_filters; i++)
		report_filter_close(select->filter[i]);
	free(select->filter);
	event_contexts_close(&select->contexts.values);
	about_tasks_close(&select->tasks);
	free(select->types);
	free(select->stack_follows);
	free(select->wanted);
}

void report_select_again(struct report_select *select)
{
	select->window.selected = 0;
	memset(select->stack_follows, 0, select->nr_stack_cpus * sizeof(bool));
}
