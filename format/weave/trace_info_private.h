/* SPDX-License-Identifier: MIT */
/* Shared by trace_info.c (processes and events), trace_names.c (threads) and trace_sites.c (rec_printf). */
#ifndef FORMAT_TRACE_INFO_PRIVATE_H
#define FORMAT_TRACE_INFO_PRIVATE_H

#include "format/io/number_map.h"
#include "format/weave/trace_info.h"

struct trace_event {
	struct rec_log_event *record; /* a copy, its id cleared */
	char *system;
	uint64_t hash;
	uint16_t id; /* in the file */
};

struct trace_process {
	uint32_t pid;
	char *comm;
	size_t log_offset; /* offset of the first record that was not read yet */
	struct trace_process_map map;
	struct trace_event_map *events; /* map.events */
	unsigned int max_events;
	struct number_map sites; /* site -> address */
};

/* A thread of one process. */
struct trace_thread {
	int32_t tid;
	unsigned int process;
	char *name; /* NULL: the thread has the name of the process */
};

struct trace_site {
	char *function;
	char *format; /* the format in quotes, as in PRINTK */
};

struct trace_info {
	trace_info_wants *wants;
	void *wants_arg;
	struct trace_event *events;
	unsigned int nr_events;
	unsigned int max_events;
	struct number_map by_hash; /* hash -> index of the newest event with it, + 1 */

	struct trace_process *processes;
	unsigned int nr_processes;

	struct trace_thread *threads;
	size_t nr_threads;
	size_t max_threads;
	struct number_map by_thread; /* process << 32 | tid -> index + 1 */
	struct number_map seen;	     /* the same key, of threads with events */
	uint64_t last_seen;	     /* key + 1 of the thread that was seen last */

	const struct kernel_tasks *tasks; /* NULL: no kernel */

	struct trace_site *sites;
	size_t nr_sites;
	size_t max_sites;
};

int trace_names_add(struct trace_info *info, unsigned int process, const struct rec_log_thread *record);
int trace_names_process(struct trace_info *info, unsigned int process); /* names the first thread of a process */
int trace_sites_add(struct trace_info *info, unsigned int process, const struct rec_log_printf *record);
void trace_names_free(struct trace_info *info);
void trace_sites_free(struct trace_info *info);

/* Grow an array of `size`-byte elements so that one more fits. 0, -ENOMEM. */
int trace_info_grow(void *array, size_t size, size_t used, size_t *max);

#endif
