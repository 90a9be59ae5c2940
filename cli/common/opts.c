/* SPDX-License-Identifier: MIT */
/* The parser and the printer of option tables. They have no state: everything is in the table and in argv. */
#include "cli/common/opts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/duration.h"

/* The longest message, with its command. */
#define LINE_SIZE 8320

void command_message(const void *command, const char *line)
{
	char all[LINE_SIZE];

	snprintf(all, sizeof(all), command ? "recorder %s: %s\n" : "recorder: %s%s\n",
		 command ? (const char *)command : "", line);
	/* Write the line in one piece, so that lines of several processes do not mix. */
	fflush(stdout);
	fputs(all, stderr);
}

void command_summary(const void *command, const char *line)
{
	(void)command;
	fprintf(stderr, "%s\n", line);
}

void complain(const char *command, const char *format, ...)
{
	const struct message_sink sink = COMMAND_SINK(command);
	va_list args;

	va_start(args, format);
	message_v(&sink, format, args);
	va_end(args);
}

/* -------------------------------------------------------------------------------------------------------- help */

/* The spelling of an option in --help: "-o, --output FILE"; "-V, --verbose[=LEVEL]" */
static void spell(const struct opt *opt, char *text, size_t size)
{
	int n = 0;

	text[0] = '\0';
	if (opt->letter)
		n = snprintf(text, size, "-%c%s", opt->letter, opt->name ? ", " : "");
	if (opt->name && n >= 0 && (size_t)n < size)
		n += snprintf(text + n, size - (size_t)n, "%s--%s", opt->letter ? "" : "    ", opt->name);
	if (opt->arg && n >= 0 && (size_t)n < size)
		snprintf(text + n, size - (size_t)n, opt->kind == OPT_KIND_MAYBE ? "[=%s]" : " %s", opt->arg);
}

static void print_help(const struct opts *opts)
{
	char text[128];

	printf("usage: recorder %s [OPTION]...%s%s\n\n%s\noptions:\n", opts->command, *opts->operands ? " " : "",
	       opts->operands, opts->about);
	for (const struct opt *opt = opts->table; opt->kind != OPT_KIND_END; opt++) {
		spell(opt, text, sizeof(text));
		printf("  %-31s  %s\n", text, opt->help);
	}
	printf("  %-31s  %s\n", "-h, --help", "show this help");
}

/* ----------------------------------------------------------------------------------------------------- parsing */

/* The option that the parser has read, as it was given. */
struct given {
	const struct opts *opts;
	const struct opt *opt;
	char word[64]; /* the option as written, for messages */
};

static bool wrong(const struct given *given, const char *what, const char *value)
{
	complain(given->opts->command, "option '%s' %s%s%s%s (see 'recorder %s --help')", given->word, what,
		 value ? ", not '" : "", value ? value : "", value ? "'" : "", given->opts->command);
	return false;
}

static bool set_number(const struct given *given, const char *value)
{
	const struct opt *opt = given->opt;
	unsigned long long number;
	char what[96];
	char *end;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (value[0] < '0' || value[0] > '9' || *end || errno || number < opt->min || number > opt->max) {
		snprintf(what, sizeof(what), "takes a number from %llu to %llu", (unsigned long long)opt->min,
			 (unsigned long long)opt->max);
		return wrong(given, what, value);
	}
	*(uint64_t *)opt->value = number;
	return true;
}

static bool set_choice(const struct given *given, const char *value)
{
	const struct opt *opt = given->opt;
	const size_t size = strlen(value);
	const char *word = opt->arg;
	char what[96];

	for (unsigned int place = 0;; place++) {
		const size_t length = strcspn(word, "|");

		if (length == size && !memcmp(word, value, size)) {
			*(unsigned int *)opt->value = place;
			return true;
		}
		if (!word[length])
			break;
		word += length + 1;
	}
	snprintf(what, sizeof(what), "takes %s", opt->arg);
	return wrong(given, what, value);
}

bool opt_list_add(struct opt_list *list, const struct opt *opt, const char *value)
{
	const char **items = realloc(list->items, (list->nr + 1) * sizeof(*items));
	const struct opt **opts;

	list->items = items ? items : list->items;
	opts = items ? realloc(list->opts, (list->nr + 1) * sizeof(*opts)) : NULL;
	if (!opts)
		return false;
	list->opts = opts;
	list->items[list->nr] = value;
	list->opts[list->nr++] = opt;
	return true;
}

void opt_list_free(struct opt_list *list)
{
	free(list->items);
	free(list->opts);
	list->items = NULL;
	list->opts = NULL;
	list->nr = 0;
}

static bool set_value(const struct given *given, const char *value)
{
	const struct opt_call *call;

	switch (given->opt->kind) {
	case OPT_KIND_FLAG:
		*(bool *)given->opt->value = true;
		return true;
	case OPT_KIND_STRING:
	case OPT_KIND_MAYBE:
		*(const char **)given->opt->value = value;
		return true;
	case OPT_KIND_NUMBER:
		return set_number(given, value);
	case OPT_KIND_TIME:
		return duration_read(value, given->opt->value) ||
		       wrong(given, "takes a time such as 10, 0.5, 500ms or 2m", value);
	case OPT_KIND_CHOICE:
		return set_choice(given, value);
	case OPT_KIND_LIST:
		return opt_list_add(given->opt->value, given->opt, value) ||
		       wrong(given, "does not fit into memory", NULL);
	case OPT_KIND_CALL:
		call = given->opt->value;
		return call->call(call->arg, given->opt, value);
	case OPT_KIND_END:
		break;
	}
	return false;
}

static bool unknown_option(const struct opts *opts, const char *word)
{
	complain(opts->command, "unknown option '%s' (see 'recorder %s --help')", word, opts->command);
	return false;
}

static const struct opt *find_name(const struct opts *opts, const char *name, size_t size)
{
	for (const struct opt *opt = opts->table; opt->kind != OPT_KIND_END; opt++)
		if (opt->name && strlen(opt->name) == size && !memcmp(opt->name, name, size))
			return opt;
	return NULL;
}

static const struct opt *find_letter(const struct opts *opts, char letter)
{
	for (const struct opt *opt = opts->table; opt->kind != OPT_KIND_END; opt++)
		if (opt->letter && opt->letter == letter)
			return opt;
	return NULL;
}

/* Parse --name, --name=value or --name value. *at is where argv is read; it moves past a separate value. */
static bool parse_long(const struct opts *opts, char **argv, int *at)
{
	const char *word = argv[*at] + 2;
	const size_t size = strcspn(word, "=");
	struct given given = { opts, find_name(opts, word, size), "" };
	const char *value = word[size] == '=' ? word + size + 1 : NULL;

	snprintf(given.word, sizeof(given.word), "--%.*s", size < 40 ? (int)size : 40, word);
	if (!given.opt)
		return unknown_option(opts, argv[*at]);
	if (!given.opt->arg)
		return value ? wrong(&given, "takes no argument", NULL) : set_value(&given, NULL);
	if (!value && given.opt->kind == OPT_KIND_MAYBE)
		return set_value(&given, "");
	if (!value) {
		value = argv[*at + 1];
		if (!value)
			return wrong(&given, "needs an argument", NULL);
		++*at;
	}
	return set_value(&given, value);
}

/* Parse -x, -xyz, -xVALUE or -x VALUE. */
static bool parse_letters(const struct opts *opts, char **argv, int *at)
{
	struct given given = { opts, NULL, "" };
	const char *value;

	for (const char *letter = argv[*at] + 1; *letter; letter++) {
		given.opt = find_letter(opts, *letter);
		snprintf(given.word, sizeof(given.word), "-%c", *letter);
		if (!given.opt)
			return unknown_option(opts, letter == argv[*at] + 1 && !letter[1] ? argv[*at] : given.word);
		if (given.opt->kind == OPT_KIND_MAYBE)
			return set_value(&given, letter + 1);
		if (given.opt->arg) {
			value = letter[1] ? letter + 1 : argv[++*at];
			return value ? set_value(&given, value) : wrong(&given, "needs an argument", NULL);
		}
		if (!set_value(&given, NULL))
			return false;
	}
	return true;
}

static bool check_operands(const struct opts *opts, char **operands, unsigned int nr)
{
	if (nr < opts->min_operands) {
		complain(opts->command, "missing %s (see 'recorder %s --help')", opts->operands, opts->command);
		return false;
	}
	if (nr > opts->max_operands) {
		complain(opts->command, "unexpected argument '%s' (see 'recorder %s --help')",
			 operands[opts->max_operands], opts->command);
		return false;
	}
	return true;
}

static const char *command;

const char *opts_command(void)
{
	return command;
}

bool opts_parse(const struct opts *opts, int argc, char **argv, char ***ret_operands, int *ret_status)
{
	unsigned int nr = 0; /* operands so far; they are moved to argv[1] and on */
	bool options = true, fine = true;

	command = opts->command;
	for (int at = 1; at < argc && fine; at++) {
		char *word = argv[at];

		if (!options || word[0] != '-' || !word[1]) {
			argv[1 + nr++] = word;
			options = options && !opts->stop_at_operand;
		} else if (!strcmp(word, "--")) {
			options = false;
		} else if (!strcmp(word, "--help") || (!strcmp(word, "-h") && !find_letter(opts, 'h'))) {
			print_help(opts);
			*ret_status = EXIT_SUCCESS;
			return false;
		} else if (word[1] == '-') {
			fine = parse_long(opts, argv, &at);
		} else {
			fine = parse_letters(opts, argv, &at);
		}
	}
	if (!fine || !check_operands(opts, argv + 1, nr)) {
		*ret_status = EXIT_USAGE;
		return false;
	}
	argv[1 + nr] = NULL;
	*ret_operands = argv + 1;
	return true;
}
