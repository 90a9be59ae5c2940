/* SPDX-License-Identifier: MIT */
/*
 * Threads and their names. A file has one name per tid: the last one that a thread gave itself, otherwise the kernel's
 * name for it, otherwise its process's. If two processes had the same tid one after the other, the later process
 * decides. A process's first thread has the process's name.
 *
 * If one line is malformed, viewers drop all lines after it, so a name is never empty and has no control characters.
 */
#include "format/weave/trace_info_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t thread_key(unsigned int process, int32_t tid)
{
	return (uint64_t)process << 32 | (uint32_t)tid;
}

/*
 * Make a copy of a name in which control characters become '?', and blanks at both ends are removed. NULL: nothing is
 * left, or no memory (*ret_err).
 */
static char *clean_name(const char *name, size_t size, int *ret_err)
{
	size_t len = strnlen(name, size);
	size_t i;
	char *clean;

	while (len && (name[0] == ' ' || name[0] == '\t')) {
		name++;
		len--;
	}
	while (len && (name[len - 1] == ' ' || name[len - 1] == '\n'))
		len--;
	if (!len)
		return NULL;
	clean = strndup(name, len);
	if (!clean) {
		*ret_err = -ENOMEM;
		return NULL;
	}
	for (i = 0; clean[i]; i++)
		if ((unsigned char)clean[i] < ' ' || clean[i] == 0x7f)
			clean[i] = '?';
	return clean;
}

/* The entry of a thread, which is made if necessary. NULL: no memory. */
static struct trace_thread *thread_entry(struct trace_info *info, unsigned int process, int32_t tid)
{
	const uint64_t key = thread_key(process, tid);
	uint64_t index = number_map_get(&info->by_thread, key);

	if (!index) {
		if (trace_info_grow(&info->threads, sizeof(*info->threads), info->nr_threads, &info->max_threads))
			return NULL;
		if (number_map_set(&info->by_thread, key, info->nr_threads + 1))
			return NULL;
		info->threads[info->nr_threads] = (struct trace_thread){ tid, process, NULL };
		index = ++info->nr_threads;
	}
	return &info->threads[index - 1];
}

int trace_names_add(struct trace_info *info, unsigned int process, const struct rec_log_thread *record)
{
	struct trace_thread *thread;
	int err = 0;
	char *name = clean_name((const char *)(record + 1), record->name_size, &err);

	if (!name)
		return err;
	thread = thread_entry(info, process, record->tid);
	if (!thread) {
		free(name);
		return -ENOMEM;
	}
	free(thread->name);
	thread->name = name;
	return 0;
}

int trace_names_process(struct trace_info *info, unsigned int process)
{
	return thread_entry(info, process, (int32_t)info->processes[process].pid) ? 0 : -ENOMEM;
}

int trace_info_seen(struct trace_info *info, unsigned int process, int32_t tid)
{
	const uint64_t key = thread_key(process, tid);

	if (info->last_seen == key + 1)
		return 0;
	if (!number_map_get(&info->seen, key)) {
		if (!thread_entry(info, process, tid) || number_map_set(&info->seen, key, 1))
			return -ENOMEM;
	}
	info->last_seen = key + 1;
	return 0;
}

void trace_info_set_tasks(struct trace_info *info, const struct kernel_tasks *tasks)
{
	info->tasks = tasks;
}

uint64_t trace_info_threads(const struct trace_info *info)
{
	return info->seen.used;
}

static int by_tid(const void *a, const void *b)
{
	const struct trace_thread *left = a;
	const struct trace_thread *right = b;

	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	return left->process < right->process ? 1 : left->process > right->process ? -1 : 0;
}

/* The threads sorted by tid, for each tid the one that decides its name first. NULL: no memory. */
static struct trace_thread *sort_threads(const struct trace_info *info)
{
	struct trace_thread *threads = calloc(info->nr_threads + 1, sizeof(*threads));

	if (threads && info->nr_threads) {
		memcpy(threads, info->threads, info->nr_threads * sizeof(*threads));
		qsort(threads, info->nr_threads, sizeof(*threads), by_tid);
	}
	return threads;
}

/*
 * The name of the thread; the kernel's name takes precedence over its process's. NULL: the thread has no name, or there
 * is no memory (*ret_err).
 */
static char *name_of(const struct trace_info *info, const struct trace_thread *thread, const struct kernel_task *task,
		     int *ret_err)
{
	const struct trace_process *process = thread ? &info->processes[thread->process] : NULL;
	char *name = NULL;

	if (thread && thread->name)
		return clean_name(thread->name, strlen(thread->name), ret_err);
	if (task && !(process && (uint32_t)thread->tid == process->pid))
		name = clean_name(kernel_task_name(task), TASK_NAME_SIZE, ret_err);
	if (!name && process && !*ret_err)
		name = clean_name(process->comm, strlen(process->comm), ret_err);
	if (!name && task && !*ret_err)
		name = clean_name(kernel_task_name(task), TASK_NAME_SIZE, ret_err);
	return name;
}

int trace_info_cmdlines(const struct trace_info *info, struct blob *cmdlines)
{
	struct trace_thread *threads = sort_threads(info);
	struct kernel_task *tasks = NULL;
	size_t nr_tasks = 0;
	size_t i = 0, j = 0;
	int32_t last = 0; /* the idle task, which is never named */
	int err = threads ? 0 : -ENOMEM;

	if (!err && info->tasks)
		err = kernel_tasks_sorted(info->tasks, &tasks, &nr_tasks);
	while (!err && (i < info->nr_threads || j < nr_tasks)) {
		const struct trace_thread *thread = i < info->nr_threads ? &threads[i] : NULL;
		const struct kernel_task *task = j < nr_tasks ? &tasks[j] : NULL;
		char *name;
		int32_t tid;

		if (thread && task && thread->tid != task->pid) {
			if (thread->tid < task->pid)
				task = NULL;
			else
				thread = NULL;
		}
		tid = thread ? thread->tid : task->pid;
		name = tid > last ? name_of(info, thread, task, &err) : NULL;
		if (name) {
			blob_printf(cmdlines, "%d %s\n", tid, name);
			last = tid;
			free(name);
		}
		/* The kernel's name applies to all threads of the tid. */
		i += thread != NULL;
		j += task && (!thread || i == info->nr_threads || threads[i].tid != tid);
	}
	free(tasks);
	free(threads);
	return err ? err : cmdlines->error;
}

static int by_process(const void *a, const void *b)
{
	const struct trace_thread *left = a;
	const struct trace_thread *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

int trace_info_processes(const struct trace_info *info, struct blob *processes)
{
	struct trace_thread *threads = sort_threads(info);
	const struct trace_thread *before = NULL;

	if (!threads)
		return -ENOMEM;
	if (info->nr_threads)
		qsort(threads, info->nr_threads, sizeof(*threads), by_process);
	for (size_t i = 0; i < info->nr_threads; i++) {
		const struct trace_thread *thread = &threads[i];
		const uint32_t pid = info->processes[thread->process].pid;

		if (!number_map_get(&info->seen, thread_key(thread->process, thread->tid)))
			continue;
		if (!before || before->process != thread->process)
			blob_printf(processes, "%s%" PRIu32, processes->size ? ", " : "", pid);
		if ((uint32_t)thread->tid != pid)
			blob_printf(processes, " %" PRId32, thread->tid);
		before = thread;
	}
	free(threads);
	return processes->error;
}

void trace_info_threads_of(const struct trace_info *info, const bool *of, struct blob *threads)
{
	for (size_t i = 0; i < info->nr_threads; i++) {
		const struct trace_thread *thread = &info->threads[i];

		if (of[thread->process] && number_map_get(&info->seen, thread_key(thread->process, thread->tid)))
			blob_printf(threads, " %" PRId32, thread->tid);
	}
}

void trace_names_free(struct trace_info *info)
{
	size_t i;

	for (i = 0; i < info->nr_threads; i++)
		free(info->threads[i].name);
	free(info->threads);
	number_map_free(&info->by_thread);
	number_map_free(&info->seen);
}
