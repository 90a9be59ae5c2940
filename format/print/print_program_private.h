/* SPDX-License-Identifier: MIT */
/* The steps of a program: made by print_compile.c and print_plugin.c, run by print_run.c. */
#ifndef FORMAT_PRINT_PROGRAM_PRIVATE_H
#define FORMAT_PRINT_PROGRAM_PRIVATE_H

#include "format/print/print_program.h"

enum print_step_kind {
	PRINT_STEP_TEXT,     /* a text, copied unchanged */
	PRINT_STEP_DECIMAL,  /* %d, %u, %lu, ... */
	PRINT_STEP_HEX,	     /* %x, %llx, %08lx, ... */
	PRINT_STEP_NUMBER,   /* any other integer */
	PRINT_STEP_FIELD,    /* a text in a field of fixed size, or to the end of the record */
	PRINT_STEP_DYNAMIC,  /* a text in a dynamic field */
	PRINT_STEP_CONSTANT, /* a text, as %s */
	PRINT_STEP_FLAGS,
	PRINT_STEP_SYMBOL,
	PRINT_STEP_BYTES, /* __print_hex */
	PRINT_STEP_ARRAY, /* __print_array */
	PRINT_STEP_MASK,  /* __get_bitmask */
	PRINT_STEP_CHOICE,
	PRINT_STEP_FUNCTION,
	PRINT_STEP_POINTER,
	PRINT_STEP_ADDRESS, /* MAC, IPv4, IPv6, UUID, socket: bytes of a field in one of several forms */
	PRINT_STEP_COMM,    /* the name of a task, which is also added to the context's tasks */
	PRINT_STEP_STATE,   /* the state of a task */
	PRINT_STEP_SITE,    /* kmem's plugin: the call site, if it is in a known function */
};

struct print_symbol {
	int64_t value;
	const char *name;
	uint32_t size;
};

/* The padding and truncation of a %s. */
struct print_form {
	bool left, has_precision;
	unsigned short width, precision;
	struct print_value *length; /* of %.*s: the precision; NULL: none. The branches of a choice share it */
	bool is_width;		    /* the width of %*s */
};

struct print_step {
	enum print_step_kind kind;
	unsigned char bits;  /* DECIMAL, HEX: as print_conversion has them */
	bool is_signed;	     /* DECIMAL */
	bool has_offset;     /* FUNCTION: %pS */
	bool has_spaces;     /* BYTES */
	bool is_big;	     /* MASK */
	bool is_short;	     /* FUNCTION: addresses of 32 bits */
	char form_letter;    /* ADDRESS */
	const char *text;    /* TEXT, CONSTANT; FLAGS: the text between two flags */
	uint32_t text_size;
	uint32_t offset, size; /* FIELD, ADDRESS, COMM: of the field; size 0: to the end of the record */
	struct print_value *value;
	struct print_value *second; /* ARRAY: size of an element; COMM: the task's number */
	struct print_dynamic dynamic;
	bool is_dynamic; /* BYTES, ARRAY */
	struct print_conversion how;
	struct print_form form;
	struct print_symbol *symbols;
	uint32_t nr_symbols;
	struct print_step *yes, *no; /* CHOICE; NULL: nothing */
};

struct print_program {
	struct tep_handle *tep;
	uint32_t nr, room;
	struct print_step *steps;
	char **texts; /* texts that the program owns */
	uint32_t nr_texts;
	uint32_t nr_tasks;
	uint32_t tasks[PRINT_TASKS_MAX]; /* numbers of the steps of kind COMM */
};

/* A new step at the end; NULL: not enough memory. The pointer is valid until the next step is added. */
struct print_step *print_program_add(struct print_program *program, enum print_step_kind kind);

/* Add a text, which is copied. 0; -ENOMEM. */
int print_program_add_text(struct print_program *program, const char *text, size_t size);

/* Add the steps of the print format. 0; -ENOTSUP; -ENOMEM. */
int print_compile_format(struct print_program *program, struct tep_event *event);

/* Fill in `step` for the argument of a %s. 0; -ENOTSUP; -ENOMEM. */
int print_compile_string(struct print_step *step, struct tep_event *event, struct tep_print_arg *arg);

/*
 * Add the steps of the handler that one of libtraceevent's plugins has for the event; they may include the print
 * format. Results as above.
 */
int print_compile_plugin(struct print_program *program, struct tep_event *event);

/*
 * The address at `bytes`: `letter` is its kind. M: a MAC address; I: IPv4; 6: IPv6; c: IPv6 in its short form; S: a
 * sockaddr_in or sockaddr_in6, with its port; U: a UUID.
 */
void print_address(struct print_text *text, char letter, const unsigned char *bytes);

/* Frees what the step owns, but neither the step nor `length`. */
void print_step_clear(struct print_step *step);

#endif
