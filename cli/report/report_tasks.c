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

static int add(struct report_tasks *tasks, uint64_t pid)
{
	uint64_t *pids = realloc(tasks->pids, (tasks->nr + 1) * sizeof(*pids));

	if (!pids)
		return out_of_memory();
	tasks->pids = pids;
	tasks->pids[tasks->nr++] = pid;
	return 0;
}

static int add_pid(struct report_tasks *tasks, const char *word)
{
	unsigned long pid;
	char *end;

	errno = 0;
	pid = strtoul(word, &end, 10);
	if (*word < '0' || *word > '9' || *end || errno || pid > INT32_MAX) {
		complain(opts_command(), "--pid '%s' is not the number of a task", word);
		return EXIT_USAGE;
	}
	return add(tasks, pid);
}

static int add_comm(struct report_tasks *tasks, const char *word)
{
	struct tep_handle *tep = tasks->table->tep;
	struct tep_cmdline *task = tep_data_pid_from_comm(tep, word, NULL);
	int status = 0;

	if (!task) {
		complain(opts_command(), "--comm '%s': the file has no task of this name", word);
		return EXIT_FAILURE;
	}
	for (; task && !status; task = tep_data_pid_from_comm(tep, word, task))
		status = add(tasks, (uint64_t)(unsigned int)tep_cmdline_pid(tep, task));
	return status;
}

static int add_words(struct report_tasks *tasks, const struct opt_list *lists,
		     int (*add_word)(struct report_tasks *tasks, const char *word))
{
	int status = 0;

	for (unsigned int i = 0; i < lists->nr && !status; i++) {
		char *copy = strdup(lists->items[i]), *rest = NULL;

		if (!copy)
			return out_of_memory();
		for (char *word = strtok_r(copy, ",", &rest); word && !status; word = strtok_r(NULL, ",", &rest))
			status = add_word(tasks, word);
		free(copy);
	}
	return status;
}

int report_tasks_open(struct report_tasks *tasks, const struct opt_list *pids, const struct opt_list *comms,
		      const struct event_table *table)
{
	int status;

	*tasks = (struct report_tasks){ .table = table };
	status = add_words(tasks, pids, add_pid);
	if (!status)
		status = add_words(tasks, comms, add_comm);
	if (status || !tasks->nr)
		return status;
	tasks->fields = calloc(table->nr_events ? table->nr_events : 1, sizeof(*tasks->fields));
	if (!tasks->fields)
		return out_of_memory();
	for (uint32_t i = 0; i < table->nr_events; i++) {
		tasks->fields[i][0] = tep_find_field(table->all[i].event, "pid");
		tasks->fields[i][1] = tep_find_field(table->all[i].event, "next_pid");
	}
	return 0;
}

void report_tasks_close(struct report_tasks *tasks)
{
	free(tasks->pids);
	free(tasks->fields);
	tasks->pids = NULL;
	tasks->fields = NULL;
}

static bool is_one(const struct report_tasks *tasks, uint64_t pid)
{
	for (unsigned int i = 0; i < tasks->nr; i++)
		if (tasks->pids[i] == pid)
			return true;
	return false;
}

bool report_tasks_have(const struct report_tasks *tasks, const struct tep_record *record)
{
	const uint32_t size = (uint32_t)record->size;
	const struct event_type *type;

	if (!tasks->nr)
		return false;
	type = event_type(tasks->table, event_id(tasks->table, record->data, size));
	/* An event that the file does not describe belongs to no task. */
	if (!type)
		return false;
	if (is_one(tasks, (uint64_t)(int64_t)event_pid(tasks->table, record->data, size)))
		return true;
	for (unsigned int i = 0; i < 2; i++) {
		struct tep_format_field *field = tasks->fields[type - tasks->table->all][i];
		unsigned long long number;

		if (field && (uint32_t)(field->offset + field->size) <= size &&
		    !tep_read_number_field(field, record->data, &number) && is_one(tasks, number))
			return true;
	}
	return false;
}
