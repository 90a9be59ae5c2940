/* SPDX-License-Identifier: MIT */
/*
 * The text of an event's fields, compiled: a list of steps that produce the same text as libtraceevent does by a print
 * format or by a handler of its plugins. A program is compiled once for an event, and then needs neither libtraceevent
 * nor printf. Functions are looked up in the context's list.
 *
 * Guarantees: the same bytes as libtraceevent's. A program reads the bytes of its record and no others. If
 * libtraceevent would read others, a format has an unusual part, or a number would be divided by zero, the program
 * refuses the event or the record, and the caller asks libtraceevent. Any number of threads may run a program, each
 * with a context.
 */
#ifndef FORMAT_PRINT_PROGRAM_H
#define FORMAT_PRINT_PROGRAM_H

#include "format/io/function_list.h"
#include "format/print/print_text.h"
#include "format/print/print_value.h"

struct print_program;

#define PRINT_FUNCTIONS 512u

/* The context of a thread: the functions that it looked up last. */
struct print_function {
	uint64_t address;
	uint64_t start;
	const char *name; /* NULL: no function has this address */
	uint32_t size;
	bool is_known;
};

struct print_context {
	const struct function_list *functions; /* complete before a program looks up a function */
	struct print_function found[PRINT_FUNCTIONS];
};

/* A thread that a record names. libtraceevent's plugins add it to the names of tasks. */
struct print_task {
	uint64_t pid;
	uint32_t offset, size; /* where the name is in the record */
};

#define PRINT_TASKS_MAX 2u

void print_context_open(struct print_context *ret_context, const struct function_list *functions);

/* 0; -ENOTSUP: only libtraceevent can print this event; -ENOMEM. The event must outlive the program. */
int print_program_compile(struct tep_event *event, struct print_program **ret_program);

/* Takes NULL. Returns NULL. */
struct print_program *print_program_free(struct print_program *program);

/* Add the record's text. False: only libtraceevent can print this record, and the text is as it was. */
bool print_program_run(const struct print_program *program, struct print_context *context, const void *data,
		       uint32_t size, struct print_text *text);

/* The tasks that the record names, for tep_register_comm(). Returns their number. */
unsigned int print_program_tasks(const struct print_program *program, const void *data, uint32_t size,
				 struct print_task ret_tasks[PRINT_TASKS_MAX]);

#endif
