/* SPDX-License-Identifier: MIT */
#include "cli/kernel/kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/kernel/kernel_events.h"
#include "cli/kernel/kernel_instance.h"
#include "cli/kernel/kernel_settings.h"
#include "cli/kernel/kernel_triggers.h"
#include "cli/base/message.h"

struct kernel {
	const struct message_sink *sink;
	const struct kernel_request *request;
	struct instance instance;
	struct kernel_names events;
	const char *clock;
	unsigned int page_size;
	unsigned int *cpus;
	unsigned int nr_cpus;
	int on;	       /* tracing_on */
	bool *changed; /* which options (-O) */
};

/* ---------------------------------------------------------------------------------------------------- open, close */

static int by_number(const void *a, const void *b)
{
	const unsigned int one = *(const unsigned int *)a, other = *(const unsigned int *)b;

	return (one > other) - (one < other);
}

/* Find the CPUs for which the instance has a ring. 0 or -errno. */
static int find_cpus(struct kernel *kernel)
{
	char *path = tracefs_instance_get_file(kernel->instance.tracefs, "per_cpu");
	DIR *dir = path ? opendir(path) : NULL;
	const struct dirent *entry;
	int err = dir ? 0 : path ? -errno : -ENOMEM;
	unsigned int cpu, *cpus;

	while (!err && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "cpu%u", &cpu) != 1 || !kernel_mask_has(kernel->request->cpumask, cpu))
			continue;
		cpus = realloc(kernel->cpus, (kernel->nr_cpus + 1) * sizeof(*cpus));
		if (cpus) {
			kernel->cpus = cpus;
			cpus[kernel->nr_cpus++] = cpu;
		} else {
			err = -ENOMEM;
		}
	}
	if (dir)
		closedir(dir);
	tracefs_put_tracing_file(path);
	if (kernel->nr_cpus)
		qsort(kernel->cpus, kernel->nr_cpus, sizeof(*kernel->cpus), by_number);
	return err;
}

/* Read the size of a sub-buffer from its file; kernels with a fixed size do not have the file. */
static void find_page_size(struct kernel *kernel)
{
	long long kb;

	if (tracefs_instance_file_read_number(kernel->instance.tracefs, "buffer_subbuf_size_kb", &kb) == 0)
		kernel->page_size = (unsigned int)kb * 1024;
	else
		kernel->page_size = (unsigned int)sysconf(_SC_PAGESIZE);
}

/* Set up the instance, which exists. 0; or -errno, and one line was printed. */
static int prepare(struct kernel *kernel)
{
	int err = 0;

	kernel->on = tracefs_instance_file_open(kernel->instance.tracefs, "tracing_on", O_WRONLY | O_CLOEXEC);
	if (kernel->on < 0)
		err = -errno;
	if (!err)
		err = kernel_stop(kernel);
	if (!err)
		err = find_cpus(kernel);
	/* A user who may make the instance does not always own it; a security module may refuse the rest. */
	if (err == -EACCES || err == -EPERM)
		return instance_no_rights(kernel->sink);
	if (err) {
		message(kernel->sink, "cannot use the tracefs instance '%s': %s", kernel->instance.name,
			strerror(-err));
		return err;
	}
	kernel->changed = calloc(kernel->request->nr_options + 1, sizeof(*kernel->changed));
	if (!kernel->changed) {
		message(kernel->sink, "out of memory");
		return -ENOMEM;
	}
	err = kernel_settings_set(kernel->sink, &kernel->instance, kernel->request, kernel->changed);
	if (!err)
		err = kernel_events_set(kernel->sink, &kernel->instance, kernel->request, &kernel->events);
	if (err)
		return err;
	find_page_size(kernel);
	kernel->clock = kernel_settings_clock(&kernel->instance, kernel->request);
	return 0;
}

int kernel_open(const struct message_sink *sink, const struct kernel_request *request, const char *suffix,
		struct kernel **ret_kernel)
{
	struct kernel *kernel;
	int err = instance_find_tracefs(sink, request->quiet);

	if (err)
		return err;
	kernel = calloc(1, sizeof(*kernel));
	if (!kernel) {
		message(sink, "out of memory");
		return -ENOMEM;
	}
	*kernel = (struct kernel){ .sink = sink, .request = request, .on = -1 };
	err = instance_create(sink, suffix, &kernel->instance);
	if (!err)
		err = prepare(kernel);
	if (err)
		kernel_close(kernel);
	else
		*ret_kernel = kernel;
	return err;
}

struct kernel *kernel_close(struct kernel *kernel)
{
	if (!kernel)
		return NULL;
	if (kernel->on >= 0) {
		kernel_stop(kernel);
		close(kernel->on);
	}
	if (kernel->changed)
		kernel_settings_undo(&kernel->instance, kernel->request, kernel->changed);
	free(kernel->changed);
	instance_destroy(kernel->sink, &kernel->instance);
	kernel_names_free(&kernel->events);
	free(kernel->cpus);
	free(kernel);
	return NULL;
}

/* ----------------------------------------------------------------------------------------------------- the switch */

/* Check that no trigger has set another clock than the recording's. 0; or -EINVAL, and one line was printed. */
static int check_clock(const struct kernel *kernel)
{
	char *clock = tracefs_get_clock(kernel->instance.tracefs);
	const int err = clock && strcmp(clock, kernel->clock) != 0 ? -EINVAL : 0;

	if (err)
		message(kernel->sink, "a trigger has set the kernel's clock to '%s'; the recording's is '%s'%s", clock,
			kernel->clock, message_remark(kernel->sink, WORD_CLOCK).text);
	free(clock);
	return err;
}

/*
 * Triggers fire while tracing is off, too: if they were set earlier, their counts would be used up, and traceon would
 * start the recording.
 */
int kernel_start(struct kernel *kernel)
{
	int err;

	if (tracefs_trace_on_fd(kernel->on) < 0) {
		err = -errno;
		message(kernel->sink, "cannot start the kernel's tracing: %s", strerror(-err));
		return err;
	}
	if (!kernel_request_has_triggers(kernel->request))
		return 0;
	err = kernel_events_set_triggers(kernel->sink, &kernel->instance, kernel->request, &kernel->events,
					 kernel->clock);
	return err ? err : check_clock(kernel);
}

int kernel_stop(struct kernel *kernel)
{
	return tracefs_trace_off_fd(kernel->on) < 0 ? -errno : 0;
}

int kernel_settle(struct kernel *kernel)
{
	if (!kernel_request_has_triggers(kernel->request))
		return 0;
	kernel_triggers_clear(kernel->instance.tracefs, kernel->request);
	return kernel_stop(kernel);
}

int kernel_add_tids(struct kernel *kernel, const pid_t *tids, unsigned int nr)
{
	return kernel_settings_add_tids(&kernel->instance, kernel->request, tids, nr);
}

/* ----------------------------------------------------------------------------------------------------- what it is */

const char *kernel_dir(const struct kernel *kernel)
{
	return kernel->instance.dir;
}

const char *kernel_clock(const struct kernel *kernel)
{
	return kernel->clock;
}

unsigned int kernel_page_size(const struct kernel *kernel)
{
	return kernel->page_size;
}

const unsigned int *kernel_cpus(const struct kernel *kernel, unsigned int *ret_nr)
{
	*ret_nr = kernel->nr_cpus;
	return kernel->cpus;
}

uint64_t kernel_buffer_kb(const struct kernel *kernel)
{
	const ssize_t kb = tracefs_instance_get_buffer_size(kernel->instance.tracefs, (int)kernel->cpus[0]);

	return kb > 0 ? (uint64_t)kb : 0;
}

uint64_t kernel_graph_depth(const struct kernel *kernel)
{
	return kernel_settings_has_depth(&kernel->instance) ? 0 : kernel->request->graph_depth;
}

/* ------------------------------------------------------------------------------------------------------ its texts */

static int read_text(struct tracefs_instance *instance, const char *file, char **ret_text, size_t *ret_size)
{
	char *text;
	int size = 0;

	errno = 0;
	text = tracefs_instance_file_read(instance, file, &size);
	if (!text)
		return errno ? -errno : -EIO;
	*ret_text = text;
	*ret_size = (size_t)size;
	return 0;
}

int kernel_text(const struct kernel *kernel, const char *file, char **ret_text, size_t *ret_size)
{
	return read_text(kernel->instance.tracefs, file, ret_text, ret_size);
}

int kernel_top_text(const char *file, char **ret_text, size_t *ret_size)
{
	return read_text(NULL, file, ret_text, ret_size);
}

/*
 * Read at the top level: a format is the same in all instances, and memory that the kernel allocates to show a file of
 * our instance would have to be freed with the instance.
 */
static int system_formats(const char *system, kernel_format_fn *each, void *data)
{
	char **names = tracefs_system_events(NULL, system);
	int err = names ? 0 : -EIO;

	for (unsigned int i = 0; !err && names[i]; i++) {
		char *text;
		int size = 0;

		text = tracefs_event_file_read(NULL, system, names[i], "format", &size);
		/* There is no text if the entry of the directory is not an event, or if its module was just removed. */
		if (text)
			err = each(data, system, names[i], text, (size_t)size);
		free(text);
	}
	tracefs_list_free(names);
	return err;
}

int kernel_formats(const struct kernel *kernel, kernel_format_fn *each, void *data)
{
	char **systems = tracefs_event_systems(NULL);
	int err = systems ? system_formats("ftrace", each, data) : -EIO;

	for (unsigned int i = 0; !err && systems[i]; i++)
		if (strcmp(systems[i], "ftrace") != 0 &&
		    kernel_events_has_system(&kernel->events, kernel->request, systems[i]))
			err = system_formats(systems[i], each, data);
	tracefs_list_free(systems);
	return err;
}
