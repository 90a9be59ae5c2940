/* SPDX-License-Identifier: MIT */
/*
 * The names of tasks according to the kernel: in saved_cmdlines, which keeps few, and in events that name a task, such
 * as sched_switch. Their formats show which events these are: they have a field char P_comm[16] beside a field P_pid.
 */
#ifndef FORMAT_KERNEL_TASKS_H
#define FORMAT_KERNEL_TASKS_H

#include "format/io/number_map.h"

#include <librecorder/page.h>
#include <stddef.h>
#include <stdint.h>

#define TASK_NAME_SIZE 16u /* the kernel's TASK_COMM_LEN */

struct kernel_task {
	int32_t pid;
	char from_events[TASK_NAME_SIZE];  /* the name in the last event that named the task */
	uint64_t said_at;	    /* its time, in the kernel's clock */
	char saved[TASK_NAME_SIZE]; /* the name in saved_cmdlines */
};

/* The fields in which an event names tasks. */
struct task_fields {
	unsigned int nr;
	struct {
		uint32_t pid, comm; /* offsets */
	} at[2];
};

struct kernel_tasks {
	unsigned char by_id[REC_EVENT_ID_FIRST]; /* index + 1; 0: names none */
	struct task_fields fields[UINT8_MAX];
	unsigned int nr_fields;
	struct kernel_task *tasks;
	size_t nr_tasks, room;
	struct number_map places; /* by pid: index + 1 */
};

/* 0, -ENOMEM. kernel_tasks_free() takes NULL and returns NULL. */
int kernel_tasks_new(struct kernel_tasks **ret_tasks);
struct kernel_tasks *kernel_tasks_free(struct kernel_tasks *tasks);

/* Read the format of an event; nothing is stored if the event names no task. */
void kernel_tasks_format(struct kernel_tasks *tasks, const char *text, size_t size);

/* Read the text of saved_cmdlines. 0, -ENOMEM. */
int kernel_tasks_saved(struct kernel_tasks *tasks, const char *text, size_t size);

/* Read the names in an event that has an entry in by_id. 0, -ENOMEM. */
int kernel_tasks_learn(struct kernel_tasks *tasks, unsigned int id, uint64_t clock, const void *payload, uint32_t size);

/*
 * Read the names in an event, at a time of the kernel's clock. CPUs come one after the other, so the order is not that
 * of time. 0, -ENOMEM.
 */
static inline int kernel_tasks_see(struct kernel_tasks *tasks, unsigned int id, uint64_t clock, const void *payload,
				   uint32_t size)
{
	return tasks->by_id[id] ? kernel_tasks_learn(tasks, id, clock, payload, size) : 0;
}

/* The name of a task: that in saved_cmdlines, otherwise that in events; "" if neither has one. */
const char *kernel_task_name(const struct kernel_task *task);

/* All tasks by pid; the caller frees the array. 0, -ENOMEM. */
int kernel_tasks_sorted(const struct kernel_tasks *tasks, struct kernel_task **ret_tasks, size_t *ret_nr);

#endif
