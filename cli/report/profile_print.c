/* SPDX-License-Identifier: MIT */
/* Prints the profile as trace-cmd report --profile does: global figures, then groups or tasks, with their lines. */
#include "cli/report/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/show_text.h"

static void print_text(const struct profile *p, const char *text)
{
	if (p->r->lines.escapes)
		show_text(stdout, text, strlen(text), false);
	else
		fputs(text, stdout);
}

void profile_print_function(const struct profile *p, uint64_t address)
{
	const char *name = tep_find_function(p->r->table->tep, address);

	if (name)
		print_text(p, name);
	printf(name ? " (0x%" PRIx64 ")" : "0x%" PRIx64, address);
}

/* ------------------------------------------------------------------------------------------------------------ lines */

/* Each bit of a state has a letter; without bits, the task was ready to run. */
static void print_state(const char *event, uint64_t state)
{
	static const char letters[] = "SDTtXZxKWP";

	printf("%s:", event);
	if (!state)
		putchar('R');
	for (unsigned int i = 0; i < sizeof(letters) - 1; i++) {
		if (state & (UINT64_C(1) << i))
			putchar(letters[i]);
	}
}

static void print_softirq(const char *event, uint64_t number)
{
	static const char *const names[] = { "HI",	     "TIMER",	"NET_TX", "NET_RX",  "BLOCK",
					     "BLOCK_IOPOLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

	if (number < sizeof(names) / sizeof(names[0]))
		printf("%s:%s", event, names[number]);
	else
		printf("%s:%d", event, (int)number);
}

static void print_name(const struct profile *p, const struct profile_line *line)
{
	const char *event = line->kind->event->name;
	const char *function;

	switch (line->kind->show) {
	case PROFILE_STATE:
		print_state(event, line->value);
		return;
	case PROFILE_SOFTIRQ:
		print_softirq(event, line->value);
		return;
	case PROFILE_SYSCALL:
		printf("%s:%d", event, (int)line->value);
		return;
	case PROFILE_FUNCTION:
		function = tep_find_function(p->r->table->tep, line->value);
		fputs("func: ", stdout);
		if (function)
			print_text(p, function);
		printf(function ? "()" : "0x%" PRIx64, line->value);
		return;
	case PROFILE_NUMBER:
		break;
	}
	print_text(p, event);
	printf(":0x%" PRIx64, line->value);
}

void profile_print_time(uint64_t ns, uint64_t ts)
{
	printf("%" PRIu64 "(ts:%" PRIu64 ".%06" PRIu64 ")", ns, ts / 1000000000, (ts % 1000000000 + 500) / 1000);
}

static void print_line(struct profile *p, const struct profile_line *line)
{
	const struct profile_total *total = &line->total;

	fputs("  Event: ", stdout);
	print_name(p, line);
	printf(" (%" PRIu64 ")", total->count);
	if (total->time) {
		printf(" Total: %" PRIu64 " Avg: %" PRIu64 " Max: ", total->time, total->time / total->count);
		profile_print_time(total->max, total->max_ts);
		fputs(" Min:", stdout);
		profile_print_time(total->min, total->min_ts);
	}
	putchar('\n');
	if (!profile_tree(p, line))
		p->is_short_of_memory = true;
}

/* The order of lines: switches, wake-ups, then by event id. */
static int rank_of(const struct profile_line *line)
{
	return line->kind->act == PROFILE_SWITCH ? 0 : line->kind->act == PROFILE_WAKE ? 1 : 2;
}

static int by_kind(const void *a, const void *b)
{
	const struct profile_line *x = *(const struct profile_line *const *)a,
				  *y = *(const struct profile_line *const *)b;
	const int rank = rank_of(x);

	if (rank != rank_of(y))
		return rank < rank_of(y) ? -1 : 1;
	if (x->kind->event->id != y->kind->event->id)
		return x->kind->event->id < y->kind->event->id ? -1 : 1;
	if (rank == 2 && x->total.time != y->total.time)
		return x->total.time > y->total.time ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void print_lines(struct profile *p, struct profile_task *task)
{
	if (task->nr_lines)
		qsort(task->lines, task->nr_lines, sizeof(struct profile_line *), by_kind);
	for (size_t i = 0; i < task->nr_lines; i++)
		print_line(p, task->lines[i]);
}

/* ------------------------------------------------------------------------------------------------------------ tasks */

static int by_tid(const void *a, const void *b)
{
	const struct profile_task *x = *(const struct profile_task *const *)a,
				  *y = *(const struct profile_task *const *)b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int by_comm(const void *a, const void *b)
{
	return strcmp(((const struct profile_task *)a)->comm, ((const struct profile_task *)b)->comm);
}

static void print_globals(struct profile *p)
{
	for (uint32_t i = 0; i <= p->nr_cpus; i++) {
		if (!p->globals[i].nr_lines)
			continue;
		if (i)
			printf("Global CPU[%" PRIu32 "] Events\n", i - 1);
		else
			puts("Global Events");
		print_lines(p, &p->globals[i]);
	}
}

void profile_print(struct profile *p, struct profile_task *groups, size_t nr_groups)
{
	print_globals(p);
	if (nr_groups)
		qsort(groups, nr_groups, sizeof(*groups), by_comm);
	for (size_t i = 0; i < nr_groups && report_written(p->r); i++) {
		fputs("\ngroup: ", stdout);
		print_text(p, groups[i].comm);
		putchar('\n');
		print_lines(p, &groups[i]);
	}
	if (p->nr_tasks)
		qsort(p->tasks, p->nr_tasks, sizeof(struct profile_task *), by_tid);
	for (size_t i = 0; i < p->nr_tasks && report_written(p->r); i++) {
		struct profile_task *task = p->tasks[i];
		const char *comm = task->comm ? task->comm : tep_data_comm_from_pid(p->r->table->tep, task->tid);

		if (task->is_in_group)
			continue;
		fputs("\ntask: ", stdout);
		print_text(p, comm ? comm : "<...>");
		printf("-%" PRId32 "\n", task->tid);
		print_lines(p, task);
	}
}
