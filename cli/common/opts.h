/* SPDX-License-Identifier: MIT */
/*
 * Command lines. A command describes itself in one table: parsing, --help and bash completion are made from it, and
 * tests/cli/help_man.sh compares the man page with it.
 *
 * Options are accepted as -o FILE, -oFILE, --output FILE and --output=FILE, letters without an argument may share a
 * word (-qi), and -- ends the options. A mistake in a command line is reported on one line on stderr.
 */
#ifndef CLI_OPTS_H
#define CLI_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/message.h"

enum opt_kind {
	OPT_KIND_END,
	OPT_KIND_FLAG,	 /* bool *: set to true */
	OPT_KIND_STRING, /* const char **: the argument; the last one applies */
	OPT_KIND_MAYBE,	 /* const char **: the argument in the same word, -V3 or --verbose=3; "" without one */
	OPT_KIND_NUMBER, /* uint64_t *: decimal, from min to max */
	OPT_KIND_TIME,	 /* uint64_t *: milliseconds; given as duration_read() takes it */
	OPT_KIND_CHOICE, /* unsigned int *: place of the argument among `choices` */
	OPT_KIND_LIST,	 /* struct opt_list *: every argument, in order; several options may share a list */
	OPT_KIND_CALL,	 /* struct opt_call *: called for every argument, once the options before it are stored */
};

/*
 * Arguments of options that may be given several times, and for each argument its option. The strings are those of
 * argv.
 */
struct opt;
struct opt_list {
	const char **items;
	const struct opt **opts;
	unsigned int nr;
};

/* False: one line was printed. */
struct opt_call {
	bool (*call)(void *arg, const struct opt *opt, const char *value);
	void *arg;
};

struct opt {
	enum opt_kind kind;
	char letter;	   /* 0: none */
	const char *name;  /* without the dashes; NULL: none */
	const char *arg;   /* name of the argument in --help; a choice: its words, separated by | */
	const char *help;  /* one line, no full stop; longer texts belong in the man page */
	void *value;	   /* of the type that the kind requires; its previous value is the default */
	uint64_t min, max; /* limits of a number */
};

#define OPT_FLAG(letter, name, help, value)	 { OPT_KIND_FLAG, letter, name, NULL, help, value, 0, 0 }
#define OPT_STRING(letter, name, arg, help, value) { OPT_KIND_STRING, letter, name, arg, help, value, 0, 0 }
#define OPT_MAYBE(letter, name, arg, help, value) { OPT_KIND_MAYBE, letter, name, arg, help, value, 0, 0 }
#define OPT_NUMBER(letter, name, arg, min, max, help, value) \
	{ OPT_KIND_NUMBER, letter, name, arg, help, value, min, max }
#define OPT_TIME(letter, name, arg, help, value) { OPT_KIND_TIME, letter, name, arg, help, value, 0, 0 }
#define OPT_CHOICE(letter, name, words, help, value) { OPT_KIND_CHOICE, letter, name, words, help, value, 0, 0 }
#define OPT_LIST(letter, name, arg, help, value) { OPT_KIND_LIST, letter, name, arg, help, value, 0, 0 }
#define OPT_CALL(letter, name, arg, help, value) { OPT_KIND_CALL, letter, name, arg, help, value, 0, 0 }
#define OPT_END { OPT_KIND_END, 0, NULL, NULL, NULL, NULL, 0, 0 }

struct opts {
	const char *command;  /* "record" */
	const char *operands; /* as in the synopsis: "[FILE]"; "" for none */
	const char *about;    /* some lines for --help, each ended by a newline */
	const struct opt *table; /* ended by OPT_END; --help is always understood */
	unsigned int min_operands;
	unsigned int max_operands;
	bool stop_at_operand; /* the first operand ends the options, as for a command to run */
};

/* Exit statuses: an invalid command line, and any other failure. */
#define EXIT_USAGE 2

/*
 * Parse argv (argv[0] is the command's name). True: continue; *ret_operands is the NULL-ended list of operands, a part
 * of argv (which is reordered), and *ret_status is untouched. False: help or an error was printed; the command returns
 * *ret_status. In both cases the caller releases lists with opt_list_free().
 */
bool opts_parse(const struct opts *opts, int argc, char **argv, char ***ret_operands, int *ret_status);

/* The command whose options were parsed, for messages of code that several commands share. */
const char *opts_command(void);

/* False: no memory. */
bool opt_list_add(struct opt_list *list, const struct opt *opt, const char *value);
void opt_list_free(struct opt_list *list);

/*
 * One line on stderr: "recorder COMMAND: …". Control characters in what is printed become '?', so that a file name
 * never makes two lines of it. `command` NULL: "recorder: …".
 */
void complain(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The same for code below the commands: a sink that prints its lines in this way. `command` must stay valid, and so
 * must a sink that is passed on. The other functions are only for this macro.
 */
#define COMMAND_SINK(command)                                                                                          \
	{                                                                                                              \
		.message = command_message, .summary = command_summary, .word = command_word, .arg = (command)         \
	}
void command_message(const void *command, const char *line);
void command_summary(const void *command, const char *line);
const char *command_word(enum message_word word);

#endif
