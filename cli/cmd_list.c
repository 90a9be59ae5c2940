/* SPDX-License-Identifier: MIT */
/*
 * recorder list: the events of running programs, with their state, or those compiled into a binary.
 */
#include "cli/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <librecorder/event_text.h>
#include <librecorder/log.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/recording/elf_events.h"
#include "cli/show_programs.h"
#include "cli/terminal.h"

#define NAME "list"

/* -------------------------------------------------------------------------------------------------------- one log */

/* Names come from other programs: nothing of them may move the cursor. */
static void print_words(const struct rec_words *words)
{
	for (uint32_t i = 0; i < words->size; i++)
		putchar(isprint((unsigned char)words->text[i]) ? words->text[i] : '?');
}

static void print_event(const struct rec_event_info *info, const char *state)
{
	fputs("  ", stdout);
	if (*state)
		printf("%s%s%s", paint(!strncmp(state, "on", 2) ? PAINT_GOOD : PAINT_DIM), state, paint_end());
	print_words(&info->system);
	putchar(':');
	print_words(&info->name);
	for (uint32_t i = 0; i < info->nr_fields; i++) {
		fputs(i ? ", " : "  ", stdout);
		print_words(&info->fields[i].declared);
	}
	putchar('\n');
}

/* Whether an event like this one stands earlier in the log: several files of a program may declare it. */
static bool seen_before(const void *log, size_t upto, const struct rec_log_event *event)
{
	const struct rec_log_record *record;
	size_t offset = 0;

	while (offset < upto && (record = rec_log_next(log, upto, &offset)))
		if (record->kind == REC_LOG_EVENT && rec_event_same((const struct rec_log_event *)record, event))
			return true;
	return false;
}

/* `view`: whose states are shown; NULL: none are. Returns how many events there are. */
static unsigned int print_log(const void *log, size_t size, const struct rec_view *view)
{
	const struct rec_log_record *record;
	struct rec_event_info info;
	size_t offset = 0, before = 0;
	unsigned int nr = 0;

	for (; (record = rec_log_next(log, size, &offset)); before = offset) {
		const char *state = "";

		if (record->kind != REC_LOG_EVENT || rec_event_parse((const struct rec_log_event *)record, &info))
			continue;
		if (!view && seen_before(log, before, (const struct rec_log_event *)record))
			continue;
		if (view)
			state = rec_view_enabled(view, record->id) & REC_ENABLE_ON ? "on   " : "off  ";
		print_event(&info, state);
		nr++;
	}
	return nr;
}

/* ------------------------------------------------------------------------------------------------ running programs */

static int list_program(struct rec_view *view, void *data)
{
	size_t size;
	unsigned char *log = programs_log(view, &size);

	(void)data;
	if (!log)
		return -ENOMEM;
	if (!print_log(log, size, view))
		puts("  no events");
	free(log);
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- binaries */

static const char *elf_reason(int err)
{
	switch (err) {
	case -ENOEXEC:
		return "it is not an ELF file";
	case -EPROTO:
		return "it is for machines of another byte order";
	case -ENODATA:
		return "no events are compiled into it";
	case -EBADMSG:
		return "it is damaged";
	default:
		return strerror(-err);
	}
}

static int list_binary(const char *path)
{
	void *log;
	size_t size;
	const int err = elf_events_read(path, &log, &size);

	if (err) {
		complain(NAME, "cannot list '%s': %s", path, elf_reason(err));
		return EXIT_FAILURE;
	}
	terminal_start();
	printf("%s%s%s\n", paint(PAINT_TITLE), path, paint_end());
	if (!print_log(log, size, NULL))
		puts("  no events");
	free(log);
	return EXIT_SUCCESS;
}

/*
 * A word alone: a path with a slash is a file; any other name is that of a running program, and if there is none, of a
 * file in the working directory.
 */
static int list_word(struct programs *programs)
{
	bool lacks = false;
	struct stat st;
	int nr;

	/* A number is a pid; a file of such a name can be written ./4711. */
	programs->or_file = programs->word && programs->word[strspn(programs->word, "0123456789")];
	if (programs->or_file && strchr(programs->word, '/'))
		return list_binary(programs->word);
	if (programs->or_file && !stat(programs->word, &st))
		programs->ret_lacks = &lacks;
	nr = programs_print(NAME, programs, list_program, NULL);
	if (lacks)
		return list_binary(programs->word);
	return nr > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_list(int argc, char **argv)
{
	struct programs programs = { .dir = NULL };
	unsigned int color = TERMINAL_COLOR_AUTO;
	const char *binary = NULL;
	const struct opt table[] = {
		OPT_PROGRAMS(programs),
		OPT_STRING(0, "binary", "FILE", "the events compiled into FILE, a program or shared library", &binary),
		OPT_COLOR(color),
		OPT_END,
	};
	const struct opts opts = {
		.command = NAME,
		.operands = "[PROGRAM]",
		.about =
			"Show the events of your running programs that use librecorder, and whether each is on;\n"
			"or those of PROGRAM: a pid, a running program's name, or a file (program or shared library).\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if ((operands[0] != NULL) + (programs.word != NULL) + (binary != NULL) > 1) {
		complain(NAME, "PROGRAM, -P and --binary exclude each other: give one of them");
		return EXIT_USAGE;
	}
	terminal_use(color);
	if (binary)
		return list_binary(binary);
	if (programs.word)
		return programs_print(NAME, &programs, list_program, NULL) > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	programs.word = operands[0];
	return list_word(&programs);
}
