/* SPDX-License-Identifier: MIT */
#include "cli/common/opts.h"
#include "cli/report/report_tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(void)
{
	complain(opts_command(), "out of memory");
	return EXIT_FAILURE;
}

static int add(struct about_tasks *tasks, int32_t tid)
{
	return about_tasks_add(tasks, tid) ? out_of_memory() : 0;
}

static int add_pid(struct about_tasks *tasks, const char *word)
{
	unsigned long pid;
	char *end;

	errno = 0;
	pid = strtoul(word, &end, 10);
	if (*word < '0' || *word > '9' || *end || errno || pid > INT32_MAX) {
		complain(opts_command(), "--pid '%s' is not the number of a task", word);
		return EXIT_USAGE;
	}
	return add(tasks, (int32_t)pid);
}

/*
 * libtraceevent must not have looked up the name of any task before: then it has an array of names, in which it finds
 * the same task again and again.
 */
static int add_comm(struct about_tasks *tasks, const char *word)
{
	struct tep_handle *tep = tasks->table->tep;
	struct tep_cmdline *task = tep_data_pid_from_comm(tep, word, NULL);
	bool found = task != NULL;
	int status = 0;

	for (; task && !status; task = tep_data_pid_from_comm(tep, word, task))
		status = add(tasks, tep_cmdline_pid(tep, task));
	if (!status && !(found && event_names_are_saved(tasks->table)))
		status = about_tasks_add_unsaved(tasks, tasks->table, word, &found) ? out_of_memory() : 0;
	if (status || found)
		return status;
	complain(opts_command(), "--comm '%s': the file has no task of this name", word);
	return EXIT_FAILURE;
}

static int add_pids(struct about_tasks *tasks, const char *list)
{
	char *copy = strdup(list), *rest = NULL;
	int status = 0;

	if (!copy)
		return out_of_memory();
	for (char *word = strtok_r(copy, ",", &rest); word && !status; word = strtok_r(NULL, ",", &rest))
		status = add_pid(tasks, word);
	free(copy);
	return status;
}

/* The last name comes first: -T shows tasks in the order of trace-cmd. */
static int add_comms(struct about_tasks *tasks, const char *list)
{
	char *copy = strdup(list), *comma;
	int status = 0;

	if (!copy)
		return out_of_memory();
	do {
		comma = strrchr(copy, ',');
		if (comma)
			*comma = '\0';
		if (*(comma ? comma + 1 : copy))
			status = add_comm(tasks, comma ? comma + 1 : copy);
	} while (comma && !status);
	free(copy);
	return status;
}

int report_tasks_open(struct about_tasks *tasks, const struct opt_list *pids, const struct opt_list *comms,
		      const struct event_table *table)
{
	int status = 0;

	*tasks = (struct about_tasks){ .table = table };
	for (unsigned int i = 0; i < pids->nr && !status; i++)
		status = add_pids(tasks, pids->items[i]);
	for (unsigned int i = comms->nr; i && !status; i--)
		status = add_comms(tasks, comms->items[i - 1]);
	if (status || !tasks->nr)
		return status;
	return about_tasks_open(tasks, table) ? out_of_memory() : 0;
}
