/* SPDX-License-Identifier: MIT */
/*
 * Where tasks spent their time in the kernel, as trace-cmd report --profile adds it up: for each task, how often there
 * was each event, and how long it took until the one that ends it; with the stacks that were recorded after events.
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

/* What becomes of an event. */
enum profile_act {
	PROFILE_COUNT, /* it is counted, unless it begins or ends something */
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
	struct profile_kind *older; /* of all kinds, the one that was made before */
	enum profile_act act;
	enum profile_show show;
	struct tep_event *event;
	struct profile_kind *end, *begin;  /* what ends it, what it ends; NULL: nothing */
	struct tep_format_field *as_begin; /* its key for its end */
	struct tep_format_field *as_end;   /* its key for its begin */
	struct tep_format_field *task;	   /* whose it is; NULL: the one that wrote it */
	struct tep_format_field *value;	   /* of PROFILE_COUNT; state, success, stack, old task of others */
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
	int32_t tid; /* negative: not a task, but what is global */
	char *comm;  /* NULL: not known yet */
	bool is_sleeping;
	bool is_in_group;
	struct profile_line **lines;
	size_t nr_lines;
	struct number_map by_line, by_open; /* first of a chain, by a hash */
	struct profile_task *stack_of;	    /* the next stack of this task belongs to that one */
	struct profile_open *last_open;	    /* what the next stack belongs to; NULL */
	struct profile_line *last_line;
	const struct pooled_text *last_stack; /* that belongs to nothing yet */
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
	struct profile_task *globals; /* one, and one for each CPU */
	uint32_t nr_cpus;
	struct profile_open **opens; /* by CPU; the last one: of kinds that migrate */
	bool is_short_of_memory;
};

/*
 * The kinds of all events of the file. `global`: interrupts belong to CPUs. 0; or the exit status, and one line was
 * printed. profile_kinds_free() also takes what is all zeros.
 */
int profile_kinds_make(struct profile *p, bool global, const struct opt_list *hooks);
void profile_kinds_free(struct profile *p);

/* Whether each hook has the form that -H takes. 0 or the exit status. */
int profile_hooks_check(const struct opt_list *hooks);

/* The chains in number maps of a task: by kind and a number. */
uint64_t profile_hash(const struct profile_kind *kind, uint64_t number);
void *profile_chain(const struct number_map *map, uint64_t hash);
void profile_set_chain(struct profile *p, struct number_map *map, uint64_t hash, const void *first);

/*
 * The line of a kind and value, or the sums of one of its stacks; made if they are new. NULL: no memory, which p notes.
 */
struct profile_line *profile_line(struct profile *p, struct profile_task *task, const struct profile_kind *kind,
				  uint64_t value);
struct profile_total *profile_stack(struct profile *p, struct profile_line *line, const struct pooled_text *addresses);
void profile_add_time(struct profile_total *total, uint64_t ns, uint64_t ts);
void profile_merge_total(struct profile_total *to, const struct profile_total *from);

/* 0; -ENOMEM. */
int profile_tasks_make(struct profile *p, uint32_t nr_cpus);
void profile_tasks_free(struct profile *p);

/* One more event of the file, in the order of time. */
void profile_add(struct profile *p, const struct dat_event *event, const struct tep_record *record);

/* Tasks of the same name become one, in *ret_groups: those that have a name. The tasks keep nothing. 0; -ENOMEM. */
int profile_group(struct profile *p, struct profile_task **ret_groups, size_t *ret_nr);
void profile_task_free(struct profile_task *task);

/* The stacks of a line as a tree: what they have in common is printed once. False: no memory. */
bool profile_tree(const struct profile *p, const struct profile_line *line);

/* The name of a function, or its address. */
void profile_print_function(const struct profile *p, uint64_t address);

/* A duration and the moment of its end. */
void profile_print_time(uint64_t ns, uint64_t ts);

/* The profile of one buffer. */
void profile_print(struct profile *p, struct profile_task *groups, size_t nr_groups);

#endif
