/* SPDX-License-Identifier: MIT */
/*
 * The time that tasks spent in the kernel, computed as by trace-cmd report --profile: for each task, how often each
 * event occurred, and the time until the event that ends it; with the stacks that were recorded after events.
 *
 * profile_kinds.c knows which events belong together, profile_account.c and profile_lines.c add up,
 * profile_print.c and profile_tree.c print.
 */
#ifndef CLI_PROFILE_H
#define CLI_PROFILE_H

#include "cli/common/opts.h"
#include "cli/report/report.h"
#include "format/io/number_map.h"
#include "format/io/text_pool.h"

/* The handling of an event. */
enum profile_act {
	PROFILE_COUNT, /* counted, unless it begins or ends something */
	PROFILE_SWITCH,
	PROFILE_WAKE,
	PROFILE_CALL, /* of a function */
	PROFILE_RETURN,
	PROFILE_STACK,
	PROFILE_EXEC,
};

enum profile_show { PROFILE_NUMBER, PROFILE_STATE, PROFILE_FUNCTION, PROFILE_SYSCALL, PROFILE_SOFTIRQ };

/* Events of one id. */
struct profile_kind {
	struct profile_kind *older; /* the kind made before this one */
	enum profile_act act;
	enum profile_show show;
	struct tep_event *event;
	struct profile_kind *end, *begin;  /* the kind that ends it, and the kind that it ends; NULL: none */
	struct tep_format_field *as_begin; /* field with the key for its end */
	struct tep_format_field *as_end;   /* field with the key for its begin */
	struct tep_format_field *task;	   /* field with the task; NULL: the task that wrote it */
	/* the value of PROFILE_COUNT; for other acts: the state, success, stack, or old task */
	struct tep_format_field *value;
	struct tep_format_field *comms[2]; /* names of tasks: of PROFILE_SWITCH, PROFILE_WAKE */
	bool is_migrating, is_global;
};

struct profile_total {
	uint64_t count, time, max, max_ts, min, min_ts;
};

struct profile_stack {
	const struct pooled_text *addresses;
	struct profile_total total;
};

/* Events of one kind and value, of a task. */
struct profile_line {
	struct profile_line *chained;
	const struct profile_kind *kind;
	uint64_t value;
	struct profile_total total;
	uint64_t last; /* the duration that was added last */
	struct profile_stack *stacks;
	size_t nr_stacks;
	struct number_map by_addresses; /* address of a stack in the pool: place plus one */
};

struct profile_open;

struct profile_task {
	int32_t tid; /* negative: global figures, not a task */
	char *comm;  /* NULL: not known yet */
	bool is_sleeping;
	bool is_in_group;
	struct profile_line **lines;
	size_t nr_lines;
	struct number_map by_line, by_open; /* first of a chain, by a hash */
	struct profile_task *stack_of;	    /* the next stack of this task belongs to that task */
	struct profile_open *last_open;	    /* the line to which the next stack belongs; NULL: none */
	struct profile_line *last_line;
	const struct pooled_text *last_stack; /* a stack that belongs to no line yet */
	uint64_t last_stack_ts;
};

struct profile {
	struct report *r;
	struct profile_kind *kinds, *stack;
	struct number_map by_id;
	struct text_pool pool;
	struct profile_task **tasks;
	size_t nr_tasks;
	struct number_map by_tid;
	struct profile_task *globals; /* global figures: one for the machine, and one for each CPU */
	uint32_t nr_cpus;
	struct profile_open **opens; /* by CPU; the last element is for kinds that migrate */
	bool is_short_of_memory;
};

/*
 * The kinds of all events of the file. `global`: interrupts belong to CPUs. 0; or the exit status, and one line was
 * printed. profile_kinds_free() also accepts all zeros.
 */
int profile_kinds_make(struct profile *p, bool global, const struct opt_list *hooks);
void profile_kinds_free(struct profile *p);

/* Whether each hook has the form that -H takes. 0 or the exit status. */
int profile_hooks_check(const struct opt_list *hooks);

/* The key in a task's number maps of chains: a kind and a number. */
uint64_t profile_hash(const struct profile_kind *kind, uint64_t number);
void *profile_chain(const struct number_map *map, uint64_t hash);
void profile_set_chain(struct profile *p, struct number_map *map, uint64_t hash, const void *first);

/*
 * The line of a kind and value, or the sums of one of its stacks. If it does not exist, it is made. NULL: no memory,
 * which is noted in p.
 */
struct profile_line *profile_line(struct profile *p, struct profile_task *task, const struct profile_kind *kind,
				  uint64_t value);
struct profile_total *profile_stack(struct profile *p, struct profile_line *line, const struct pooled_text *addresses);
void profile_add_time(struct profile_total *total, uint64_t ns, uint64_t ts);
void profile_merge_total(struct profile_total *to, const struct profile_total *from);

/* 0; -ENOMEM. */
int profile_tasks_make(struct profile *p, uint32_t nr_cpus);
void profile_tasks_free(struct profile *p);

/* Account for the next selected event, in time order. */
void profile_add(struct profile *p, const struct dat_event *event, const struct tep_record *record);

/*
 * Events of a CPU were lost here. Call it for each loss, also for one that is followed by an event that is not
 * selected.
 */
void profile_lose(struct profile *p, uint32_t cpu);

/*
 * Combine tasks of the same name into *ret_groups. Tasks without a name are left out. The lines move from the tasks to
 * the groups. 0; -ENOMEM.
 */
int profile_group(struct profile *p, struct profile_task **ret_groups, size_t *ret_nr);
void profile_task_free(struct profile_task *task);

/* Print the stacks of a line as a tree: their common part is printed once. False: no memory. */
bool profile_tree(const struct profile *p, const struct profile_line *line);

/* Print the name of a function, or its address. */
void profile_print_function(const struct profile *p, uint64_t address);

/* Print a duration and the time of its end. */
void profile_print_time(uint64_t ns, uint64_t ts);

/* Print the profile of one buffer. */
void profile_print(struct profile *p, struct profile_task *groups, size_t nr_groups);

#endif
