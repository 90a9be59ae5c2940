/* SPDX-License-Identifier: MIT */
/*
 * The logs of several processes, combined: events of the same name and shape get one id, events of different shapes
 * different ids; the names of threads; the call sites of rec_printf. Also makes the texts for a trace.dat.
 *
 * Logs are not trusted. Nothing of a log is needed after the call that reads it. Threads: one at a time.
 */
#ifndef FORMAT_TRACE_INFO_H
#define FORMAT_TRACE_INFO_H

#include <librecorder/event_text.h>
#include <librecorder/log.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/io/blob.h"
#include "format/weave/kernel_tasks.h"

/* The first id is rec_printf's, in every process and in the file; no log describes it. */
#define TRACE_INFO_PRINTF_ID REC_EVENT_ID_FIRST

/* The event that carries a loss that no event follows. */
#define TRACE_INFO_END_ID (REC_EVENT_ID_FIRST + REC_EVENTS_MAX - 1u)

struct trace_end_event {
	struct rec_event_common common;
	uint64_t lost;	  /* all lost events; UINT64_MAX: unknown */
	uint64_t no_lane; /* of these, events of threads that had no lane */
};

/* What the weave needs to know about an event id of one process. */
struct trace_event_map {
	uint16_t id;	 /* in the file; 0: the log does not describe this id */
	bool is_printf; /* its payload holds a call site: trace_info_site() */
	bool is_left_out; /* not selected: the file has neither the event nor its format */
};

struct trace_process_map {
	const struct trace_event_map *events; /* element i is for the id REC_EVENT_ID_FIRST + i */
	unsigned int nr_events;
};

/* Offsets of the caller and of the call site in the payload of a printf event; both are u64. */
#define TRACE_PRINTF_IP	  8u
#define TRACE_PRINTF_SITE 16u

struct trace_info;

/* 0, -ENOMEM. trace_info_free() takes NULL and returns NULL. */
int trace_info_new(struct trace_info **ret_info);
struct trace_info *trace_info_free(struct trace_info *info);

/* From now on this function decides which events the file has; NULL: all. */
typedef bool trace_info_wants(void *arg, const struct rec_words *system, const struct rec_words *name);

void trace_info_set_wants(struct trace_info *info, trace_info_wants *wants, void *arg);

/* Read the log of one more process, which gets the next number, from 0. Malformed records are left out. 0, -ENOMEM. */
int trace_info_add_process(struct trace_info *info, uint32_t pid, const char *comm, const void *log, size_t size);

/* The same log again, which has grown: read the new records. 0, -ENOMEM. */
int trace_info_more_log(struct trace_info *info, unsigned int process, const void *log, size_t size);

/* The ids of a process, also future ones; valid until another process is added. */
const struct trace_process_map *trace_info_map(const struct trace_info *info, unsigned int process);

/* The address that represents a call site of a process in the file; 0: the log does not describe it. */
uint64_t trace_info_site(const struct trace_info *info, unsigned int process, uint64_t site);

/* Note that thread `tid` of a process was seen. Cheap if repeated. 0, -ENOMEM. */
int trace_info_seen(struct trace_info *info, unsigned int process, int32_t tid);

/* Names that the kernel knows, for trace_info_cmdlines(); the caller keeps them. */
void trace_info_set_tasks(struct trace_info *info, const struct kernel_tasks *tasks);

/* The number of different tids seen. */
uint64_t trace_info_threads(const struct trace_info *info);

/*
 * The texts. Each event's format goes to `emit`, those of one system together; recorder:end is separate. An error of
 * emit ends the call. A malformed declaration has no format. 0, -ENOMEM, or the error of emit.
 */
typedef int trace_info_emit(void *arg, const char *system, const char *text, size_t size);

int trace_info_formats(const struct trace_info *info, trace_info_emit *emit, void *arg);
int trace_info_end_format(trace_info_emit *emit, void *arg);

/*
 * Append these texts to the blob. cmdlines: processes and their threads that were seen or named, and all tasks that the
 * kernel names, sorted, each tid once. 0, -ENOMEM.
 */
int trace_info_cmdlines(const struct trace_info *info, struct blob *cmdlines);

/* Append the processes that were seen, each with its further threads, in the form of the file's notes. 0, -ENOMEM. */
int trace_info_processes(const struct trace_info *info, struct blob *processes);

/* Add the threads that were seen of the processes i for which of[i] is true, each after a blank. */
void trace_info_threads_of(const struct trace_info *info, const bool *of, struct blob *threads);
int trace_info_printk(const struct trace_info *info, struct blob *printk);
int trace_info_kallsyms(const struct trace_info *info, struct blob *kallsyms);

#endif
